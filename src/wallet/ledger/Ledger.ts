import { isExpired } from "../../consensus/expiry.ts"
import { COINBASE_MATURITY, type ConsensusParams } from "../../consensus/params.ts"
import { binaryString, type Bytes, displayHash } from "../../protocol/bytes.ts"
import type { Height, OutpointKey, TxidKey } from "../../protocol/keys.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"
import type { WalletName } from "../names/WalletNames.ts"
import {
  type LedgerEntry,
  type LedgerOutput,
  lives,
  type NewEntry,
  type TransactionNotes,
  viewOf
} from "./LedgerEntry.ts"
import { balancesOf, lastOperations, type NamedOutput, reusedScripts } from "./summaries.ts"
import type { Balances, WalletCoin, WalletTx, WalletTxState } from "./WalletLedger.ts"

export interface LedgerOptions {
  readonly params: ConsensusParams
  /** The wallet's record of a scriptPubKey, with or without a name prefix. */
  readonly own: (script: Bytes) => OwnScript | undefined
  readonly spendUnconfirmed?: boolean
}

/** The last block that the ledger includes. */
export interface LedgerTip {
  readonly height: number
  readonly hash: Bytes
}

/**
 * The transactions of a wallet and its coins. The ledger is in memory; its callers write the changes to disk. Lists are
 * computed on demand and kept until a change.
 */
export class Ledger {
  private readonly options: LedgerOptions
  /** By `txidKey`, in the order in which they arrived. */
  private readonly entries = new Map<TxidKey, LedgerEntry>()
  private readonly waiting = new Map<TxidKey, LedgerEntry>()
  /** Every output of the wallet, spent or unspent. */
  private readonly outputs = new Map<OutpointKey, LedgerOutput>()
  /** The unspent outputs of confirmed and pending transactions. */
  private readonly unspent = new Map<OutpointKey, LedgerOutput>()
  /** Outputs that set the record of a name, of any owner. */
  private readonly named = new Map<OutpointKey, NamedOutput>()
  private readonly spenders = new Map<OutpointKey, Set<LedgerEntry>>()
  /** Keys of entries that a caller is storing and offering: no other part may offer them. */
  readonly underway = new Set<TxidKey>()
  /** Keys of entries that the mempool has refused and never had: no peer knows them, so they are offered at each block. */
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

