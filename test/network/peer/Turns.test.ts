import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { FiberTime } from "../../../src/network/peer/FiberTime.ts"
import { RecentTime, Turns } from "../../../src/network/peer/Turns.ts"

/** One turn of the event loop. */
const nextTurn = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))

describe("Turns", () => {
  it.effect("peers continue at once while they take little, and otherwise wait for the next turn", () =>
    Effect.gen(function*() {
      const turns = new Turns(() => 0)
      const taker = new RecentTime(false)
      let taken = 0
      const peer = Effect.forever(Effect.map(turns.take(taker), () => {
        taken += 1
        turns.spent(1)
      }))
      const fiber = yield* Effect.fork(peer)
      // Fibers get turns, but the event loop does not.
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      assert.strictEqual(taken, 2)
      yield* nextTurn
      yield* nextTurn
      assert.isAtMost(taken, 8)
      assert.isAbove(taken, 2)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("large messages of inbound peers are handled one at a time, and those of outbound peers at once", () =>
    Effect.gen(function*() {
      const turns = new Turns(() => 0)
      const events: Array<string> = []
      const release = yield* Deferred.make<void>()
      const handle = (name: string, chosen: boolean) => {
        const handling = Effect.zipRight(Effect.sync(() => events.push(name)), Deferred.await(release))
        return Effect.fork(turns.alone(new RecentTime(chosen), handling))
      }
      const fibers = [
        yield* handle("a", false),
        yield* handle("b", false),
        yield* handle("gone", false),
        yield* handle("chosen", true)
      ]
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      assert.deepStrictEqual(events, ["a", "chosen"])
      const [, , gone] = fibers
      if (gone !== undefined) yield* Fiber.interrupt(gone)
      yield* Deferred.succeed(release, undefined)
      for (const fiber of fibers) yield* Fiber.await(fiber)
      assert.deepStrictEqual(events, ["a", "chosen", "b"])
    }))

  it.effect("one outbound and one inbound peer run first, and the peer with the most recent time runs last", () =>
    Effect.gen(function*() {
      const turns = new Turns(() => 0)
      const order: Array<string> = []
      const join = (name: string, chosen: boolean, spent: number) => {
        const taker = new RecentTime(chosen)
        taker.spent(spent, 0)
        return Effect.fork(Effect.map(turns.take(taker), () => {
          order.push(name)
          turns.spent(10)
        }))
      }
      turns.spent(10)
      const fibers = [
        yield* join("flooder", false, 5_000),
        yield* join("half a flooder", false, 2_000),
        yield* join("honest", false, 3),
        yield* join("new", false, 0),
        yield* join("outbound", true, 9_000)
      ]
      for (const fiber of fibers) yield* Fiber.join(fiber)
      assert.deepStrictEqual(order, ["outbound", "honest", "new", "half a flooder", "flooder"])
    }))

  it.effect("a peer with a ping runs before peers with as little time but a full buffer", () =>
    Effect.gen(function*() {
      const turns = new Turns(() => 0)
      const order: Array<string> = []
      const join = (name: string, bytes: number) => {
        const taker = new RecentTime(false)
        taker.spent(2, 0)
        return Effect.fork(Effect.map(turns.take(taker, bytes), () => {
          order.push(name)
          turns.spent(10)
        }))
      }
      turns.spent(10)
      const fibers = [yield* join("first flooder", 0x10000), yield* join("second", 0x10000), yield* join("honest", 32)]
      for (const fiber of fibers) yield* Fiber.join(fiber)
      assert.deepStrictEqual(order, ["honest", "first flooder", "second"])
    }))

  it.effect("each of a hundred peers that flood 5 ms each gets a turn, and an honest peer gets one within two", () =>
    Effect.gen(function*() {
      let now = 0
      let turn = 0
      const turns = new Turns(() => now)
      const served = Array.from({ length: 95 }, () => 0)
      for (let i = 0; i < 95; i++) {
        const taker = new RecentTime(false)
        yield* Effect.fork(Effect.forever(Effect.map(turns.take(taker), () => {
          served[i] = (served[i] ?? 0) + 1
          now += 5
          taker.spent(5, now)
          turns.spent(5)
        })))
      }
      for (; turn < 1_000; turn++) yield* nextTurn
      assert.isAbove(Math.min(...served), 3)
      assert.isBelow(Math.max(...served), 40)
      const honest = yield* Effect.fork(turns.take(new RecentTime(false)))
      const before = now
      yield* Fiber.join(honest)
      assert.isAtMost(now - before, 15)
    }))

  it("recent time decays by half-life", () => {
    const taker = new RecentTime(false)
    taker.spent(100, 0)
    assert.approximately(taker.recent(10_000), 50, 0.01)
    taker.spent(50, 10_000)
    assert.approximately(taker.recent(30_000), 25, 0.01)
  })
})

describe("FiberTime", () => {
  it.effect("FiberTime measures a fiber and its races, and not other fibers while it waits", () =>
    Effect.gen(function*() {
      let now = 0
      const time = new FiberTime(() => now)
      const work = Effect.sync(() => void (now += 3))
      const measured = Effect.gen(function*() {
        yield* nextTurn
        yield* work
        assert.strictEqual(time.ran, 3)
        yield* nextTurn
        yield* Effect.raceFirst(Effect.zipRight(Effect.yieldNow(), work), Effect.never)
      })
      const fiber = yield* Effect.fork(time.measured(measured))
      for (let i = 0; i < 3; i++) {
        yield* Effect.yieldNow()
        now += 100
        yield* nextTurn
      }
      yield* Fiber.join(fiber)
      assert.isAtLeast(time.ran, 6)
      assert.isBelow(time.ran, 100)
    }))

  it.effect("a peer waits if the peer before it used up the event-loop turn and then suspended", () =>
    Effect.gen(function*() {
      let now = 0
      const order: Array<string> = []
      const turns = new Turns(() => now)
      const read = (name: string) => {
        let noted = 0
        const time: FiberTime = new FiberTime(() => now, () => {
          turns.spent(time.ran - noted)
          noted = time.ran
        })
        const step = Effect.sync(() => {
          order.push(name)
          now += 20
        })
        return Effect.fork(
          time.measured(nextTurn.pipe(
            Effect.zipRight(turns.take(new RecentTime(false))),
            Effect.zipRight(step),
            Effect.zipRight(nextTurn)
          ))
        )
      }
      const fibers = [yield* read("a"), yield* read("b"), yield* read("c")]
      yield* Effect.yieldNow()
      yield* nextTurn
      assert.deepStrictEqual(order, ["a"])
      for (const fiber of fibers) yield* Fiber.join(fiber)
      assert.deepStrictEqual(order, ["a", "b", "c"])
    }))
})
