import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { followLive, type LiveStep, pageAfterLive } from "../../../src/mempool/live/followLive.ts"
import { LiveReader } from "../../../src/mempool/live/LiveReader.ts"
import { PendingLog } from "../../../src/mempool/live/PendingLog.ts"
import { BEGINNING } from "../../../src/names/events/EventCursor.ts"
import type { LiveEvent } from "../../../src/names/events/LiveEvent.ts"
import type { EventPage } from "../../../src/names/events/NameEvents.ts"
import { EMPTY } from "../../../src/protocol/bytes.ts"
import { text } from "../../names/blocks.ts"

const pending: LiveEvent = {
  type: "pending",
  operation: {
    kind: "updated",
    name: text("d/a"),
    value: EMPTY,
    txid: new Uint8Array(32),
    vout: 0,
    address: EMPTY,
    ownerBefore: undefined,
    keepsValue: false
  }
}

const shown = ({ live, page }: LiveStep): string =>
  [...page === undefined ? [] : [`block ${page.height}`], ...live.map(({ type }) => type)].join(" ")

const blockAt = (height: number): EventPage => ({
  events: [{ type: "block", cursor: BEGINNING, height, hash: EMPTY, time: 0 }],
  next: { ...BEGINNING, height },
  isEnd: true,
  height
})

/** The first steps of a reader; `meanwhile` runs while the page behind a height is read. */
const stepsOf = (count: number, log: PendingLog, meanwhile: (height: number) => void) =>
  Effect.gen(function*() {
    let reads = 0
    const names = {
      newsWithin: () => Effect.succeed(true),
      page: ({ height }: { readonly height: number }) =>
        Effect.sync(() => {
          reads++
          meanwhile(height)
          return blockAt(height + 1)
        })
    }
    const parts = {
      log,
      list: () => Effect.succeed({ events: [], isEnd: true }),
      synced: Effect.succeed(0),
      newsWithin: () => Effect.never
    }
    const reader = new LiveReader(parts, { kinds: new Set(["pending", "synced"]), filter: {} })
    const steps = followLive(names, reader, { from: BEGINNING, options: { notices: false, blocks: true } })
    const seen = yield* Stream.runCollect(Stream.take(steps, count))
    return { shown: Chunk.toReadonlyArray(seen).map(shown), reads }
  })

describe("followLive", () => {
  it.effect("has an operation before the block that has it, even if both come while the page is read", () =>
    Effect.gen(function*() {
      const log = new PendingLog(10)
      const seen = yield* stepsOf(4, log, (height) => {
        // The operation, and the block with it, come after the reader took what there was.
        if (height === 0) log.add(pending)
      })
      assert.deepStrictEqual(seen, { shown: ["block 0 synced", "pending_reset", "pending", "block 1"], reads: 2 })
    }))

  it.effect("has each page that is read, although operations come faster than pages", () =>
    Effect.gen(function*() {
      const log = new PendingLog(10)
      const seen = yield* stepsOf(8, log, () => log.add(pending))
      assert.deepStrictEqual(seen, {
        shown: [
          "block 0 synced",
          "pending_reset",
          ...[1, 2, 3].flatMap((height) => ["pending", `block ${height}`])
        ],
        reads: 4
      })
    }))
})

describe("pageAfterLive", () => {
  it.effect("tells before a page what the log had when it was read, and no more", () =>
    Effect.gen(function*() {
      const log = new PendingLog(1_000)
      const parts = {
        log,
        list: () => Effect.succeed({ events: [], isEnd: true }),
        synced: Effect.succeed(0),
        newsWithin: () => Effect.never
      }
      const live = new LiveReader(parts, { kinds: new Set(["pending"]), filter: {} })
      yield* live.after(blockAt(0))
      while (live.isListing) yield* live.take
      for (let i = 0; i < 250; i++) log.add(pending)
      const told: Array<number> = []
      const options = { notices: false, blocks: true }
      const read = { page: () => Effect.succeed(blockAt(1)) }
      // While a slow reader gets some, as many more come.
      const tell = (events: ReadonlyArray<LiveEvent>) =>
        Effect.sync(() => {
          told.push(events.length)
          for (const event of events) log.add(event)
        })
      const page = yield* pageAfterLive(read, { from: BEGINNING, live, options, tell })
      assert.deepStrictEqual([page?.height, told, live.isBehind], [1, [100, 100, 50], true])
    }))
})
