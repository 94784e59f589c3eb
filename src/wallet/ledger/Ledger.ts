import { isExpired } from "../../consensus/expiry.ts"
import { COINBASE_MATURITY, type ConsensusParams } from "../../consensus/params.ts"
import { binaryString, type Bytes, compare, displayHash } from "../../protocol/bytes.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { Balances, OwnScript, WalletCoin, WalletName, WalletTx, WalletTxState } from "../Wallet.ts"
import { type LedgerEntry, type LedgerOutput, lives, type NewEntry, type TransactionNotes } from "./LedgerEntry.ts"

export interface LedgerOptions {
  readonly params: ConsensusParams
  /** What the wallet knows of a scriptPubKey, with or without a name prefix. */
  readonly own: (script: Bytes) => OwnScript | undefined
}

/** The place of the last block that is known. */
export interface LedgerTip {
  readonly height: number
  readonly hash: Bytes
}

/**
 * The transactions of a wallet, what they paid to it and what of that is left. In memory: whoever changes it sees to the
 * disk. Lists are made when they are asked for and kept until something changes.
 */
export class Ledger {
  private readonly options: LedgerOptions
  /** By `txidKey`, in the order in which they came. */
  private readonly entries = new Map<string, LedgerEntry>()
  private readonly waiting = new Map<string, LedgerEntry>()
  /** Every output that is the wallet's, spent or not. */
  private readonly outputs = new Map<string, LedgerOutput>()
  /** Those that nobody spends and that can be counted on to exist. */
  private readonly unspent = new Map<string, LedgerOutput>()
  /** Outputs that set the record of a name, of anybody. */
  private readonly named = new Map<string, Pick<LedgerOutput, "entry" | "vout" | "name">>()
  private readonly spenders = new Map<string, Set<LedgerEntry>>()
  /** Keys of entries that somebody is storing and offering just now: they are not anybody else's to offer. */
  readonly underway = new Set<string>()
  private nextOrder = 0
  private known: LedgerTip
  private coinList: ReadonlyArray<WalletCoin> | undefined
  private transactionList: ReadonlyArray<WalletTx> | undefined

  constructor(options: LedgerOptions) {
    this.options = options
    this.known = { height: -1, hash: new Uint8Array(32) }
  }

  get tip(): LedgerTip {
    return this.known
  }

  /** Moves the tip: what is mature and what has expired depends on it. */
  set tip(tip: LedgerTip) {
    this.known = tip
    this.forget()
  }

  private forget(): void {
    this.coinList = undefined
    this.transactionList = undefined
  }

  get size(): number {
    return this.entries.size
  }

  has(txid: string): boolean {
    return this.entries.has(txid)
  }

  /** The entry itself, to be changed through the ledger alone. */
  entry(txid: string): LedgerEntry | undefined {
    return this.entries.get(txid)
  }

  /** Entries that are in no block, in the order in which they came. */
  unconfirmed(): ReadonlyArray<LedgerEntry> {
    return [...this.waiting.values()].sort((a, b) => a.order - b.order)
  }

  confirmedAbove(height: number): ReadonlyArray<LedgerEntry> {
    return [...this.entries.values()].filter(({ state }) => state.type === "confirmed" && state.height > height)
  }

  /** Whether a transaction pays to the wallet or spends what is the wallet's. */
  concerns(transaction: Transaction): boolean {
    return this.spendsOwn(transaction) ||
      transaction.outputs.some(({ script }) => this.options.own(script) !== undefined)
  }

  spendsOwn({ inputs }: Transaction): boolean {
    return inputs.some(({ prevout }) => this.outputs.has(outpointKey(prevout)))
  }

  /** Whether the wallet made a transaction, or somebody with its keys. */
  isOurs(entry: LedgerEntry): boolean {
    return entry.inputs.some((key) => this.outputs.has(key))
  }

  /** Entries in no block that spend what a transaction spends. */
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
   * An entry that lays claim to a coin which a transaction spends; `undefined` where none does. One that another took the
   * place of, and that the mempool has no more, claims nothing.
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

