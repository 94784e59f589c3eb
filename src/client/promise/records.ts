import type { ProofLevel } from "../../light/proof.ts"
import type { ChangeType } from "../options.ts"

/** What `svcd/promise` answers: the records of `../records.ts`, for programs without Effect. */

/** The block up to which names are known. */
export interface Freshness {
  /** Height of the last block. */
  readonly height: number
  /** Whether that block is the tip of the network, as far as the node knows. */
  readonly synced: boolean
  /** What the answer rests on; of a daemon, what it rests on if the daemon is to be believed. */
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

/** A change of a name, in a block. */
export interface NameChange {
  /** `undone`: a reorg disconnected the block. */
  readonly type: ChangeType
  readonly name: string
  /**
   * The state of the name after the change, as of its block; `undefined` if a reorg removed its only registration. A copy
   * of all names that are UTF-8 keeps the last record of each.
   */
  readonly record?: NameRecord | undefined
  /** The state before an operation; `undefined` for a registration, other changes, and where it is not known. */
  readonly before?: NameRecord | undefined
  /** `expiring`: the name expires in so many blocks unless it is renewed. */
  readonly blocks?: number | undefined
  /** Height of the block, or of the block that a reorg disconnected. */
  readonly height: number
  /** Its hash. */
  readonly hash: string
  /** The place behind the change, for `from`: save it with what the program keeps of the change. Do not read it. */
  readonly cursor: string
}

/** The transaction of a name operation. */
export interface OperationResult {
  /** For a registration: the transaction of the step that the caller waited for. 64 hex digits. */
  readonly txHash: string
}
