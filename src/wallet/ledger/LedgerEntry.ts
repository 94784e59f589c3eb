import type { OutpointKey, TxidKey } from "../../protocol/keys.ts"
import type { NameScript } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"
import type { WalletTx, WalletTxState } from "./WalletLedger.ts"

/** The notes on a transaction, from the owner or from a replacement. */
export interface TransactionNotes {
  readonly comment?: string | undefined
  readonly commentTo?: string | undefined
  /** Txids in display byte order. */
  readonly replaces?: string | undefined
  readonly replacedBy?: string | undefined
}

/** The block of a transaction. */
export type TxBlock = Extract<WalletTxState, { readonly type: "confirmed" }>

/** What blocks, the mempool or the owner say of a transaction. A conflict is what a block says of another one. */
export type TxReport = Exclude<WalletTxState, { readonly type: "conflicted" }>

/** A transaction to add to the ledger. */
export interface NewEntry {
  readonly transaction: Transaction
  readonly state: TxReport
  /** Seconds since 1970. */
  readonly time: number
  /** The next number by default. */
  readonly order?: number
  readonly notes?: TransactionNotes
}

export interface LedgerEntry {
  readonly transaction: Transaction
  readonly key: TxidKey
  /** Outpoint keys of its inputs; none for a coinbase. */
  readonly inputs: ReadonlyArray<OutpointKey>
  /** Outpoint keys of its outputs, by index. */
  readonly outpoints: ReadonlyArray<OutpointKey>
  readonly coinbase: boolean
  readonly time: number
  readonly order: number
  /** From blocks: the one that has it. */
  block: TxBlock | undefined
  /** From blocks: the heights of those of the best chain that spend an input of it otherwise. */
  readonly forbiddenAt: Set<number>
  /** From the mempool: whether it has the transaction. */
  pooled: boolean
  /** From the mempool: the transactions in it that spend an input of this one or of an unconfirmed ancestor. */
  readonly displacedBy: Set<TxidKey>
  /**
   * Whether the owner abandoned it, or a reorg disconnected its block (coinbase). It stays set while it is conflicted.
   */
  abandoned: boolean
  /** Follows from these and from the entries around it (`EntryGraph.stateOf`). */
  state: WalletTxState
  notes: TransactionNotes
  /** The cached form for callers. */
  view: WalletTx | undefined
}

export interface LedgerOutput {
  readonly outpoint: OutpointKey
  readonly entry: LedgerEntry
  readonly vout: number
  readonly output: TransactionOutput
  readonly own: OwnScript
  readonly name: NameScript | undefined
}

/** Notes a report on an entry. A block, and then the mempool, contradict that it is abandoned. */
export const noteReport = (entry: LedgerEntry, report: TxReport): void => {
  if (report.type === "confirmed") entry.block = report
  if (report.type !== "inactive") entry.displacedBy.clear()
  entry.pooled = report.type === "pending"
  entry.abandoned = report.type === "inactive" && report.abandoned
}

/** An entry as the wallet shows it. `outputAt` finds the wallet's own outputs. */
export const viewOf = (
  entry: LedgerEntry,
  outputAt: (outpoint: OutpointKey) => TransactionOutput | undefined
): WalletTx => {
  const { notes: { comment, commentTo, replacedBy, replaces }, order, state, time, transaction } = entry
  return entry.view ??= {
    transaction,
    state,
    time,
    order,
    comment,
    commentTo,
    replaces,
    replacedBy,
    spent: transaction.inputs.map((_, index) => {
      const outpoint = entry.inputs[index]
      return outpoint === undefined ? undefined : outputAt(outpoint)
    })
  }
}

/** Whether a transaction in this state may reach a block. */
export const lives = (state: WalletTxState): boolean =>
  state.type === "confirmed" || state.type === "pending" || (state.type === "inactive" && !state.abandoned)

/** Whether a transaction keeps its inputs spent: not while the mempool has another one in its place (upstream `CWallet::IsSpent`). */
export const keepsInputs = ({ displacedBy, state }: LedgerEntry): boolean => lives(state) && displacedBy.size === 0

/** Whether it replaces another transaction or was replaced. */
export const isReplacement = ({ notes: { replacedBy, replaces } }: LedgerEntry): boolean =>
  replaces !== undefined || replacedBy !== undefined

export const hasNotes = ({ comment, commentTo, replacedBy, replaces }: TransactionNotes): boolean =>
  comment !== undefined || commentTo !== undefined || replacedBy !== undefined || replaces !== undefined
