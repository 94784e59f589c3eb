import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import type { Lines } from "../../src/rpc/DocumentLines.ts"
import { eventFeed } from "../../src/rpc/eventFeed.ts"
import { RpcUnreachable } from "../../src/rpc/RpcClient.ts"
import { eventually } from "../support/eventually.ts"

const lost = new RpcUnreachable({ address: "127.0.0.1:1", code: "ECONNRESET", wasSent: true })

const line = (cursor: string) => JSON.stringify({ type: "updated", cursor })

interface Opened {
  readonly from: string | undefined
}

/** Connections one after the other: what each says before it breaks, or why it cannot be made. */
const daemon = (connections: ReadonlyArray<ReadonlyArray<Lines> | "away" | "gone">) => {
  const opened: Array<Opened> = []
  let open = 0
  return {
    opened,
    isOpen: () => open,
    open: (from: string | undefined) =>
      Effect.gen(function*() {
        const said = connections[opened.length] ?? "gone"
        opened.push({ from })
        if (typeof said === "string") return yield* Effect.fail(said)
        yield* Effect.acquireRelease(Effect.sync(() => void open++), () => Effect.sync(() => void open--))
        return Stream.concat(Stream.fromIterable(said), Stream.fail(lost))
      })
  }
}

const mayPass = (failure: "away" | "gone"): boolean => failure === "away"

describe("the feed of events", () => {
  it.live("goes on behind the last line after each lost connection, and leaves none open", () =>
    Effect.gen(function*() {
      const fake = daemon([
        [[line("1"), line("2")], ["{\"type\":\"error\"}", "no json", "[]"]],
        "away",
        [[line("3")]],
        "gone"
      ])
      const seen: Array<string | undefined> = []
      const feed = eventFeed({ from: "0", mayPass, open: fake.open, firstPause: 1 })
      const failure = yield* Effect.flip(
        Stream.runForEach(feed, ({ cursor }) => Effect.sync(() => void seen.push(cursor)))
      )
      assert.strictEqual(failure, "gone")
      assert.deepStrictEqual(seen, ["1", "2", "3"])
      assert.deepStrictEqual(fake.opened.map(({ from }) => from), ["0", "2", "2", "3"])
      assert.strictEqual(fake.isOpen(), 0)
    }))

  it.live("has events of the moment, which do not move its place", () =>
    Effect.gen(function*() {
      const now = (type: string) => JSON.stringify({ type })
      const fake = daemon([[[line("1"), now("pending")]], [[now("synced"), line("2")], [now("pending_reset")]], "gone"])
      const seen: Array<unknown> = []
      const feed = eventFeed({ from: "0", mayPass, open: fake.open, firstPause: 1 })
      yield* Effect.flip(Stream.runForEach(feed, ({ event }) => Effect.sync(() => void seen.push(event["type"]))))
      assert.deepStrictEqual(seen, ["updated", "pending", "synced", "updated", "pending_reset"])
      assert.deepStrictEqual(fake.opened.map(({ from }) => from), ["0", "1", "2"])
    }))

  it.effect("fails at once if the first connection cannot be made", () =>
    Effect.gen(function*() {
      const fake = daemon(["away"])
      const feed = eventFeed({ from: undefined, mayPass, open: fake.open })
      assert.strictEqual(yield* Effect.flip(Stream.runDrain(feed)), "away")
      assert.deepStrictEqual(fake.opened, [{ from: undefined }])
    }))

  it.effect("does not call a daemon that ends each connection without a pause", () =>
    Effect.gen(function*() {
      const fake = daemon([[[line("1")]], [[line("2")]], "gone"])
      const feed = eventFeed({ from: undefined, mayPass, open: fake.open, firstPause: 1_000 })
      const reading = yield* Effect.fork(Stream.runCollect(Stream.take(feed, 2)))
      yield* eventually("a pause", Effect.map(TestClock.sleeps(), Chunk.isNonEmpty))
      assert.strictEqual(fake.opened.length, 1)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(reading)).map(({ cursor }) => cursor), ["1", "2"])
    }))
})
