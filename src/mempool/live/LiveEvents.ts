import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { CommitSignal } from "../../names/CommitSignal.ts"
import type { DropReason } from "../../names/events/kinds.ts"
import type { LiveEvent, LiveWanted, WaitingOperation } from "../../names/events/LiveEvent.ts"
import { kindKeeping } from "../../names/events/NameEvent.ts"
import { NameDb } from "../../names/NameDb.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import { prevoutIndex, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { Mempool } from "../Mempool.ts"
import type { MempoolEvent, PoolEntry, RemovalReason } from "../PoolEntry.ts"
import { LiveReader, type PendingPart } from "./LiveReader.ts"
import { PendingLog } from "./PendingLog.ts"

/** Live events: operations waiting in the mempool, and the end of the sync. */
export class LiveEvents extends Context.Tag("svcd/LiveEvents")<LiveEvents, {
  /** Why there are currently none, if so. */
  readonly refusal: () => string | undefined
  readonly open: (wanted: LiveWanted) => Effect.Effect<LiveReader, never, Scope.Scope>
}>() {}

/** Events that a reader may lag behind. One has a name, a value and two scripts: some hundred bytes. */
const KEPT_EVENTS = 1_000

/** Maximum mempool transactions examined while the tip is fixed, and operations found. */
const LOOKED_AT_ONCE = 500
const FOUND_AT_ONCE = 100

const DROPPED: Readonly<Record<Exclude<RemovalReason, "block">, DropReason>> = {
  "conflict": "conflict",
  "name-conflict": "conflict",
  "replaced": "replaced",
  "expiry": "expired",
  "size-limit": "evicted",
  "reorg": "reorg"
}

const WINDOW = "pending operations and the end of the sync need the whole chain: this node answers from its last blocks"

interface SpentName {
  readonly value: Bytes
  readonly address: Bytes
}

const spends = ({ inputs }: Transaction, { txid, vout }: { readonly txid: Bytes; readonly vout: number }): boolean =>
  inputs.some(({ prevout }) => prevoutIndex(prevout) === vout && equal(prevoutTxid(prevout), txid))

const make = Effect.gen(function*() {
  const pool = yield* Mempool
  const names = yield* NameDb
  const answers = yield* NameAnswers
  const { atTip } = yield* ChainCoins
  const log = new PendingLog(KEPT_EVENTS)
  const signal = new CommitSignal()
  /** Operations as first reported, as what they spend may have left meanwhile. */
  const told = new WeakMap<Transaction, WaitingOperation>()
  let readers = 0

  /** What an update replaces, if known: another waiting operation, or the record of its name. */
  const spentBy = (name: Bytes, transaction: Transaction): Effect.Effect<SpentName | undefined> =>
    Effect.suspend(() => {
      for (const { prevout } of transaction.inputs) {
        const parent = pool.get(txidKey(prevoutTxid(prevout)))?.name
        if (parent === undefined || parent.vout !== prevoutIndex(prevout)) continue
        const { address, operation } = parent.script
        if (operation.op !== "name_new") return Effect.succeed({ value: operation.value, address })
      }
      return Effect.match(names.resolve(name), {
        onFailure: () => undefined,
        onSuccess: (record) => spends(transaction, record) ? record : undefined
      })
    })

  const operationOf = ({ name: output, transaction }: PoolEntry): Effect.Effect<WaitingOperation | undefined> =>
    Effect.suspend(() => {
      const known = told.get(transaction)
      if (known !== undefined || output === undefined) return Effect.succeed(known)
      const { script: { address, operation }, vout } = output
      if (operation.op === "name_new") return Effect.succeed(undefined)
      const { name, op, value } = operation
      const before = op === "name_firstupdate" ? Effect.succeed(undefined) : spentBy(name, transaction)
      return Effect.map(before, (spent): WaitingOperation => {
        const kept = spent === undefined
          ? undefined
          : { address: equal(spent.address, address), value: equal(spent.value, value) }
        // Copies, so that the bytes of the transaction need not stay. `slice` of a Buffer would be a view.
        const made = {
          kind: kindKeeping({ op, value }, kept),
          name: Uint8Array.from(name),
          value: Uint8Array.from(value),
          txid: Uint8Array.from(transaction.txid),
          vout,
          address: Uint8Array.from(address),
          ownerBefore: spent && Uint8Array.from(spent.address),
          keepsValue: kept?.value === true
        }
        told.set(transaction, made)
        return made
      })
    })

  const hear = (event: MempoolEvent): Effect.Effect<void> => {
    // Without readers, the next one begins with all waiting operations.
    if (readers === 0 || event.entry.name === undefined) return Effect.void
    return Effect.map(operationOf(event.entry), (operation) => {
      if (operation === undefined) return
      if (event._tag === "Added") log.add({ type: "pending", operation })
      else if (event.reason === "block") return
      else log.add({ type: "pending_dropped", operation, reason: DROPPED[event.reason] })
      signal.tell()
    })
  }
  yield* pool.listen(hear)

  /** Lists the waiting operations. The tip is fixed for each part, so none of them is in a block that readers know. */
  const list = (): Effect.Effect<PendingPart> => {
    const waiting = pool.entries()[Symbol.iterator]()
    const { sequence } = pool.info()
    const part = atTip(() =>
      Effect.gen(function*() {
        const events: Array<LiveEvent> = []
        for (let looked = 0; looked < LOOKED_AT_ONCE && events.length < FOUND_AT_ONCE; looked++) {
          const next = waiting.next()
          if (next.done === true) return { events, isEnd: true }
          // The log has those that arrived later.
          const operation = next.value.sequence >= sequence ? undefined : yield* operationOf(next.value)
          if (operation !== undefined) events.push({ type: "pending", operation })
        }
        return { events, isEnd: false }
      })
    )
    // A chain that cannot be stored ends the node.
    return Effect.catchAll(part, () => Effect.interrupt)
  }

  const synced = Effect.flatMap(answers.complete, (complete) => complete ? answers.height : Effect.succeed(undefined))
    .pipe(Effect.orElseSucceed(() => undefined))

  const newsWithin = (milliseconds: number) => signal.behind(signal.count, { milliseconds })

  return LiveEvents.of({
    refusal: () => answers.fromWindow() ? WINDOW : undefined,
    open: (wanted) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          readers++
          return new LiveReader({ log, list, synced, newsWithin }, wanted)
        }),
        () => Effect.sync(() => void readers--)
      )
  })
})

export const layer: Layer.Layer<LiveEvents, never, ChainCoins | Mempool | NameAnswers | NameDb> = Layer.scoped(
  LiveEvents,
  make
)

export const layerNoMempool: Layer.Layer<LiveEvents> = Layer.succeed(LiveEvents, {
  refusal: () => "there is no mempool",
  open: () => Effect.dieMessage("live events were refused")
})