  /** Adds a transaction, or says anew where a known one stands. Its bytes are to be its own, and no view of a block. */
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

  /** Finds out which outputs of an entry are the wallet's. */
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

  /** Looks at outputs again, since more scripts are the wallet's now: at all, or at those that are in no block. */
  lookAgain(which: "all" | "unconfirmed"): void {
    for (const entry of (which === "all" ? this.entries : this.waiting).values()) this.lookAt(entry)
  }

  private become(entry: LedgerEntry, state: WalletTxState): void {
    entry.state = state
    // What stands against an entry that was given up may go again: the entry stays given up.
    if (state.type !== "conflicted") entry.abandoned = state.type === "inactive" && state.abandoned
    entry.view = undefined
    if (state.type === "confirmed") this.waiting.delete(entry.key)
    else this.waiting.set(entry.key, entry)
    for (const input of entry.inputs) this.refresh(input)
    for (const output of entry.outpoints) this.refresh(output)
    this.forget()
  }

  private refresh(key: string): void {
    const output = this.outputs.get(key)
    if (output === undefined) return
    const { type } = output.entry.state
    if ((type === "confirmed" || type === "pending") && !this.isSpent(key)) this.unspent.set(key, output)
    else this.unspent.delete(key)
  }

  /** Whether a transaction that counts spends an outpoint. */
  isSpent(outpoint: string): boolean {
    for (const { state } of this.spenders.get(outpoint) ?? []) if (lives(state)) return true
    return false
  }

  setState(txid: string, state: WalletTxState): void {
    const entry = this.entries.get(txid)
    if (entry !== undefined) this.become(entry, state)
  }

  annotate(txid: string, notes: TransactionNotes): void {
    const entry = this.entries.get(txid)
    if (entry === undefined) return
    entry.notes = { ...entry.notes, ...notes }
    entry.view = undefined
    this.forget()
  }

  /** Takes a transaction out. What it was said to spend is there again. */
  remove(txid: string): void {
    const entry = this.entries.get(txid)
    if (entry === undefined) return
    this.entries.delete(txid)
    this.waiting.delete(txid)
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

  /** An entry and all that are in no block and spend from it, directly or not. */
  withDescendants(txid: string): ReadonlyArray<LedgerEntry> {
    const first = this.entries.get(txid)
    const found = new Set<LedgerEntry>(first === undefined ? [] : [first])
    for (const entry of found) {
      for (const key of entry.outpoints) {
        for (const spender of this.spenders.get(key) ?? []) if (spender.state.type !== "confirmed") found.add(spender)
      }
    }
    return [...found]
  }

  /** A block at a height spends what an entry spends: it and what needs it cannot be mined any more. */
  conflict(txid: string, height: number): ReadonlyArray<LedgerEntry> {
    const lost = this.withDescendants(txid).filter(({ state }) => state.type !== "confirmed")
    for (const entry of lost) this.become(entry, { type: "conflicted", height })
    return lost
  }

  /** Gives an entry up, and what needs it. */
  abandon(txid: string): ReadonlyArray<LedgerEntry> {
    const given = this.withDescendants(txid).filter(({ state }) => state.type === "inactive")
    for (const entry of given) this.become(entry, { type: "inactive", abandoned: true })
    return given
  }

  /** Forgets all blocks above one. A coinbase of them is worth nothing outside of its block. */
  rewind(to: LedgerTip): void {
    for (const entry of this.entries.values()) {
      const { state } = entry
      const above = (state.type === "confirmed" || state.type === "conflicted") && state.height > to.height
      if (above) this.become(entry, { type: "inactive", abandoned: entry.coinbase || entry.abandoned })
    }
    this.tip = to
  }

  /** What a transaction means to the wallet. */
  get(txid: string): WalletTx | undefined {
    const entry = this.entries.get(txid)
    return entry === undefined ? undefined : this.viewOf(entry)
  }

  private viewOf(entry: LedgerEntry): WalletTx {
    const { notes, order, state, time, transaction } = entry
    return entry.view ??= {
      transaction,
      state,
      time,
      order,
      comment: notes.comment,
      commentTo: notes.commentTo,
      replaces: notes.replaces,
      replacedBy: notes.replacedBy,
      spent: transaction.inputs.map((_, index) => this.outputs.get(entry.inputs[index] ?? "")?.output)
    }
  }

  /** All transactions, in the order in which they came. */
  transactions(): ReadonlyArray<WalletTx> {
    return this.transactionList ??= [...this.entries.values()]
      .sort((a, b) => a.order - b.order)
      .map((entry) => this.viewOf(entry))
  }

  /** Txids as people see them of other transactions that spend what this one spends. */
  conflictsOf(txid: string): ReadonlyArray<string> {
    const found = new Set<LedgerEntry>()
    for (const input of this.entries.get(txid)?.inputs ?? []) {
      for (const entry of this.spenders.get(input) ?? []) if (entry.key !== txid) found.add(entry)
    }
    return [...found].map(({ transaction }) => displayHash(transaction.txid))
  }

  /** Whether an entry in no block can be counted on: all that it spends is the wallet's, and can be counted on. */
  private isTrusted(entry: LedgerEntry, known: Map<LedgerEntry, boolean>): boolean {
    if (entry.state.type !== "pending") return entry.state.type === "confirmed"
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
      expired: this.isExpired(name, height)
    }
  }

