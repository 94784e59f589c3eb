import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Stream } from "effect"
import { BEGINNING, cursorText, type EventCursor } from "../../../src/names/events/EventCursor.ts"
import { binaryString } from "../../../src/protocol/bytes.ts"
import { applyAll, text } from "../blocks.ts"
import { branchOf, name, rand, withBlocks } from "./eventBlocks.ts"
import { type Branches, readAll, Replica } from "./world.ts"

describe("a cursor", () => {
  const why = (events: ReturnType<Branches["events"]>, at: EventCursor) =>
    Effect.map(
      Effect.flip(events.page(at, { notices: false })),
      (failure) => failure._tag === "CursorUnusable" ? failure.why : failure._tag
    )

  it.effect("that is damaged or of an unknown block is refused with the oldest one that can be used", () =>
    withBlocks([[{ name, rand }], []], ({ blocks, events }) =>
      Effect.gen(function*() {
        for (const damaged of ["", "1", "a0000001.00000000.0123456789abcdeg", "a0000001.99999999.0123456789abcdef"]) {
          const failure = yield* Effect.flip(events.cursor(damaged))
          assert.deepStrictEqual([failure.why, failure.oldest], ["damaged", "0"])
        }
        const tip = yield* events.now
        assert.deepStrictEqual(yield* events.cursor(cursorText(tip)), tip)
        assert.strictEqual(yield* why(events, { ...tip, block: "0123456789abcdef" }), "unknown")
        assert.strictEqual(yield* why(events, { ...tip, height: blocks.length }), "future")
        const future = yield* Effect.flip(events.page({ ...tip, height: 9_999_999 }, { notices: false }))
        assert.include(future.message, `above the node's last known block (${blocks.length - 1}); retry later`)
      })))

  it.effect("of a block that left the chain and is not stored any more is refused", () =>
    withBlocks([[], [{ name, rand }]], ({ blocks, branches, db, events }) =>
      Effect.gen(function*() {
        const at = yield* events.now
        const [fork, gone] = blocks
        if (fork === undefined || gone === undefined) return
        const [other] = branchOf("other", [[]], 1)
        if (other === undefined) return
        branches.add([other], fork)
        branches.tip = other
        branches.lost.add(binaryString(gone.hash))
        yield* db.follower.rewind(fork)
        yield* applyAll(db, [[other]])
        assert.strictEqual(yield* why(events, at), "pruned")
      })))

  it.effect("of a block that names do not reach yet waits, and goes on once they do", () =>
    withBlocks([[], [{ name, rand }], [{ name }]], ({ blocks, branches, db, events }) =>
      Effect.gen(function*() {
        const [first, second, third] = blocks
        if (first === undefined || second === undefined || third === undefined) return
        branches.tip = second
        yield* db.follower.rewind(second)
        const at = yield* events.now
        branches.tip = third
        yield* db.follower.rewind(first)
        const waiting = yield* Effect.fork(Stream.runHead(events.follow(at, { notices: false })))
        const page = yield* events.page(at, { notices: false })
        assert.deepStrictEqual([page.events, page.isEnd, page.next], [[], true, at])
        yield* applyAll(db, [[second]])
        yield* applyAll(db, [[third]])
        const heard = Option.getOrThrow(yield* Fiber.join(waiting))
        assert.deepStrictEqual(heard.events.map(({ height, type }) => [height, type]), [[2, "updated"]])
      })))

  it.effect("of several readers at one place is read once until names change, unless its page takes many megabytes", () =>
    withBlocks([[], [{ name, rand }], [{ name }]], ({ blocks, branches, db, events }) =>
      Effect.gen(function*() {
        const options = { notices: false }
        const small = yield* events.page(BEGINNING, options)
        assert.strictEqual(yield* events.page(BEGINNING, options), small)
        const next = branchOf("shared", [...blocks.map(() => []), [{ name, value: new Uint8Array(3_000_000) }]], 0)
          .slice(-1)
        branches.add(next, blocks.at(-1))
        branches.tip = next.at(-1)
        yield* applyAll(db, [next])
        const large = yield* events.page(BEGINNING, options)
        assert.notStrictEqual(large, small)
        const again = yield* events.page(BEGINNING, options)
        assert.notStrictEqual(again, large)
        assert.deepStrictEqual(again, large)
      })))

  it.effect("of now is behind the last block of the chain, even while names.db is written again", () =>
    withBlocks([[], [{ name, rand }], [{ name }]], ({ blocks, branches, db, events }) =>
      Effect.gen(function*() {
        const [first, ...others] = blocks
        const whole = yield* events.now
        if (first === undefined) return
        yield* db.follower.rewind(first)
        const at = yield* events.now
        assert.deepStrictEqual(at, whole)
        yield* applyAll(db, [others])
        assert.deepStrictEqual((yield* events.page(at, { notices: false })).events, [])
        const next = branchOf("shared", [...blocks.map(() => []), [{ name }]], 0).slice(-1)
        branches.add(next, blocks.at(-1))
        branches.tip = next.at(-1)
        yield* applyAll(db, [next])
        const { events: heard } = yield* events.page(at, { notices: false })
        assert.deepStrictEqual(heard.map(({ height }) => height), [3])
      })))

  it.effect("within the names of a block that is being undone goes on with the others", () =>
    withBlocks(
      [[], Array.from({ length: 1_500 }, (_, i) => ({ name: text(`d/${i}`), rand }))],
      (world) =>
        Effect.gen(function*() {
          const { blocks: [fork], branches, db, events } = world
          const at = yield* events.now
          if (fork === undefined) return
          branches.tip = fork
          branches.failed.add(at.block)
          yield* db.follower.rewind(fork)
          const pages = yield* readAll(events, at)
          const names = pages.map(({ events }) =>
            events.map((event) => event.type === "undone" ? event.names.length : 0)
          )
          assert.deepStrictEqual(names, [[1_000], [500], []])
          const replica = new Replica()
          pages.forEach((page) => replica.take(page))
          assert.strictEqual(replica.seen.length, 2)
        })
    ))
})
