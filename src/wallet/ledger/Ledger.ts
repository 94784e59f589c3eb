import { isExpired } from "../../consensus/expiry.ts"
import { COINBASE_MATURITY, type ConsensusParams } from "../../consensus/params.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { type Height, type OutpointKey, shownTxid, type TxidKey } from "../../protocol/keys.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"
import type { WalletName } from "../names/WalletNames.ts"
import { EntryGraph, entryKeysOf } from "./EntryGraph.ts"
import {
  isReplacement,
  keepsInputs,
  type LedgerEntry,
  type LedgerOutput,
  type NewEntry,
  noteReport,
  type TransactionNotes,
  type TxReport,
  viewOf
} from "./LedgerEntry.ts"
import { balancesOf, lastOperations, type NamedOutput, reusedScripts } from "./summaries.ts"
import type { Balances, LedgerTip, WalletCoin, WalletTx } from "./WalletLedger.ts"

export interface LedgerOptions {
  readonly params: ConsensusParams
  /** With or without a name prefix. */
  readonly own: (script: Bytes) => OwnScript | undefined
  readonly spendUnconfirmed?: boolean
}

/**
 * The transactions and coins of a wallet, in memory; callers write changes to disk. Lists are cached until a change.
 */
export class Ledger {
  private readonly options: LedgerOptions
  private readonly graph = new EntryGraph()
  private readonly waiting = new Map<TxidKey, LedgerEntry>()
  /** Spent or unspent. */
  private readonly outputs = new Map<OutpointKey, LedgerOutput>()
  /** Unspent outputs of confirmed and pending transactions. */
  private readonly unspent = new Map<OutpointKey, LedgerOutput>()
  /** Outputs that set the record of a name, of any owner. */
  private readonly named = new Map<OutpointKey, NamedOutput>()
  /** Entries that a caller is storing and broadcasting: no other part may broadcast them. */
  readonly underway = new Set<TxidKey>()
  /**
   * Entries that the mempool never accepted, or not since what they depend on was lost for a while: no peer knows them, so
   * they are offered at each block.
   */
  readonly refused = new Set<TxidKey>()
  private nextOrder = 0
  private known: LedgerTip
  private coinList: ReadonlyArray<WalletCoin> | undefined
  private transactionList: ReadonlyArray<WalletTx> | undefined
  private reused: ReadonlySet<string> | undefined

  constructor(options: LedgerOptions) {
    this.options = options
    this.known = { height: -1, hash: new Uint8Array(32) }
  }

  get tip(): LedgerTip {
    return this.known
  }

  /** The tip decides the maturity and expiry of coins. */
  set tip(tip: LedgerTip) {
    this.known = tip
    this.forget()
  }

  private forget(): void {
    this.coinList = undefined
    this.transactionList = undefined
    this.reused = undefined
  }

  has(txid: TxidKey): boolean {
    return this.graph.get(txid) !== undefined
  }

  /** Only the ledger may change the entry. */
  entry(txid: TxidKey): LedgerEntry | undefined {
    return this.graph.get(txid)
  }

  /** In arrival order. */
  unconfirmed(): ReadonlyArray<LedgerEntry> {
    return [...this.waiting.values()].sort((a, b) => a.order - b.order)
  }

  confirmedAbove(height: number): ReadonlyArray<LedgerEntry> {
    return [...this.graph.all()].filter(({ block }) => block !== undefined && block.height > height)
  }

  concerns(transaction: Transaction): boolean {
    return this.spendsOwn(transaction) ||
      transaction.outputs.some(({ script }) => this.options.own(script) !== undefined)
  }

  spendsOwn({ inputs }: Transaction): boolean {
    return inputs.some(({ prevout }) => this.outputs.has(outpointKey(prevout)))
  }

  /** Whether it spends outputs of the wallet, and so was made with its keys. */
  isOurs(entry: LedgerEntry): boolean {
    return entry.inputs.some((key) => this.outputs.has(key))
  }

  rivals(transaction: Transaction): ReadonlyArray<LedgerEntry> {
    if (this.waiting.size === 0) return []
    return [...this.graph.rivalsOf(entryKeysOf(transaction))].filter(({ block }) => block === undefined)
  }

  /** An entry that spends the same output and keeps it. */
  claimant(transaction: Transaction): LedgerEntry | undefined {
    return this.graph.claimant(entryKeysOf(transaction))
  }

  /** Adds a transaction, or records a report on a known one. It must not be a view of a block. */
  put({ notes = {}, order, state, time, transaction }: NewEntry): LedgerEntry {
    const before = this.graph.get(transaction.txidKey)
    if (before !== undefined) {
      this.annotate(before.key, notes)
      this.report(before.key, state)
      this.lookAt(before)
      return before
    }
    const entry: LedgerEntry = {
      transaction,
      ...entryKeysOf(transaction),
      outpoints: transaction.outputs.map((_, vout) => outpointKey(outpoint(transaction.txid, vout))),
      coinbase: transaction.isCoinbase,
      time,
      order: order ?? this.nextOrder,
      block: undefined,
      forbiddenAt: new Set(),
      pooled: false,
      displacedBy: new Set(),
      abandoned: false,
      lost: false,
      state: { type: "inactive", abandoned: false },
      notes,
      view: undefined
    }
    this.nextOrder = Math.max(this.nextOrder, entry.order + 1)
    this.graph.add(entry)
    noteReport(entry, state)
    this.settle(entry)
    this.lookAt(entry)
    return entry
  }