  /** Whether the coin of a name went with the tip: a block earlier than the name counts as expired. */
  private isExpired(name: LedgerOutput["name"], height: number | undefined): boolean {
    if (name === undefined || name.operation.op === "name_new" || height === undefined) return false
    return isExpired(height, this.known.height + 1, this.options.params)
  }

  /** What is not spent, names and immature coins included. Who locks coins says so on top. */
  coins(): ReadonlyArray<WalletCoin> {
    if (this.coinList === undefined) {
      const known = new Map<LedgerEntry, boolean>()
      this.coinList = [...this.unspent.values()].map((held) => this.coinOf(held, known))
    }
    return this.coinList
  }

  /** An output of the wallet, spent or not. */
  coin(outpoint: string): WalletCoin | undefined {
    const held = this.outputs.get(outpoint)
    return held === undefined ? undefined : this.coinOf(held, new Map())
  }

  isUnspent(outpoint: string): boolean {
    return this.unspent.has(outpoint)
  }

  /** Whether a coin is a reward that cannot be spent in the next block yet, as wallets count. */
  isImmature({ coinbase, height }: Pick<WalletCoin, "coinbase" | "height">): boolean {
    return coinbase && height !== undefined && this.known.height - height < COINBASE_MATURITY
  }

  balances(): Balances {
    let [trusted, untrustedPending, immature] = [0, 0, 0]
    for (const coin of this.coins()) {
      if (coin.name !== undefined) continue
      if (this.isImmature(coin)) immature += coin.output.value
      else if (coin.trusted) trusted += coin.output.value
      else untrustedPending += coin.output.value
    }
    return { trusted, untrustedPending, immature }
  }

  /**
   * Each name as the last confirmed transaction of the wallet that set it left it, in the order of their bytes; also
   * those that expired or went to somebody else.
   */
  names(): ReadonlyArray<WalletName> {
    const latest = new Map<string, WalletName & { readonly index: number }>()
    for (const { entry, name, vout } of this.named.values()) {
      if (name === undefined || name.operation.op === "name_new" || entry.state.type !== "confirmed") continue
      const { height, index } = entry.state
      const key = binaryString(name.operation.name)
      const before = latest.get(key)
      if (before !== undefined && (before.height > height || (before.height === height && before.index > index))) {
        continue
      }
      latest.set(key, {
        name: name.operation.name,
        operation: name.operation,
        txid: entry.transaction.txid,
        vout,
        script: name.address,
        height,
        index,
        mine: this.options.own(name.address) !== undefined
      })
    }
    return [...latest.values()].map(({ index: _, ...name }) => name).sort((a, b) => compare(a.name, b.name))
  }
}
