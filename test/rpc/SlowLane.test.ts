import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber } from "effect"
import { mapSteps } from "../../src/protocol/steps.ts"
import { eachInTurns, inTurns, readInTurns, readSteps } from "../../src/rpc/method/inTurns.ts"
import { type Read, RpcError } from "../../src/rpc/method/RpcError.ts"
import { type CallTurns, SlowLane } from "../../src/rpc/SlowLane.ts"

/** A lane whose clock advances only with work, and the work done in each turn of the event loop. */
const laneWithClock = () => {
  let now = 0
  const lane = new SlowLane(() => now)
  const turns: Array<Array<string>> = [[]]
  let over = false
  const count = (): void => {
    if (over) return
    turns.push([])
    setImmediate(count)
  }
  setImmediate(count)
  const work = (caller: string, milliseconds: number): void => {
    now += milliseconds
    turns.at(-1)?.push(caller)
  }
  /** A call that works `steps` times for a millisecond each. */
  const call = (caller: string, steps: number, mine: CallTurns = lane.open()): Effect.Effect<void> =>
    Effect.zipRight(
      mine.next,
      Effect.asVoid(inTurns(mine, mapSteps(Array.from({ length: steps }), () => work(caller, 1))))
    )
  const stop = Effect.sync(() => {
    over = true
  })
  return { lane, turns, call, work, stop }
}

describe("the slow lane", () => {
  it.scopedLive("gives all costly calls together one millisecond of a turn of the event loop", () =>
    Effect.gen(function*() {
      const { call, stop, turns } = laneWithClock()
      yield* Effect.addFinalizer(() => stop)
      yield* Effect.all(Array.from({ length: 100 }, (_, at) => call(String(at), 7)), { concurrency: "unbounded" })
      for (const done of turns) assert.isAtMost(done.length, 2)
      assert.strictEqual(turns.flat().length, 700)
    }))

  it.scopedLive("lets a call begin at once if no other works", () =>
    Effect.gen(function*() {
      const { call, stop, turns } = laneWithClock()
      yield* Effect.addFinalizer(() => stop)
      yield* call("only", 1)
      assert.deepStrictEqual(turns[0], ["only"])
    }))

  it.scopedLive("gives callers with little work a turn before the second turn of callers with much work", () =>
    Effect.gen(function*() {
      const { call, stop, turns } = laneWithClock()
      yield* Effect.addFinalizer(() => stop)
      const long = yield* Effect.forkAll(Array.from({ length: 50 }, () => call("long", 100)))
      // Each of the long calls has had its 20 ms.
      while (turns.flat().length < 50 * 30) {
        yield* Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
      }
      const before = turns.flat().length
      yield* call("short", 4)
      assert.isAtMost(turns.flat().length - before, 30)
      yield* Fiber.interrupt(long)
    }))

  it.scopedLive("removes a call that is interrupted while it waits", () =>
    Effect.gen(function*() {
      const { call, lane, stop, turns, work } = laneWithClock()
      yield* Effect.addFinalizer(() => stop)
      const first = lane.open()
      assert.isFalse(first.isOver())
      work("first", 10)
      const waiting = yield* Effect.fork(call("ended", 1))
      const next = yield* Effect.fork(call("next", 1))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting)
      yield* Fiber.join(next)
      assert.deepStrictEqual(turns.flat(), ["first", "next"])
    }))
})

describe("work in turns", () => {
  it.effect("fails with the first refusal of a reader, reads nothing after it, and dies with any exception", () =>
    Effect.gen(function*() {
      const turns = new SlowLane().open()
      const seen: Array<number> = []
      const read = (n: number): Read<number> => {
        seen.push(n)
        return n < 3 ? Either.right(n * 10) : Either.left(RpcError.misc(`no ${n}`))
      }
      assert.deepStrictEqual(yield* readInTurns(turns, readSteps([1, 2], read)), [10, 20])
      assert.strictEqual((yield* Effect.flip(readInTurns(turns, readSteps([2, 3, 4], read)))).message, "no 3")
      assert.deepStrictEqual(seen, [1, 2, 2, 3])
      const broken = readSteps([1], (): Read<number> => {
        throw RpcError.misc("thrown")
      })
      const exit = yield* Effect.exit(readInTurns(turns, broken))
      assert.isTrue(exit._tag === "Failure" && exit.cause._tag === "Die")
    }))

  it.effect("runs effects in their order, with a turn of the event loop before each late one", () =>
    Effect.gen(function*() {
      let waited = 0
      const turns: CallTurns = { isOver: () => true, next: Effect.sync(() => void waited++) }
      const made = yield* eachInTurns(turns, ["a", "b", "c"], (item, at) => Effect.succeed(`${item}${at}`))
      assert.deepStrictEqual(made, ["a0", "b1", "c2"])
      assert.strictEqual(waited, 3)
    }))
})