  /** Moves the tip, which changes the maturity and the expiry of coins. */
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
    return this.entries.has(txid)
  }

  /** The entry itself. Only the ledger may change it. */
  entry(txid: TxidKey): LedgerEntry | undefined {
    return this.entries.get(txid)
  }

  /** Unconfirmed entries, in the order in which they arrived. */
  unconfirmed(): ReadonlyArray<LedgerEntry> {
    return [...this.waiting.values()].sort((a, b) => a.order - b.order)
  }

  confirmedAbove(height: number): ReadonlyArray<LedgerEntry> {
    return [...this.entries.values()].filter(({ state }) => state.type === "confirmed" && state.height > height)
  }

  /** Whether a transaction pays to the wallet or spends its outputs. */
  concerns(transaction: Transaction): boolean {
    return this.spendsOwn(transaction) ||
      transaction.outputs.some(({ script }) => this.options.own(script) !== undefined)
  }

  spendsOwn({ inputs }: Transaction): boolean {
    return inputs.some(({ prevout }) => this.outputs.has(outpointKey(prevout)))
  }

  /** Whether a transaction spends outputs of the wallet: the wallet made it, or another program with its keys. */
  isOurs(entry: LedgerEntry): boolean {
    return entry.inputs.some((key) => this.outputs.has(key))
  }

  /** Unconfirmed entries that spend the same outputs as a transaction. */
  rivals(transaction: Transaction): ReadonlyArray<LedgerEntry> {
    if (this.waiting.size === 0) return []
    const found = new Set<LedgerEntry>()
    for (const { prevout } of transaction.inputs) {
      for (const entry of this.spenders.get(outpointKey(prevout)) ?? []) {
        if (entry.state.type !== "confirmed") found.add(entry)
      }
    }
    for (const entry of found) if (entry.key === transaction.txidKey) found.delete(entry)
    return [...found]
  }

  /**
   * An entry that spends the same output as a transaction; `undefined` if there is none. A replaced entry that is not
   * in the mempool does not count.
   */
  claimant(transaction: Transaction): LedgerEntry | undefined {
    for (const { prevout } of transaction.inputs) {
      for (const entry of this.spenders.get(outpointKey(prevout)) ?? []) {
        const replaced = entry.state.type === "inactive" && entry.notes.replacedBy !== undefined
        if (entry.key !== transaction.txidKey && lives(entry.state) && !replaced) return entry
      }
    }
    return undefined
  }

  /** Adds a transaction, or updates the state of a known one. Its bytes have to be a copy and not a view of a block. */
  put({ notes = {}, order, state, time, transaction }: NewEntry): LedgerEntry {
    const before = this.entries.get(transaction.txidKey)
    if (before !== undefined) {
      this.annotate(before.key, notes)
      this.become(before, state)
      this.lookAt(before)
      return before
    }
    const entry: LedgerEntry = {
      transaction,
      key: transaction.txidKey,
      inputs: transaction.isCoinbase ? [] : transaction.inputs.map(({ prevout }) => outpointKey(prevout)),
      outpoints: transaction.outputs.map((_, vout) => outpointKey(outpoint(transaction.txid, vout))),
      coinbase: transaction.isCoinbase,
      time,
      order: order ?? this.nextOrder,
      state,
      abandoned: false,
      notes,
      view: undefined
    }
    this.nextOrder = Math.max(this.nextOrder, entry.order + 1)
    this.entries.set(entry.key, entry)
    for (const input of entry.inputs) {
      const spending = this.spenders.get(input)
      if (spending === undefined) this.spenders.set(input, new Set([entry]))
      else spending.add(entry)
    }
    this.become(entry, state)
    this.lookAt(entry)
    return entry
  }

  /** Finds the outputs of an entry that belong to the wallet. */
  private lookAt(entry: LedgerEntry): void {
    const { outpoints, transaction } = entry
    for (const [vout, output] of transaction.outputs.entries()) {
      const key = outpoints[vout]
      if (key === undefined) continue
      const name = parseNameScript(output.script)
      if (name !== undefined && name.operation.op !== "name_new") this.named.set(key, { entry, vout, name })
      const own = this.options.own(output.script)
      if (own === undefined) continue
      if (!this.outputs.has(key)) { for (const spender of this.spenders.get(key) ?? []) spender.view = undefined }
      this.outputs.set(key, { outpoint: key, entry, vout, output, own, name })
      this.refresh(key)
    }
    this.forget()
  }

  /** Checks the outputs of entries again, because the wallet watches more scripts now. */
  lookAgain(which: "all" | "unconfirmed"): void {
    for (const entry of (which === "all" ? this.entries : this.waiting).values()) this.lookAt(entry)
  }

  private become(entry: LedgerEntry, state: WalletTxState): void {
    entry.state = state
    // The conflict of an abandoned entry may end: the entry stays abandoned.
    if (state.type !== "conflicted") entry.abandoned = state.type === "inactive" && state.abandoned
    entry.view = undefined
    if (state.type === "confirmed") this.waiting.delete(entry.key)
    else this.waiting.set(entry.key, entry)
    for (const input of entry.inputs) this.refresh(input)
    for (const output of entry.outpoints) this.refresh(output)
    this.forget()
  }

  private refresh(key: OutpointKey): void {
    const output = this.outputs.get(key)
    if (output === undefined) return
    const { type } = output.entry.state
    if ((type === "confirmed" || type === "pending") && !this.isSpent(key)) this.unspent.set(key, output)
    else this.unspent.delete(key)
  }

  /** Whether a live transaction, or one in such a state, spends an outpoint. */
  isSpent(outpoint: OutpointKey, by: (state: WalletTxState) => boolean = lives): boolean {
    for (const { state } of this.spenders.get(outpoint) ?? []) if (by(state)) return true
    return false
  }

  setState(txid: TxidKey, state: WalletTxState): void {
    const entry = this.entries.get(txid)
    if (entry !== undefined) this.become(entry, state)
  }

  annotate(txid: TxidKey, notes: TransactionNotes): void {
    const entry = this.entries.get(txid)
    if (entry === undefined) return
    entry.notes = { ...entry.notes, ...notes }
    entry.view = undefined
    this.forget()
  }

  /** Removes a transaction. Its inputs become unspent again. */
  remove(txid: TxidKey): void {
    const entry = this.entries.get(txid)
    if (entry === undefined) return
    this.entries.delete(txid)
    this.waiting.delete(txid)
    this.refused.delete(txid)
    for (const input of entry.inputs) {
      const spending = this.spenders.get(input)
      spending?.delete(entry)
      if (spending?.size === 0) this.spenders.delete(input)
      this.refresh(input)
    }
    for (const key of entry.outpoints) {
      this.outputs.delete(key)
      this.unspent.delete(key)
      this.named.delete(key)
    }
    this.forget()
  }

  /** An entry and its unconfirmed descendants. */
  withDescendants(txid: TxidKey): ReadonlyArray<LedgerEntry> {
    const first = this.entries.get(txid)
    const found = new Set<LedgerEntry>(first === undefined ? [] : [first])
    for (const entry of found) {
      for (const key of entry.outpoints) {
        for (const spender of this.spenders.get(key) ?? []) if (spender.state.type !== "confirmed") found.add(spender)
      }
    }
    return [...found]
  }

  /** Marks an entry and its descendants as conflicted: a block at this height spends an input of the entry. */
  conflict(txid: TxidKey, height: number): ReadonlyArray<LedgerEntry> {
    const lost = this.withDescendants(txid).filter(({ state }) => state.type !== "confirmed")
    for (const entry of lost) this.become(entry, { type: "conflicted", height })
    return lost
  }

  abandon(txid: TxidKey): ReadonlyArray<LedgerEntry> {
    const given = this.withDescendants(txid).filter(({ state }) => state.type === "inactive")
    for (const entry of given) this.become(entry, { type: "inactive", abandoned: true })
    return given
  }

  /** Rolls back to a block. Disconnected coinbases become abandoned, because they are invalid outside their block. */
  rewind(to: LedgerTip): void {
    for (const entry of this.entries.values()) {
      const { state } = entry
      const above = (state.type === "confirmed" || state.type === "conflicted") && state.height > to.height
      if (above) this.become(entry, { type: "inactive", abandoned: entry.coinbase || entry.abandoned })
    }
    this.tip = to
  }

  /** A transaction, as the wallet shows it. */
  get(txid: TxidKey): WalletTx | undefined {
    const entry = this.entries.get(txid)
    return entry === undefined ? undefined : this.viewOf(entry)
  }

  private viewOf(entry: LedgerEntry): WalletTx {
    return viewOf(entry, (outpoint) => this.outputs.get(outpoint)?.output)
  }

  /** All transactions, in the order in which they arrived. */
  transactions(): ReadonlyArray<WalletTx> {
    return this.transactionList ??= [...this.entries.values()]
      .sort((a, b) => a.order - b.order)
      .map((entry) => this.viewOf(entry))
  }

  /** The txids, in display byte order, of other transactions that spend the same outputs. */
  conflictsOf(txid: TxidKey): ReadonlyArray<string> {
    const found = new Set<LedgerEntry>()
    for (const input of this.entries.get(txid)?.inputs ?? []) {
      for (const entry of this.spenders.get(input) ?? []) if (entry.key !== txid) found.add(entry)
    }
    return [...found].map(({ transaction }) => displayHash(transaction.txid))
  }

  /** Whether an unconfirmed entry is trusted: all its inputs are outputs of the wallet, from trusted transactions. */
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
    return {
      outpoint,
      txid: entry.transaction.txid,
      vout,
      output,
      own,
      name,
      height,
      coinbase: entry.coinbase,
      trusted: this.isTrusted(entry, known),
      locked: false,
      expired: this.isExpired(name, height, this.known.height + 1),
      nameExpired: this.isExpired(name, height, this.known.height)
    }
  }

  /** Whether a name is expired for a block at a height. Its coin is gone one block before the name counts as expired. */
  private isExpired(name: LedgerOutput["name"], updated: Height | undefined, height: Height): boolean {
    if (name === undefined || name.operation.op === "name_new" || updated === undefined) return false
    return isExpired({ height: updated }, height, this.options.params)
  }

  /** All unspent coins, including names and immature coins. The caller marks the locked coins. */
  coins(): ReadonlyArray<WalletCoin> {
    if (this.coinList === undefined) {
      const known = new Map<LedgerEntry, boolean>()
      this.coinList = [...this.unspent.values()].map((held) => this.coinOf(held, known))
    }
    return this.coinList
  }

  /** An output of the wallet, spent or unspent. */
  coin(outpoint: OutpointKey): WalletCoin | undefined {
    const held = this.outputs.get(outpoint)
    return held === undefined ? undefined : this.coinOf(held, new Map())
  }

  /** Whether a transaction of the wallet has spent from a script: then others know that its coins belong together. */
  isReused(script: Bytes): boolean {
    this.reused ??= reusedScripts(this.outputs.values(), (outpoint) => this.spenders.has(outpoint))
    return this.reused.has(binaryString(script))
  }

  isUnspent(outpoint: OutpointKey): boolean {
    return this.unspent.has(outpoint)
  }

  /** Whether a coin is a coinbase that is immature by the wallet's rule. */
  isImmature({ coinbase, height }: Pick<WalletCoin, "coinbase" | "height">): boolean {
    return coinbase && height !== undefined && this.known.height - height < COINBASE_MATURITY
  }

  /** The sums of the coins; if `clean`, without those of scripts that the wallet has spent from. */
  balances({ clean = false }: { readonly clean?: boolean } = {}): Balances {
    const coins = clean ? this.coins().filter(({ own }) => !this.isReused(own.script)) : this.coins()
    return balancesOf(coins, (coin) => this.isImmature(coin))
  }

  /**
   * Each name with its last operation in a confirmed wallet transaction, in the order of the names' bytes. This
   * includes names that expired or went to another owner.
   */
  names(): ReadonlyArray<WalletName> {
    return lastOperations(this.named.values(), (script) => this.options.own(script) !== undefined)
  }
}
