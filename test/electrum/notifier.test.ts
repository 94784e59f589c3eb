import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Queue, Stream, TestClock } from "effect"
import { runNotifier } from "../../src/electrum/notifier.ts"
import { CODE, ElectrumError, syncing } from "../../src/electrum/protocol/ElectrumError.ts"
import { type HistoryEntry, statusOf } from "../../src/electrum/protocol/status.ts"
import type { FoundHistory, Histories } from "../../src/electrum/sources/Histories.ts"
import { Subscriptions } from "../../src/electrum/Subscriptions.ts"
import { electrumNotifyDuration } from "../../src/metrics/electrumMetrics.ts"
import { type HeaderId, nameKey, type ScriptKey, scriptKey } from "../../src/protocol/keys.ts"
import { nameIndexHash } from "../../src/protocol/nameOperation.ts"
import { text } from "../names/blocks.ts"
import { eventually } from "../support/eventually.ts"

const keyOf = (name: string): ScriptKey => scriptKey(nameIndexHash(text(name)))

const entry = (height: number): HistoryEntry => ({ height, txid: new Uint8Array(32).fill(height) })

/** A reader that notes what it is told. */
const readerOf = (subscriptions: Subscriptions) => {
  const told: Array<string | null> = []
  const reader = {
    told,
    notify: (message: string): void => void told.push(JSON.parse(message).params[1]),
    drop: (key: ScriptKey): void => subscriptions.remove(key, reader)
  }
  return reader
}

const NAMES = ["d/a", "d/b", "d/c"]
const KEYS = NAMES.map(keyOf)

/** A notifier on a chain whose histories the test sets. */
const notified = Effect.gen(function*() {
  const state = {
    tip: 0,
    count: 0,
    reads: [] as Array<ScriptKey>,
    lots: [] as Array<number>,
    confirmed: (_: ScriptKey): Effect.Effect<ReadonlyArray<HistoryEntry>, ElectrumError> => Effect.succeed([entry(1)])
  }
  const tips = yield* Queue.unbounded<void>()
  const headers: Array<string> = []
  const subscriptions = new Subscriptions()
  const all: Histories["all"] = (key) =>
    Effect.suspend(() => {
      state.reads.push(key)
      return Effect.map(state.confirmed(key), (confirmed) => ({ confirmed, unconfirmed: [] }))
    })
  const histories: Histories = {
    all,
    several: (keys) => {
      state.lots.push(keys.length)
      return Effect.forEach(
        keys,
        (key) =>
          Effect.flatMap(
            Effect.either(all(key)),
            (found): Effect.Effect<FoundHistory, ElectrumError> =>
              Either.isLeft(found) && found.left.code !== CODE.historyTooLong ? found.left : Effect.succeed(found)
          )
      )
    },
    confirmed: state.confirmed,
    unconfirmed: () => Effect.succeed([]),
    unspent: () => Effect.succeed([]),
    balance: () => Effect.succeed({ confirmed: 0, unconfirmed: 0 })
  }
  const commits = {
    get count() {
      return state.count
    },
    touchedBehind: () => new Set(NAMES.map((name) => nameKey(text(name)))),
    behind: () => Effect.succeed(false),
    next: () => Effect.void
  }
  yield* runNotifier({
    chain: { subscription: Effect.succeed(Stream.fromQueue(tips)), tree: { tip: () => state.tip as HeaderId } },
    names: { commits: Effect.succeed(commits) },
    scripts: undefined,
    headers: {
      tip: () => 0,
      list: () => Effect.succeed([]),
      one: () => Effect.succeed(new Uint8Array(80)),
      proof: () => syncing(),
      isAt: () => true
    },
    histories,
    sessions: [{ followsHeaders: true, notify: (message) => headers.push(message) }],
    subscriptions
  })
  const pass = TestClock.adjust("1 second")
  const readsSeen = (count: number) => eventually(`${count} reads`, Effect.sync(() => state.reads.length >= count))
  return { state, subscriptions, headers, tips, pass, readsSeen }
})

const follow = (subscriptions: Subscriptions, keys: ReadonlyArray<ScriptKey>) => {
  const reader = readerOf(subscriptions)
  for (const key of keys) {
    subscriptions.add(key, reader)
    subscriptions.answered(key, null)
  }
  return reader
}

