import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { LiveReader, type PendingPart } from "../../../src/mempool/live/LiveReader.ts"
import { PendingLog } from "../../../src/mempool/live/PendingLog.ts"
import { readFilter } from "../../../src/names/events/filterTexts.ts"
import type { LiveKind } from "../../../src/names/events/kinds.ts"
import { type LiveEvent, type LiveWanted, wantsLive } from "../../../src/names/events/LiveEvent.ts"
import { EMPTY } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { text } from "../../names/blocks.ts"

const ALICE = Uint8Array.of(1)
const BOB = Uint8Array.of(2)

const pending = (name: string | Uint8Array, ownerBefore?: Uint8Array): LiveEvent => ({
  type: "pending",
  operation: {
    kind: "updated",
    name: typeof name === "string" ? text(name) : name,
    value: EMPTY,
    txid: new Uint8Array(32),
    vout: 0,
    address: BOB,
    ownerBefore,
    keepsValue: false
  }
})

const shown = (events: ReadonlyArray<LiveEvent>): string =>
  events.map((event) => "operation" in event ? Buffer.from(event.operation.name).toString() : event.type).join()

/** A reader of a log of four events, and of lists that are taken from `waiting`. */
const world = (kinds: ReadonlyArray<LiveKind>, filter: LiveWanted["filter"] = {}) => {
  const log = new PendingLog(4)
  const waiting: Array<LiveEvent> = []
  const state = { synced: undefined as number | undefined, lists: 0, waited: 0 }
  const list = (): Effect.Effect<PendingPart> => {
    state.lists++
    let at = 0
    return Effect.sync(() => {
      const events = waiting.slice(at, ++at)
      return { events, isEnd: at >= waiting.length }
    })
  }
  const reader = new LiveReader({
    log,
    list,
    synced: Effect.sync(() => state.synced),
    newsWithin: (milliseconds) => Effect.sync(() => (state.waited = milliseconds) > 0)
  }, { kinds: new Set(kinds), filter })
  const END = { height: 7, isEnd: true }
  return { log, waiting, state, reader, end: reader.after(END), isEnd: END }
}

describe("PendingLog", () => {
  it("has the last events, and says which are gone", () => {
    const log = new PendingLog(3)
    assert.isTrue(log.reaches(0))
    assert.isUndefined(log.behind(0))
    for (const name of ["a", "b", "c"]) log.add(pending(name))
    assert.isTrue(log.reaches(0))
    log.add(pending("d"))
    assert.deepStrictEqual([log.reaches(0), log.reaches(1), log.end], [false, true, 4])
    assert.deepStrictEqual(
      [1, 2, 3, 4].map((place) => log.behind(place)).map((event) => event && shown([event])),
      ["b", "c", "d", undefined]
    )
  })
})

