import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { followLive, type LiveStep } from "../../../src/mempool/live/followLive.ts"
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
    ownerBefore: undefined
  }
}

const shown = ({ live, page }: LiveStep): string =>
  [...page === undefined ? [] : [`block ${page.height}`], ...live.map(({ type }) => type)].join(" ")

describe("followLive", () => {
  it.effect("has an operation before the block that has it, also if both come while the page is read", () =>
    Effect.gen(function*() {
      const log = new PendingLog(10)
      const block = (height: number, isEnd: boolean): EventPage => ({
        events: [{ type: "block", cursor: BEGINNING, height, hash: EMPTY, time: 0 }],
        next: { ...BEGINNING, height },
        isEnd,
        height
      })
      let reads = 0
      const names = {
        newsWithin: () => Effect.succeed(true),
        page: ({ height }: { readonly height: number }) =>
          Effect.sync(() => {
            reads++
            // The operation, and the block with it, come after the reader took what there was.
            if (height === 0 && log.end === 0) log.add(pending)
            return block(height + 1, true)
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
      const seen = yield* Stream.runCollect(Stream.take(steps, 4))
      assert.deepStrictEqual(Chunk.toReadonlyArray(seen).map(shown), [
        "block 0 synced",
        "pending_reset",
        "pending",
        "block 1"
      ])
      // Once more for the page that came too early.
      assert.strictEqual(reads, 3)
    }))
})
