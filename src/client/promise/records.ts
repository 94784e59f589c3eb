import type { DomainRecord, DomainStatus } from "../../dns/domainRecord.ts"
import type { ProofLevel } from "../../light/proof.ts"
import type { ChangeType } from "../options.ts"

/** The records of `../records.ts`, for programs without Effect. */

/** The block up to which names are known. */
export interface Freshness {
  /** Height of the last block. */
  readonly height: number
  /** Whether that block is the tip of the network, as far as the node knows. */
  readonly synced: boolean
  /** The proof level of the answer; over a daemon, as the daemon claims. */
  readonly proof: ProofLevel
}

/** The value of a name, and the operation that set it. */
export interface NameRecord {
  /** With its namespace: `d/example`. */
  readonly name: string
  /** Empty if the owner cleared it. Bytes that are not UTF-8 show as U+FFFD. */
  readonly value: string
  /** The value in hexadecimal digits, if it is not UTF-8. */
  readonly valueHex?: string
  /** The owner's address; empty if the script has none. */
  readonly address: string
  /** The transaction of the name's last operation: 64 hex digits. */
  readonly txid: string
  /** Height of the block with that transaction. */
  readonly height: number
  /** Blocks until the name expires; zero or less if it has expired. */
  readonly expiresIn: number
  readonly expired: boolean
  /** The block up to which names were known at the time of the answer. */
  readonly asOf: Freshness
}

/** The DNS answer for a host below `.bit`. */
export interface DomainAnswer {
  readonly status: DomainStatus
  /**
   * Aliases that were followed, then the records of the asked type. `delegated`: NS and DS records, and the addresses of
   * name servers below the domain.
   */
  readonly records: ReadonlyArray<DomainRecord>
  /** The names whose values decide the answer: the domain's own first, then imported names and aliases. */
  readonly sources: ReadonlyArray<NameRecord>
  /** The block up to which names were known: that of the least recent source. */
  readonly asOf: Freshness
}

/** A change of a name, in a block. */
export interface NameChange {
  /** `undone`: a reorg disconnected the block. */
  readonly type: ChangeType
  readonly name: string
  /**
   * The record after the change, as of its block; `undefined` if a reorg removed the only registration. Keep the last
   * one of each name for a copy of all UTF-8 names.
   */
  readonly record?: NameRecord | undefined
  /** The record before an operation; `undefined` for a registration, for other changes, and where unknown. */
  readonly before?: NameRecord | undefined
  /** `expiring`: the name expires in so many blocks unless it is renewed. */
  readonly blocks?: number | undefined
  /** Height of the block, even of a disconnected one. */
  readonly height: number
  /** The block's hash. */
  readonly hash: string
  /** The opaque position after the change, for `from`. Save it together with what you keep of the change. */
  readonly cursor: string
}

/** The transaction of a name operation. */
export interface OperationResult {
  /** The transaction that the caller waited for, in 64 hex digits. */
  readonly txHash: string
}
