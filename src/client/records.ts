import * as Schema from "effect/Schema"
import { PROOF_LEVELS } from "../light/proof.ts"
import { SYNC_PHASES } from "../light/syncReport.ts"
import type * as Sync from "../light/syncReport.ts"
import { DROP_REASONS, EVENT_KINDS, OPERATION_KINDS } from "../names/events/kinds.ts"
import type * as Options from "./options.ts"

/**
 * What a `NameClient` answers, as schemas: `HttpApi`, `RpcGroup` and workflows take them. Their encoded form is their JSON, in which
 * an absent field is absent.
 */

/** The block up to which names are known. */
export class Freshness extends Schema.Class<Freshness>("Freshness")({
  /** Height of the last block. */
  height: Schema.Int,
  /** Whether that block is the tip of the network, as far as the node knows. */
  synced: Schema.Boolean,
  /** What the answer rests on; of a daemon, what it rests on if the daemon is to be believed. */
  proof: Schema.Literal(...PROOF_LEVELS)
}) {}

/** An instance with fields that are right: `new` copies them several times and checks them, which takes six times as long. */
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

/** The fields of a record that do not change with new blocks. */
export type FixedPart = Pick<NameRecord, "name" | "value" | "valueHex" | "address" | "txid" | "height">

/** The fields that do. */
type Now = Pick<NameRecord, "expiresIn" | "expired" | "asOf">

type Unfinished<A> = { -readonly [K in keyof A]: A[K] }

/** Sets the fields of a record. As a constructor with the prototype of `NameRecord` it makes one in the time of an object literal. */
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

/** Names are resolved 100,000 times a second. The compiler takes a function for no constructor, whatever its prototype. */
const FilledRecord: new(fixed: FixedPart, now: Now) => NameRecord = Object(Filled)

export const recordOf = (fixed: FixedPart, now: Now): NameRecord => new FilledRecord(fixed, now)

/** A change of a name, in a block. */
export class NameChange extends Schema.Class<NameChange>("NameChange")({
  /** `undone`: a reorg disconnected the block. */
  type: Schema.Literal(...EVENT_KINDS),
  name: Schema.String,
  /**
   * The state of the name after the change, as of its block; `undefined` if a reorg removed its only registration. A copy
   * of all names that are UTF-8 keeps the last record of each.
   */
  record: Schema.optional(NameRecord),
  /** The state before an operation; `undefined` for a registration, other changes, and where it is not known. */
  before: Schema.optional(NameRecord),
  /** `expiring`: the name expires in so many blocks unless it is renewed. */
  blocks: Schema.optional(Schema.Int),
  /** Height of the block, or of the block that a reorg disconnected. */
  height: Schema.Int,
  /** Its hash. */
  hash: Schema.String,
  /** The place behind the change, for `from`: save it with what the program keeps of the change. Do not read it. */
  cursor: Schema.String
}) {}

export const changeOf = (fields: Pick<NameChange, keyof NameChange>): NameChange =>
  instance(NameChange.prototype, fields)

/** The transaction of a name operation. */
export class OperationResult extends Schema.Class<OperationResult>("OperationResult")({
  /** For a registration: the transaction of the step that the caller waited for. 64 hex digits. */
  txHash: Schema.String
}) {}

/** Objects without a class, whose types are declared where no Effect is needed. The client makes them and does not check them. */

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

export { LiveChange, SyncReport, UnconfirmedChange, WindowReport }
