import * as Schema from "effect/Schema"
import { DOMAIN_STATUSES } from "../dns/domainRecord.ts"
import type * as Dns from "../dns/domainRecord.ts"
import { PROOF_LEVELS } from "../light/proof.ts"
import { SYNC_PHASES } from "../light/syncReport.ts"
import type * as Sync from "../light/syncReport.ts"
import { DROP_REASONS, EVENT_KINDS, OPERATION_KINDS } from "../names/events/kinds.ts"
import type * as Options from "./options.ts"

/**
 * The answers of a `NameClient`, as schemas for `HttpApi`, `RpcGroup` and workflows. Absent fields are absent in JSON.
 */

/** The block up to which names are known. */
export class Freshness extends Schema.Class<Freshness>("Freshness")({
  /** Height of the last block. */
  height: Schema.Int,
  /** Whether that block is the tip of the network, as far as the node knows. */
  synced: Schema.Boolean,
  /** The proof level of the answer; over a daemon, as the daemon claims. */
  proof: Schema.Literal(...PROOF_LEVELS)
}) {}

/** Skips the checks and copies of `new`, which takes six times as long. */
const instance = <A extends object>(prototype: A, fields: A): A => Object.assign(Object.create(prototype), fields)

export const freshnessOf = ({ height, proof, synced }: Pick<Freshness, keyof Freshness>): Freshness =>
  instance(Freshness.prototype, { height, synced, proof })

/** The value of a name, and the operation that set it. */
export class NameRecord extends Schema.Class<NameRecord>("NameRecord")({
  /** With its namespace: `d/example`. */
  name: Schema.String,
  /** Empty if the owner cleared it. Bytes that are not UTF-8 show as U+FFFD. */
  value: Schema.String,
  /** The value in hexadecimal digits, if it is not UTF-8. */
  valueHex: Schema.optionalWith(Schema.String, { exact: true }),
  /** The owner's address; empty if the script has none. */
  address: Schema.String,
  /** The transaction of the name's last operation: 64 hex digits. */
  txid: Schema.String,
  /** Height of the block with that transaction. */
  height: Schema.Int,
  /** Blocks until the name expires; zero or less if it has expired. */
  expiresIn: Schema.Int,
  expired: Schema.Boolean,
  /** The block up to which names were known at the time of the answer. */
  asOf: Freshness
}) {}

export type FixedPart = Pick<NameRecord, "name" | "value" | "valueHex" | "address" | "txid" | "height">

type Now = Pick<NameRecord, "expiresIn" | "expired" | "asOf">

type Unfinished<A> = { -readonly [K in keyof A]: A[K] }

/** Sets a record's fields. As a constructor with the prototype of `NameRecord`, as fast as an object literal. */
function Filled(this: Unfinished<NameRecord>, fixed: FixedPart, now: Now): void {
  this.name = fixed.name
  this.value = fixed.value
  this.address = fixed.address
  this.txid = fixed.txid
  this.height = fixed.height
  this.expiresIn = now.expiresIn
  this.expired = now.expired
  this.asOf = now.asOf
  if (fixed.valueHex !== undefined) this.valueHex = fixed.valueHex
}
Filled.prototype = NameRecord.prototype

/** Makes records for 100,000 lookups a second. TypeScript does not accept a function as a constructor. */
const FilledRecord: new(fixed: FixedPart, now: Now) => NameRecord = Object(Filled)

export const recordOf = (fixed: FixedPart, now: Now): NameRecord => new FilledRecord(fixed, now)

const common = <const T extends ReadonlyArray<string>>(...types: T) => ({
  name: Schema.String,
  type: Schema.Literal(...types),
  ttl: Schema.Int,
  data: Schema.String
})

const ofOtherType = (type: unknown): type is `TYPE${number}` => typeof type === "string" && /^TYPE\d+$/.test(type)

type DomainRecord = Dns.DomainRecord
/** A DNS record: its text as in a zone file, and its parts. */
const DomainRecord: Schema.Schema<DomainRecord> = Schema.Union(
  Schema.Struct({ ...common("A", "AAAA"), address: Schema.String }),
  Schema.Struct({ ...common("CNAME", "DNAME", "NS"), target: Schema.String }),
  Schema.Struct({ ...common("MX"), preference: Schema.Int, target: Schema.String }),
  Schema.Struct({
    ...common("SRV"),
    priority: Schema.Int,
    weight: Schema.Int,
    port: Schema.Int,
    target: Schema.String
  }),
  Schema.Struct({ ...common("TXT"), strings: Schema.Array(Schema.String) }),
  Schema.Struct({
    ...common("TLSA"),
    usage: Schema.Int,
    selector: Schema.Int,
    matchingType: Schema.Int,
    association: Schema.String
  }),
  Schema.Struct({
    ...common("DS"),
    keyTag: Schema.Int,
    algorithm: Schema.Int,
    digestType: Schema.Int,
    digest: Schema.String
  }),
  Schema.Struct({
    ...common("SSHFP"),
    algorithm: Schema.Int,
    fingerprintType: Schema.Int,
    fingerprint: Schema.String
  }),
  Schema.Struct(common("LOC")),
  Schema.Struct({ ...common(), type: Schema.declare(ofOtherType) })
)

