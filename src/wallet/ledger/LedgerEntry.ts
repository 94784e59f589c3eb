import type { OutpointKey, TxidKey } from "../../protocol/keys.ts"
import type { NameScript } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"
import type { WalletTx, WalletTxState } from "./WalletLedger.ts"

export interface TransactionNotes {
  readonly comment?: string | undefined
  readonly commentTo?: string | undefined
  /** Display order. */
  readonly replaces?: string | undefined
  readonly replacedBy?: string | undefined
}

export type TxBlock = Extract<WalletTxState, { readonly type: "confirmed" }>

/** What blocks, the mempool or the owner report. Conflicts are excluded: they come from reports on others. */
export type TxReport =
  | Exclude<WalletTxState, { readonly type: "conflicted" | "inactive" }>
  | { readonly type: "inactive"; readonly abandoned: boolean; readonly lost?: boolean }

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
  /** As `outpointKey`; none for a coinbase. */
  readonly inputs: ReadonlyArray<OutpointKey>
  /** As `outpointKey`, by index. */
  readonly outpoints: ReadonlyArray<OutpointKey>
  readonly coinbase: boolean
  readonly time: number
  readonly order: number
  block: TxBlock | undefined
  /** Heights of best-chain blocks that spend an input otherwise. */
  readonly forbiddenAt: Set<number>
  pooled: boolean
  /** Mempool transactions that spend an input of this one or of an unconfirmed ancestor. */
  readonly displacedBy: Set<TxidKey>
  /** By the owner, by a reorg of its block (coinbase), or as `lost`. Stays set while conflicted. */
  abandoned: boolean
  /** Whether it is abandoned because it depends on a lost coin, and only until the coin is back. */
  lost: boolean
  /** Set by `EntryGraph.stateOf`. */
  state: WalletTxState
  notes: TransactionNotes
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

/** A block or the mempool overrides abandonment. */
export const noteReport = (entry: LedgerEntry, report: TxReport): void => {
  if (report.type === "confirmed") entry.block = report
  if (report.type !== "inactive") entry.displacedBy.clear()
  entry.pooled = report.type === "pending"
  entry.abandoned = report.type === "inactive" && report.abandoned
  entry.lost = report.type === "inactive" && report.lost === true
}

/** `outputAt` finds the wallet's own outputs. */
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

export const lives = (state: WalletTxState): boolean =>
  state.type === "confirmed" || state.type === "pending" || (state.type === "inactive" && !state.abandoned)

/** Not while the mempool has another transaction in its place (upstream `CWallet::IsSpent`). */
export const keepsInputs = ({ displacedBy, state }: LedgerEntry): boolean => lives(state) && displacedBy.size === 0

export const isReplacement = ({ notes: { replacedBy, replaces } }: LedgerEntry): boolean =>
  replaces !== undefined || replacedBy !== undefined

export const hasNotes = ({ comment, commentTo, replacedBy, replaces }: TransactionNotes): boolean =>
  comment !== undefined || commentTo !== undefined || replacedBy !== undefined || replaces !== undefined
