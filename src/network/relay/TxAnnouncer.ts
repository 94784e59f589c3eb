import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { Peer } from "../Peer.ts"
import type { Message } from "../wire/message.ts"
import type { InventoryItem } from "../wire/messages/inv.ts"
import { itemOf, MiningOrder, pays, RoundTimes, takeRound, type TransactionListener } from "./announcements.ts"
import { feeSteps, nextFeeFilter } from "./feeFilter.ts"
import { isRoundDue, knownHash, type RelayParts, type RelayPeer } from "./RelayPeer.ts"

/** See reference/protocol.md 6.6. */
const MAX_ITEMS = 50_000

/** Answers `mempool` (BIP 35) with all transactions that pay enough, known or not. Upstream `SendMessages`. */
const mempoolAnswer = (
  entries: Iterable<PoolEntry>,
  { bloom, feeFilter, known, wtxidRelay }: TransactionListener,
  waiting: Set<TxidKey>
): ReadonlyArray<Message> => {
  const items: Array<InventoryItem> = []
  for (const entry of entries) {
    waiting.delete(entry.transaction.txidKey)
    if (!pays(entry, feeFilter) || bloom?.matches(entry.transaction) === false) continue
    const item = itemOf(entry, wtxidRelay)
    known.add(item.hash)
    items.push(item)
  }
  const messages: Array<Message> = []
  for (let from = 0; from < items.length; from += MAX_ITEMS) {
    messages.push({ type: "inv", items: items.slice(from, from + MAX_ITEMS) })
  }
  return messages
}

/** Transactions sorted for announcement before other fibers get a turn. */
const ENTRIES_IN_A_TURN = 1_000

/** See reference/protocol.md 6.2. */
const FEE_FILTER_VERSION = 110_013

export class TxAnnouncer {
  readonly #parts: RelayParts
  readonly #times: RoundTimes
  readonly #feeSteps: ReadonlyArray<number>
  readonly #untold: Set<TxidKey>

  constructor(parts: RelayParts) {
    const { mempool, random } = parts
    this.#parts = parts
    this.#times = new RoundTimes(random)
    this.#feeSteps = feeSteps(mempool.info().incrementalFeeRate)
    this.#untold = new Set(mempool.unbroadcast().map(({ transaction }) => transaction.txidKey))
  }

  nextRound(peer: Peer, now: number): number {
    return this.#times.next(peer.inbound, now)
  }

  enqueue(state: RelayPeer, { transaction }: PoolEntry): void {
    if (!state.listens || state.known.has(knownHash(state.peer, transaction))) return
    state.waiting.add(transaction.txidKey)
  }

  enqueueForAll(entry: PoolEntry): void {
    for (const state of this.#parts.states.values()) this.enqueue(state, entry)
  }

  enqueueUnbroadcast(to: Iterable<RelayPeer> = this.#parts.states.values()): void {
    const entries = this.#parts.mempool.unbroadcast()
    for (const state of to) for (const entry of entries) this.enqueue(state, entry)
  }

  arrived({ txidKey }: Transaction): void {
    this.#untold.add(txidKey)
  }

  removed({ txidKey }: Transaction): void {
    this.#untold.delete(txidKey)
  }

  #announce(state: RelayPeer, order: MiningOrder): ReadonlyArray<PoolEntry> {
    const { mempool } = this.#parts
    const { known, peer, waiting } = state
    const { wtxidRelay } = peer.hello
    const { bloom, feeFilter } = peer.features
    const listener = { wtxidRelay, feeFilter, known, bloom }
    if (state.wantsAll) {
      state.wantsAll = false
      for (const message of mempoolAnswer(mempool.entries(), listener, waiting)) peer.post(message)
    }
    const round = takeRound(waiting, { pool: mempool, order, listener })
    if (round.length > 0) peer.post({ type: "inv", items: round.map((entry) => itemOf(entry, wtxidRelay)) })
    return round.filter(({ transaction }) => this.#untold.delete(transaction.txidKey))
  }

  /** All inbound peers are due at the same time, so this yields after many transactions. */
  announceAll(now: number): Effect.Effect<ReadonlyArray<PoolEntry>> {
    const { mempool, states } = this.#parts
    return Effect.gen(this, function*() {
      const due = [...states.values()].filter((state) => isRoundDue(state, now))
      for (const state of due) if (state.nextRound <= now) state.nextRound = this.nextRound(state.peer, now)
      const first: Array<PoolEntry> = []
      let order = new MiningOrder(mempool)
      let looked = 0
      for (const state of due) {
        looked += state.waiting.size
        first.push(...this.#announce(state, order))
        state.lastSequence = mempool.info().sequence
        if (looked < ENTRIES_IN_A_TURN) continue
        yield* turnOfEventLoop
        looked = 0
        order = new MiningOrder(mempool)
      }
      return first
    })
  }

  tellFeeFilter({ feeFilter, peer }: RelayPeer, initialDownload: boolean, now: number): void {
    const { blocksOnly, mempool, random } = this.#parts
    if (blocksOnly) return
    // A peer whose transactions are always relayed should send them all.
    if (peer.permissions.has("forcerelay")) return
    if (peer.type === "block-relay-only" || peer.hello.commonVersion < FEE_FILTER_VERSION) return
    const { minFeeRate, minRelayFeeRate: floor } = mempool.info()
    // Without a mempool minimum above the floor there is nothing to round.
    const rate = minFeeRate > floor ? minFeeRate : 0
    const feeRate = nextFeeFilter(feeFilter, { rate, floor, initialDownload }, { steps: this.#feeSteps, now, random })
    if (feeRate !== undefined) peer.post({ type: "feefilter", feeRate })
  }
}
