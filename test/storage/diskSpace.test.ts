import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { DataHealth, layer } from "../../src/storage/DataHealth.ts"
import { checkDisk, LEAST_FREE, LOW, watchDisk } from "../../src/storage/diskSpace.ts"

/** Watches a disk whose free bytes are given look by look; the last one stays. Returns the notices after each look. */
const watch = (looks: ReadonlyArray<number | undefined>) =>
  Effect.gen(function*() {
    const { notices } = yield* DataHealth
    let look = 0
    const free = () => Effect.sync(() => looks[Math.min(look++, looks.length - 1)])
    const fiber = yield* Effect.fork(watchDisk("/data", free))
    const seen: Array<number> = []
    for (const _ of looks) {
      yield* TestClock.adjust("30 seconds")
      seen.push((yield* notices).length)
    }
    return { end: yield* Fiber.poll(fiber), fiber, seen, notices: yield* notices }
  })

describe("watchDisk", () => {
  it.effect("warns once while little is left, and withdraws the warning with room to spare", () =>
    Effect.gen(function*() {
      const { end, fiber, seen } = yield* watch([5 * LOW, LOW - 1, LOW / 2, LOW + 1, 5 * LOW, undefined, LOW - 1])
      assert.deepStrictEqual(seen, [0, 1, 1, 1, 0, 0, 1])
      assert.isTrue(end._tag === "None")
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer)))

  it.effect("names the directory and what is left", () =>
    Effect.gen(function*() {
      const { fiber, notices } = yield* watch([320_400_000])
      assert.deepStrictEqual(notices, [
        { what: "disk space", reason: "320 MB are left in /data; svcd stops below 50 MB" }
      ])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer)))

  it.effect("fails below the least, with the remedy, and not at the least itself", () =>
    Effect.gen(function*() {
      const { fiber, seen } = yield* watch([LEAST_FREE, LEAST_FREE - 1])
      assert.deepStrictEqual(seen, [1, 1])
      const { message } = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(
        message,
        "writing to /data failed: the disk is nearly full, with 49 MB left of the 50 MB that svcd needs: " +
          "make room and start again"
      )
    }).pipe(Effect.provide(layer)))

  it.effect("says nothing of a path whose disk the system does not know", () =>
    Effect.gen(function*() {
      const { notices } = yield* DataHealth
      const fiber = yield* Effect.fork(watchDisk("/nowhere/at/all"))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* notices, [])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer)))
})

describe("checkDisk", () => {
  it.effect("looks at the nearest folder that exists, and fails below the least", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const free = (left: number | undefined) => (path: string) => Effect.sync(() => (asked.push(path), left))
      const { message } = yield* Effect.flip(checkDisk("/nowhere/at/all", free(3_000_000)))
      assert.strictEqual(
        message,
        "writing to /nowhere/at/all failed: the disk is nearly full, with 3 MB left of the 50 MB that svcd needs: " +
          "make room and start again"
      )
      yield* checkDisk("/", free(LEAST_FREE))
      yield* checkDisk("/", free(undefined))
      assert.deepStrictEqual(asked, ["/", "/", "/"])
    }))
})
