import type { NameScript } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { OwnScript, WalletTx, WalletTxState } from "../Wallet.ts"

/** What the owner, or a replacement, says of a transaction. */
export interface TransactionNotes {
  readonly comment?: string | undefined
  readonly commentTo?: string | undefined
  /** Txids as people see them. */
  readonly replaces?: string | undefined
  readonly replacedBy?: string | undefined
}

/** A transaction that the ledger is to know. */
export interface NewEntry {
  readonly transaction: Transaction
  readonly state: WalletTxState
  /** Seconds since 1970. */
  readonly time: number
  /** The next number where it is left out. */
  readonly order?: number
  readonly notes?: TransactionNotes
}

/** A transaction in the ledger. */
export interface LedgerEntry {
  readonly transaction: Transaction
  readonly key: string
  /** Outpoint keys of what it spends; none for a coinbase. */
  readonly inputs: ReadonlyArray<string>
  /** Outpoint keys of what it makes, by index. */
  readonly outpoints: ReadonlyArray<string>
  readonly coinbase: boolean
  readonly time: number
  readonly order: number
  state: WalletTxState
  /** Whether its owner gave it up, or its block went with the reward that it is; holds while it is conflicted as well. */
  abandoned: boolean
  notes: TransactionNotes
  /** What is shown of it, once somebody asked. */
  view: WalletTx | undefined
}

/** An output that is the wallet's. */
export interface LedgerOutput {
  readonly outpoint: string
  readonly entry: LedgerEntry
  readonly vout: number
  readonly output: TransactionOutput
  readonly own: OwnScript
  readonly name: NameScript | undefined
}

/** Whether a transaction in this state holds on to what it spends. */
export const lives = (state: WalletTxState): boolean =>
  state.type === "confirmed" || state.type === "pending" || (state.type === "inactive" && !state.abandoned)

export const hasNotes = ({ comment, commentTo, replacedBy, replaces }: TransactionNotes): boolean =>
  comment !== undefined || commentTo !== undefined || replacedBy !== undefined || replaces !== undefined