  private lookAt(entry: LedgerEntry): void {
    const { outpoints, transaction } = entry
    for (const [vout, output] of transaction.outputs.entries()) {
      const key = outpoints[vout]
      if (key === undefined) continue
      const name = parseNameScript(output.script)
      if (name !== undefined && name.operation.op !== "name_new") this.named.set(key, { entry, vout, name })
      const own = this.options.own(output.script)
      if (own === undefined) continue
      if (!this.outputs.has(key)) { for (const spender of this.graph.spendersOf(key)) spender.view = undefined }
      this.outputs.set(key, { outpoint: key, entry, vout, output, own, name })
      this.refresh(key)
    }
    this.forget()
  }

  /** For when the wallet watches more scripts. */
  lookAgain(which: "all" | "unconfirmed"): void {
    for (const entry of which === "all" ? this.graph.all() : this.waiting.values()) this.lookAt(entry)
  }

  /** Recomputes the state of an entry and of those that depend on it. Returns the changed entries. */
  private settle(entry: LedgerEntry): ReadonlyArray<LedgerEntry> {
    this.show(entry)
    const changed = this.graph.settle(entry)
    for (const each of changed) this.show(each)
    this.forget()
    return changed
  }

  private show(entry: LedgerEntry): void {
    entry.view = undefined
    if (entry.block !== undefined) this.waiting.delete(entry.key)
    else this.waiting.set(entry.key, entry)
    for (const input of entry.inputs) this.refresh(input)
    for (const output of entry.outpoints) this.refresh(output)
  }

  private refresh(key: OutpointKey): void {
    const output = this.outputs.get(key)
    if (output === undefined) return
    const { type } = output.entry.state
    if ((type === "confirmed" || type === "pending") && !this.isSpent(key)) this.unspent.set(key, output)
    else this.unspent.delete(key)
  }

  /** Whether the spender keeps the outpoint, or matches `by`. */
  isSpent(outpoint: OutpointKey, by: (entry: LedgerEntry) => boolean = keepsInputs): boolean {
    for (const entry of this.graph.spendersOf(outpoint)) if (by(entry)) return true
    return false
  }

  /** Records whether the mempool has a transaction: meanwhile its rivals do not keep their coins. Whether it has rivals. */
  displace(by: Transaction, inPool: boolean): boolean {
    if (this.waiting.size === 0) return false
    const displaced = this.graph.displace(entryKeysOf(by), inPool)
    for (const entry of displaced) this.show(entry)
    if (displaced.size > 0) this.forget()
    return displaced.size > 0
  }

  report(txid: TxidKey, report: TxReport): void {
    const entry = this.graph.get(txid)
    if (entry === undefined) return
    noteReport(entry, report)
    this.settle(entry)
  }

  annotate(txid: TxidKey, notes: TransactionNotes): void {
    const entry = this.graph.get(txid)
    if (entry === undefined) return
    entry.notes = { ...entry.notes, ...notes }
    entry.view = undefined
    this.forget()
  }

  /** Its inputs become unspent again; conflicts that it caused remain (`leftBehind`). */
  remove(txid: TxidKey): void {
    const entry = this.graph.get(txid)
    if (entry === undefined) return
    const conflicts = this.leftBehind(txid)
    this.graph.delete(entry)
    this.waiting.delete(txid)
    this.refused.delete(txid)
    for (const input of entry.inputs) this.refresh(input)
    for (const key of entry.outpoints) {
      this.outputs.delete(key)
      this.unspent.delete(key)
      this.named.delete(key)
    }
    for (const { height, key } of conflicts) this.conflict(key, height)
    this.forget()
  }

  /** Conflicts of other transactions that only this one shows. */
  leftBehind(txid: TxidKey): ReadonlyArray<{ readonly key: TxidKey; readonly height: number }> {
    const entry = this.graph.get(txid)
    return entry === undefined ? [] : this.graph.leftBehind(entry)
  }

  withDescendants(txid: TxidKey): ReadonlyArray<LedgerEntry> {
    const first = this.graph.get(txid)
    return first === undefined ? [] : this.graph.withDescendants(first)
  }

  /** A block at this height spends an input otherwise. Returns the changed entries, including descendants. */
  conflict(txid: TxidKey, height: number): ReadonlyArray<LedgerEntry> {
    const entry = this.graph.get(txid)
    if (entry === undefined) return []
    entry.forbiddenAt.add(height)
    return this.settle(entry)
  }

  abandon(txid: TxidKey): ReadonlyArray<LedgerEntry> {
    const given = this.withDescendants(txid).filter(({ state }) => state.type === "inactive")
    for (const { key } of given) this.report(key, { type: "inactive", abandoned: true })
    return given
  }