/** The DNS answer for a host below `.bit`. */
export class DomainAnswer extends Schema.Class<DomainAnswer>("DomainAnswer")({
  status: Schema.Literal(...DOMAIN_STATUSES),
  /**
   * Aliases that were followed, then the records of the asked type. `delegated`: NS and DS records, and the addresses of
   * name servers below the domain.
   */
  records: Schema.Array(DomainRecord),
  /** The names whose values decide the answer: the domain's own first, then imported names and aliases. */
  sources: Schema.Array(NameRecord),
  /** The block up to which names were known: that of the least recent source. */
  asOf: Freshness
}) {}

export const domainAnswerOf = (fields: Pick<DomainAnswer, keyof DomainAnswer>): DomainAnswer =>
  instance(DomainAnswer.prototype, fields)

/** A change of a name, in a block. */
export class NameChange extends Schema.Class<NameChange>("NameChange")({
  /** `undone`: a reorg disconnected the block. */
  type: Schema.Literal(...EVENT_KINDS),
  name: Schema.String,
  /**
   * The record after the change, as of its block; `undefined` if a reorg removed the only registration. Keep the last
   * one of each name for a copy of all UTF-8 names.
   */
  record: Schema.optional(NameRecord),
  /** The record before an operation; `undefined` for a registration, for other changes, and where unknown. */
  before: Schema.optional(NameRecord),
  /** `expiring`: the name expires in so many blocks unless it is renewed. */
  blocks: Schema.optional(Schema.Int),
  /** Height of the block, even of a disconnected one. */
  height: Schema.Int,
  /** The block's hash. */
  hash: Schema.String,
  /** The opaque position after the change, for `from`. Save it together with what you keep of the change. */
  cursor: Schema.String
}) {}

export const changeOf = (fields: Pick<NameChange, keyof NameChange>): NameChange =>
  instance(NameChange.prototype, fields)

/** The transaction of a name operation. */
export class OperationResult extends Schema.Class<OperationResult>("OperationResult")({
  /** The transaction that the caller waited for, in 64 hex digits. */
  txHash: Schema.String
}) {}

/** Types declared without Effect, for objects that the client makes without checks. */

const waiting = {
  operation: Schema.Literal(...OPERATION_KINDS),
  name: Schema.String,
  value: Schema.String,
  valueHex: Schema.optionalWith(Schema.String, { exact: true }),
  address: Schema.String,
  txid: Schema.String
}

type UnconfirmedChange = Options.UnconfirmedChange
const UnconfirmedChange: Schema.Schema<UnconfirmedChange> = Schema.Struct(waiting)

type LiveChange = Options.LiveChange
const LiveChange: Schema.Schema<LiveChange> = Schema.Union(
  Schema.Struct({ ...waiting, type: Schema.Literal("pending") }),
  Schema.Struct({ ...waiting, type: Schema.Literal("pending_dropped"), reason: Schema.Literal(...DROP_REASONS) }),
  Schema.Struct({ type: Schema.Literal("pending_reset") }),
  Schema.Struct({ type: Schema.Literal("synced"), height: Schema.Int })
)

type WindowReport = Sync.WindowReport
const WindowReport: Schema.Schema<WindowReport> = Schema.Struct({
  blocks: Schema.Int,
  of: Schema.Int,
  names: Schema.Int,
  unchecked: Schema.Int
})

type SyncReport = Sync.SyncReport
const SyncReport: Schema.Schema<SyncReport> = Schema.Struct({
  phase: Schema.Literal(...SYNC_PHASES),
  proof: Schema.Literal(...PROOF_LEVELS),
  height: Schema.Int,
  headers: Schema.Int,
  synced: Schema.Boolean,
  percent: Schema.Number,
  secondsLeft: Schema.optional(Schema.Number),
  window: Schema.optional(WindowReport)
})

export { DomainRecord, LiveChange, SyncReport, UnconfirmedChange, WindowReport }
