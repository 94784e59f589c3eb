import { type OutpointKey, type TxidKey, txidOf } from "../../protocol/keys.ts"
import { outpointKey, type Transaction } from "../../protocol/transaction.ts"
import { keepsInputs, type LedgerEntry } from "./LedgerEntry.ts"
import type { WalletTxState } from "./WalletLedger.ts"

const isSameState = (a: WalletTxState, b: WalletTxState): boolean => {
  if (a === b) return true
  if (a.type === "inactive") return b.type === "inactive" && a.abandoned === b.abandoned
  if (a.type === "conflicted") return b.type === "conflicted" && a.height === b.height
  return a.type === "pending" && b.type === "pending"
}

type EntryKeys = Pick<LedgerEntry, "inputs" | "key">

/** A coinbase spends no output. */
export const entryKeysOf = ({ inputs, isCoinbase, txidKey: key }: Transaction): EntryKeys => ({
  key,
  inputs: isCoinbase ? [] : inputs.map(({ prevout }) => outpointKey(prevout))
})

const NONE: ReadonlySet<LedgerEntry> = new Set()

/** A wallet's transactions and their spending relations. States are derived, never written by others. */
export class EntryGraph {
  private readonly entries = new Map<TxidKey, LedgerEntry>()
  private readonly spenders = new Map<OutpointKey, Set<LedgerEntry>>()

  get(txid: TxidKey): LedgerEntry | undefined {
    return this.entries.get(txid)
  }

  all(): Iterable<LedgerEntry> {
    return this.entries.values()
  }

  add(entry: LedgerEntry): void {
    this.entries.set(entry.key, entry)
    for (const input of entry.inputs) {
      const spending = this.spenders.get(input)
      if (spending === undefined) this.spenders.set(input, new Set([entry]))
      else spending.add(entry)
    }
  }

  delete(entry: LedgerEntry): void {
    this.entries.delete(entry.key)
    for (const input of entry.inputs) {
      const spending = this.spenders.get(input)
      spending?.delete(entry)
      if (spending?.size === 0) this.spenders.delete(input)
    }
  }

  isSpent(outpoint: OutpointKey): boolean {
    return this.spenders.has(outpoint)
  }

  /** At most one of them is ever confirmed. */
  spendersOf(outpoint: OutpointKey): ReadonlySet<LedgerEntry> {
    return this.spenders.get(outpoint) ?? NONE
  }

  childrenOf({ outpoints }: LedgerEntry): ReadonlySet<LedgerEntry> {
    const found = new Set<LedgerEntry>()
    for (const outpoint of outpoints) for (const spender of this.spendersOf(outpoint)) found.add(spender)
    return found
  }

  rivalsOf({ inputs, key }: EntryKeys): ReadonlySet<LedgerEntry> {
    const found = new Set<LedgerEntry>()
    for (const input of inputs) {
      for (const spender of this.spendersOf(input)) if (spender.key !== key) found.add(spender)
    }
    return found
  }

  /** A rival that keeps the inputs; a replaced one counts only while in the mempool. */
  claimant(keys: EntryKeys): LedgerEntry | undefined {
    for (const rival of this.rivalsOf(keys)) {
      const isReplaced = rival.state.type === "inactive" && rival.notes.replacedBy !== undefined
      if (keepsInputs(rival) && !isReplaced) return rival
    }
    return undefined
  }

  /** Records whether the mempool has a transaction in place of its rivals and their descendants, which are returned. */
  displace(by: EntryKeys, inPool: boolean): ReadonlySet<LedgerEntry> {
    const displaced = new Set<LedgerEntry>()
    for (const rival of this.rivalsOf(by)) {
      // A block with the rival ends this, including for its descendants.
      if (inPool && rival.block !== undefined) continue
      // Blocks may have separated an entry from its ancestors since it was displaced.
      const found = inPool ? this.withDescendants(rival) : this.withAllDescendants(rival)
      for (const entry of found) displaced.add(entry)
    }
    for (const { displacedBy } of displaced) {
      if (inPool) displacedBy.add(by.key)
      else displacedBy.delete(by.key)
    }
    return displaced
  }

  withDescendants(first: LedgerEntry): ReadonlyArray<LedgerEntry> {
    return this.descending(first, ({ block }) => block === undefined)
  }

  private withAllDescendants(first: LedgerEntry): ReadonlyArray<LedgerEntry> {
    return this.descending(first, () => true)
  }

  private descending(first: LedgerEntry, through: (entry: LedgerEntry) => boolean): ReadonlyArray<LedgerEntry> {
    const found = new Set([first])
    for (const entry of found) {
      for (const child of this.childrenOf(entry)) if (through(child)) found.add(child)
    }
    return [...found]
  }

  /** The height of the block that spends an input of the entry or of an ancestor. */
  private forbiddenSince(entry: LedgerEntry): number {
    let lowest = Math.min(...entry.forbiddenAt)
    for (const { block } of this.rivalsOf(entry)) if (block !== undefined) lowest = Math.min(lowest, block.height)
    for (const input of entry.inputs) {
      const parent = this.entries.get(txidOf(input))?.state
      if (parent?.type === "conflicted") lowest = Math.min(lowest, parent.height)
    }
    return lowest
  }

  /** Blocks take precedence over the mempool, which may not have processed the last block. */
  stateOf(entry: LedgerEntry): WalletTxState {
    const { abandoned, block, pooled } = entry
    if (block !== undefined) return block
    const height = this.forbiddenSince(entry)
    if (height !== Infinity) return { type: "conflicted", height }
    return pooled ? { type: "pending" } : { type: "inactive", abandoned }
  }

  /** Recomputes the state of an entry and of those that depend on it. Returns the changed entries. */
  settle(first: LedgerEntry): ReadonlyArray<LedgerEntry> {
    const changed = new Set<LedgerEntry>()
    const due = new Set([first])
    for (const entry of due) {
      // An entry may be due again, after another one.
      due.delete(entry)
      const before = entry.state
      const state = this.stateOf(entry)
      if (isSameState(before, state)) continue
      entry.state = state
      changed.add(entry)
      for (const child of this.childrenOf(entry)) due.add(child)
      if (before.type !== "confirmed" && state.type !== "confirmed") continue
      for (const rival of this.rivalsOf(entry)) due.add(rival)
    }
    return [...changed]
  }

  /**
   * The conflicts that an entry causes for others, and that stay when it is removed: of its rivals with its block, and
   * of its children with what forbids the entry.
   */
  leftBehind(entry: LedgerEntry): ReadonlyArray<{ readonly key: TxidKey; readonly height: number }> {
    const { state } = entry
    if (state.type !== "confirmed" && state.type !== "conflicted") return []
    const heirs = state.type === "confirmed" ? this.rivalsOf(entry) : this.childrenOf(entry)
    return Array.from(heirs, ({ key }) => ({ key, height: state.height }))
  }
}