describe("followed statuses", () => {
  it("are read again when a reader is answered another one than those before", () => {
    const subscriptions = new Subscriptions()
    const [key = keyOf("")] = KEYS
    const [a, b] = [readerOf(subscriptions), readerOf(subscriptions)]
    subscriptions.add(key, a)
    subscriptions.answered(key, "old")
    assert.isFalse(subscriptions.isDue)
    subscriptions.add(key, b)
    // Of a block that a reorganisation drops at once.
    subscriptions.answered(key, "new")
    assert.deepStrictEqual(subscriptions.due(2), [key])
    assert.strictEqual(subscriptions.tell(key, "old"), 2)
    assert.deepStrictEqual([a.told, b.told], [["old"], ["old"]])
    assert.isFalse(subscriptions.isDue)
    assert.strictEqual(subscriptions.tell(key, "old"), 0)
    subscriptions.changed(key)
    subscriptions.remove(key, a)
    subscriptions.remove(key, b)
    assert.isFalse(subscriptions.isDue)
  })
})

describe("the notifier", () => {
  it.scoped("tells a reader whose answer was overtaken", () =>
    Effect.gen(function*() {
      const { pass, subscriptions } = yield* notified
      const [key = keyOf("")] = KEYS
      const [a, b] = [readerOf(subscriptions), readerOf(subscriptions)]
      const now = statusOf([entry(1)])
      subscriptions.add(key, a)
      subscriptions.answered(key, now)
      subscriptions.add(key, b)
      subscriptions.answered(key, "of a lost block")
      yield* pass
      yield* eventually("both are told", Effect.sync(() => a.told.length + b.told.length === 2))
      assert.deepStrictEqual([a.told, b.told], [[now], [now]])
    }))

  it.scoped("stops at the first status that it cannot read, and tells all of them later", () =>
    Effect.gen(function*() {
      const { pass, readsSeen, state, subscriptions } = yield* notified
      const reader = follow(subscriptions, KEYS)
      const passes = electrumNotifyDuration.count()
      state.confirmed = () => syncing()
      state.count++
      for (let i = 1; i <= 4; i++) {
        yield* pass
        yield* readsSeen(i)
      }
      assert.lengthOf(state.reads, 4)
      // Only the pass with the block counts.
      assert.strictEqual(electrumNotifyDuration.count() - passes, 1)
      // Each pass begins with another one, so that none keeps the others waiting.
      assert.sameMembers(state.reads.slice(0, 3), KEYS)
      state.confirmed = () => Effect.succeed([entry(1)])
      yield* pass
      yield* eventually("all are told", Effect.sync(() => reader.told.length === 3))
    }))

  it.scoped("reads statuses together, and one by one after a failure", () =>
    Effect.gen(function*() {
      const { pass, state, subscriptions } = yield* notified
      const reader = follow(subscriptions, KEYS)
      const told = (count: number) =>
        eventually(`${count} are told`, Effect.zipRight(pass, Effect.sync(() => reader.told.length === count)))
      state.count++
      yield* told(3)
      const failing = [KEYS[1]]
      state.confirmed = (key) => failing.includes(key) ? syncing() : Effect.succeed([entry(2)])
      state.count++
      yield* told(5)
      failing.pop()
      yield* told(6)
      state.confirmed = () => Effect.succeed([entry(3)])
      state.count++
      yield* told(9)
      assert.deepStrictEqual([state.lots[0], state.lots[1], state.lots.at(-1)], [3, 3, 3])
      assert.isTrue(state.lots.slice(2, -1).every((count) => count === 1))
    }))

  it.scoped("ends a subscription whose history became too large", () =>
    Effect.gen(function*() {
      const { pass, readsSeen, state, subscriptions } = yield* notified
      const reader = follow(subscriptions, KEYS)
      state.confirmed = (key) =>
        key === KEYS[0]
          ? new ElectrumError({ code: CODE.historyTooLong, message: "history too large" })
          : Effect.succeed([entry(1)])
      state.count++
      yield* pass
      yield* readsSeen(3)
      yield* eventually("the others are told", Effect.sync(() => reader.told.length === 2))
      assert.deepStrictEqual(KEYS.map((key) => subscriptions.has(key)), [false, true, true])
      assert.isFalse(subscriptions.isDue)
    }))

  it.scoped("tells a block while a history is read", () =>
    Effect.gen(function*() {
      const { headers, pass, readsSeen, state, subscriptions, tips } = yield* notified
      follow(subscriptions, KEYS)
      state.confirmed = () => Effect.never
      state.count++
      yield* pass
      yield* readsSeen(1)
      state.tip = 1
      yield* Queue.offer(tips, undefined)
      yield* eventually("the block is told", Effect.sync(() => headers.length === 1))
    }))

  it.scoped("lives on after a defect, and tells the others", () =>
    Effect.gen(function*() {
      const { pass, readsSeen, state, subscriptions } = yield* notified
      const reader = follow(subscriptions, KEYS)
      state.confirmed = (key) => key === KEYS[0] ? Effect.die("broken") : Effect.succeed([entry(1)])
      state.count++
      yield* pass
      yield* readsSeen(1)
      yield* pass
      yield* eventually("the others are told", Effect.sync(() => reader.told.length === 2))
    }))
})