describe("LiveReader", () => {
  it.effect("begins with all that wait when the reader has all blocks, and then has each event once", () =>
    Effect.gen(function*() {
      const { end, log, reader, waiting } = world(["pending"])
      waiting.push(pending("a"), pending("b"))
      log.add(pending("a"))
      assert.deepStrictEqual(yield* reader.after({ height: 3, isEnd: false }), [])
      assert.deepStrictEqual([reader.isBehind, yield* reader.take], [false, []])
      assert.deepStrictEqual(yield* end, [])
      assert.isTrue(reader.isBehind)
      assert.strictEqual(shown(yield* reader.take), "pending_reset")
      log.add(pending("c"))
      assert.strictEqual(shown(yield* reader.take), "a")
      assert.strictEqual(shown(yield* reader.take), "b")
      assert.isTrue(reader.isBehind)
      assert.strictEqual(shown(yield* reader.take), "c")
      assert.deepStrictEqual([reader.isBehind, yield* reader.take], [false, []])
      // An event between the last look and the next page of blocks comes before that page.
      log.add(pending("d"))
      assert.isTrue(reader.isBehind)
      assert.strictEqual(shown(yield* reader.take), "d")
    }))

  it.effect("begins again when it fell behind the log, after the blocks", () =>
    Effect.gen(function*() {
      const { end, log, reader, state, waiting } = world(["pending"])
      yield* end
      yield* reader.take
      assert.deepStrictEqual(yield* reader.take, [])
      for (const name of ["a", "b", "c", "d", "e"]) log.add(pending(name))
      waiting.push(pending("e"))
      assert.deepStrictEqual(yield* reader.take, [])
      // Pages of blocks come in the meantime.
      assert.isFalse(reader.isBehind)
      yield* end
      assert.strictEqual(shown(yield* reader.take), "pending_reset")
      assert.strictEqual(shown(yield* reader.take), "e")
      assert.strictEqual(state.lists, 2)
    }))

  it.effect("begins again also when the list itself takes too long", () =>
    Effect.gen(function*() {
      const { end, log, reader, waiting } = world(["pending"])
      waiting.push(pending("a"), pending("b"))
      yield* end
      yield* reader.take
      assert.strictEqual(shown(yield* reader.take), "a")
      for (let i = 0; i < 5; i++) log.add(pending(`x${i}`))
      assert.deepStrictEqual([yield* reader.take, reader.isBehind], [[], false])
    }))

  it.effect("leaves out what the reader does not want, and lists nothing for drops alone", () =>
    Effect.gen(function*() {
      const { end, log, reader, state } = world(["pending_dropped"], { prefixes: [text("d/")] })
      yield* end
      assert.strictEqual(shown(yield* reader.take), "pending_reset")
      const dropped = (name: string): LiveEvent => {
        const event = pending(name)
        return event.type === "pending" ? { ...event, type: "pending_dropped", reason: "replaced" } : event
      }
      for (const event of [pending("d/a"), dropped("id/a"), dropped("d/b")]) log.add(event)
      assert.strictEqual(shown(yield* reader.take), "d/b")
      assert.strictEqual(state.lists, 0)
    }))

  it.effect("says once that the node has caught up, at the height that the reader has", () =>
    Effect.gen(function*() {
      const { end, reader, state } = world(["synced"])
      yield* reader.newsWithin(15_000)
      assert.strictEqual(state.waited, 1_000)
      assert.deepStrictEqual(yield* end, [])
      state.synced = 8
      assert.deepStrictEqual(yield* end, [])
      state.synced = 7
      assert.deepStrictEqual(yield* reader.after({ height: 7, isEnd: false }), [])
      assert.deepStrictEqual(yield* end, [{ type: "synced", height: 7 }])
      assert.deepStrictEqual(yield* end, [])
      assert.isFalse(reader.isBehind)
      yield* reader.newsWithin(15_000)
      assert.strictEqual(state.waited, 15_000)
    }))
})

describe("wantsLive", () => {
  it("applies names, prefixes and owners to operations that wait, the owner before too", () => {
    const wants = (filter: LiveWanted["filter"], event: LiveEvent) =>
      wantsLive({ kinds: new Set(["pending"]), filter }, event)
    const event = pending("d/a", ALICE)
    assert.isTrue(wants({}, event))
    assert.isTrue(wants({ names: [text("d/a")] }, event))
    assert.isFalse(wants({ names: [text("d/")] }, event))
    assert.isFalse(wants({ prefixes: [text("id/")] }, event))
    for (const owner of [ALICE, BOB]) assert.isTrue(wants({ owners: [owner] }, event))
    assert.isFalse(wants({ owners: [Uint8Array.of(3)] }, event))
    assert.isTrue(wants({ concerns: ({ owner }) => owner === ALICE }, event))
    // Kinds of blocks say nothing about them.
    assert.isTrue(wants({ kinds: [] }, event))
    assert.isFalse(wantsLive({ kinds: new Set(["synced"]), filter: {} }, event))
    // A name without a character of text, and the empty one.
    assert.isTrue(wants({ prefixes: [Uint8Array.of(0xff)] }, pending(Uint8Array.of(0xff, 0, 10))))
    assert.isTrue(wants({ names: [EMPTY] }, pending(EMPTY)))
  })

  it("is not part of the filter of a webhook", () => {
    const filter = readFilter(
      { names: [], prefixes: [], owners: [], types: ["pending"] },
      { network: regtest, nameEncoding: "ascii" }
    )
    assert.include(filter._tag === "Left" ? filter.left : "", "\"pending\" has no cursor")
  })
})