  /** Disconnected coinbases become abandoned, because they are invalid outside their block. */
  rewind(to: LedgerTip): void {
    const touched = new Set(this.confirmedAbove(to.height))
    for (const entry of touched) {
      entry.block = undefined
      entry.abandoned = entry.coinbase
    }
    for (const entry of this.waiting.values()) {
      for (const height of entry.forbiddenAt) {
        if (height > to.height && entry.forbiddenAt.delete(height)) touched.add(entry)
      }
    }
    for (const entry of touched) this.settle(entry)
    this.tip = to
  }

  get(txid: TxidKey): WalletTx | undefined {
    const entry = this.graph.get(txid)
    return entry === undefined ? undefined : this.viewOf(entry)
  }

  private viewOf(entry: LedgerEntry): WalletTx {
    return viewOf(entry, (outpoint) => this.outputs.get(outpoint)?.output)
  }

  /** In arrival order. */
  transactions(): ReadonlyArray<WalletTx> {
    return this.transactionList ??= [...this.graph.all()]
      .sort((a, b) => a.order - b.order)
      .map((entry) => this.viewOf(entry))
  }

  /** Txids, in display order, of other spenders of the same outputs. */
  conflictsOf(txid: TxidKey): ReadonlyArray<string> {
    const entry = this.graph.get(txid)
    return entry === undefined ? [] : [...this.graph.rivalsOf(entry)].map(({ key }) => shownTxid(key))
  }

  /** Trusted if all inputs are the wallet's own, from trusted transactions. */
  private isTrusted(entry: LedgerEntry, known: Map<LedgerEntry, boolean>): boolean {
    const isPending = entry.state.type === "pending" && this.options.spendUnconfirmed !== false
    if (!isPending) return entry.state.type === "confirmed"
    const before = known.get(entry)
    if (before !== undefined) return before
    const trusted = entry.inputs.length > 0 && entry.inputs.every((input) => {
      const output = this.outputs.get(input)
      return output !== undefined && this.isTrusted(output.entry, known)
    })
    known.set(entry, trusted)
    return trusted
  }

  private coinOf(held: LedgerOutput, known: Map<LedgerEntry, boolean>): WalletCoin {
    const { entry, name, outpoint, output, own, vout } = held
    const height = entry.state.type === "confirmed" ? entry.state.height : undefined
    const trusted = this.isTrusted(entry, known)
    return {
      outpoint,
      txid: entry.transaction.txid,
      vout,
      output,
      own,
      name,
      height,
      coinbase: entry.coinbase,
      trusted,
      safe: trusted && (height !== undefined || !isReplacement(entry)),
      locked: false,
      expired: this.isExpired(name, height, this.known.height + 1),
      nameExpired: this.isExpired(name, height, this.known.height)
    }
  }

  /** The coin is gone one block before the name counts as expired. */
  private isExpired(name: LedgerOutput["name"], updated: Height | undefined, height: Height): boolean {
    if (name === undefined || name.operation.op === "name_new" || updated === undefined) return false
    return isExpired({ height: updated }, height, this.options.params)
  }

  /** Whether it updates a name whose coin has gone since. */
  spendsExpired({ inputs }: LedgerEntry): boolean {
    return inputs.some((key) => {
      const { entry, name } = this.outputs.get(key) ?? {}
      return entry?.state.type === "confirmed" && this.isExpired(name, entry.state.height, this.known.height + 1)
    })
  }

  /** Including names and immature coins. The caller marks locked coins. */
  coins(): ReadonlyArray<WalletCoin> {
    if (this.coinList === undefined) {
      const known = new Map<LedgerEntry, boolean>()
      this.coinList = [...this.unspent.values()].map((held) => this.coinOf(held, known))
    }
    return this.coinList
  }

  /** Spent or unspent. */
  coin(outpoint: OutpointKey): WalletCoin | undefined {
    const held = this.outputs.get(outpoint)
    return held === undefined ? undefined : this.coinOf(held, new Map())
  }

  /** Whether the wallet has spent from a script, which links its coins publicly. */
  isReused(script: Bytes): boolean {
    this.reused ??= reusedScripts(this.outputs.values(), (outpoint) => this.graph.isSpent(outpoint))
    return this.reused.has(binaryString(script))
  }

  isUnspent(outpoint: OutpointKey): boolean {
    return this.unspent.has(outpoint)
  }

  isImmature({ coinbase, height }: Pick<WalletCoin, "coinbase" | "height">): boolean {
    return coinbase && height !== undefined && this.known.height - height < COINBASE_MATURITY
  }

  /** `clean`: without coins of scripts that were spent from. */
  balances({ clean = false }: { readonly clean?: boolean } = {}): Balances {
    const coins = clean ? this.coins().filter(({ own }) => !this.isReused(own.script)) : this.coins()
    return balancesOf(coins, (coin) => this.isImmature(coin))
  }

  /** Each name with its last confirmed operation, including expired and transferred names, by the bytes of the name. */
  names(): ReadonlyArray<WalletName> {
    return lastOperations(this.named.values(), (script) => this.options.own(script) !== undefined)
  }
}
