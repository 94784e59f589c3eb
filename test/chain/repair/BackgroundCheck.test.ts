import { assert, describe } from "@effect/vitest"
import { Clock, type Duration, Effect, Layer, Logger } from "effect"
import * as BackgroundCheck from "../../../src/chain/repair/BackgroundCheck.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import { pass, simulated } from "../../support/simulated.ts"

const TOTAL = 10

/** A part of some units, three per step, and the list of its checks. */
const part = (what: string, total = TOTAL) => {
  const seen: Array<number> = []
  return {
    seen,
    what,
    unit: "things",
    total: Effect.succeed(total),
    check: (from: number) =>
      Effect.sync(() => {
        seen.push(from)
        return from + 3 >= total ? undefined : from + 3
      })
  }
}

const setting = (status: { loading: boolean; share?: number }) =>
  BackgroundCheck.layer(true, () => status.share ?? 0).pipe(
    Layer.provideMerge(DataHealth.layer),
    Layer.provideMerge(Layer.mock(SyncStatus, {
      loading: Effect.sync(() => status.loading),
      initialDownload: Effect.succeed(false)
    })),
    Layer.provide(Logger.remove(Logger.defaultLogger))
  )

/** Lets time pass in steps until a condition holds. Returns the hours. */
const passing = (step: Duration.DurationInput, holds: () => Effect.Effect<boolean>) =>
  Effect.gen(function*() {
    const from = yield* Clock.currentTimeMillis
    while (!(yield* holds())) yield* pass(step)
    return ((yield* Clock.currentTimeMillis) - from) / 3_600_000
  })

describe("the background check", () => {
  simulated(
    "the background check goes through all parts repeatedly, starting from its position",
    () =>
      Effect.gen(function*() {
        const health = yield* DataHealth.DataHealth
        const [one, other] = [part("one"), part("other")]
        yield* health.register(one)
        yield* health.register(other)
        const hours = yield* passing(
          "15 minutes",
          () => Effect.map(health.progress, (all) => all.every(({ passes }) => passes > 3))
        )
        for (const { seen, what } of [one, other]) {
          const units = new Set(seen.flatMap((from) => [from, from + 1, from + 2]).filter((unit) => unit < TOTAL))
          assert.strictEqual(units.size, TOTAL, what)
        }
        const progress = yield* health.progress
        assert.isTrue(progress.every(({ checked }) => checked < TOTAL))
        // A small part is not checked again and again: once an hour.
        assert.isTrue(progress.every(({ passes }) => passes <= 1 + hours))
        const large = part("large", 10_000)
        yield* health.register(large)
        const more = yield* passing("1 minute", () => Effect.sync(() => large.seen.length > 240))
        // At most four steps per second for all parts together.
        assert.isAtMost(large.seen.length, 4 * 3_600 * more + 1)
      }).pipe(Effect.provide(setting({ loading: false })))
  )

  simulated("the background check pauses while the node loads or catches up, and after a read failure", () => {
    const status = { loading: true }
    return Effect.gen(function*() {
      const health = yield* DataHealth.DataHealth
      const fine = part("fine")
      let tries = 0
      yield* health.register(fine)
      yield* pass("1 minute")
      assert.deepStrictEqual(fine.seen, [])
      status.loading = false
      yield* pass("6 seconds")
      assert.isAbove(fine.seen.length, 0)
      yield* health.register({
        ...part("unreadable"),
        check: () => {
          tries++
          return new StorageUnavailable({ file: "blk00000.dat", doing: "reading", reason: "EIO" })
        }
      })
      yield* pass("9 minutes")
      assert.strictEqual(tries, 1)
    }).pipe(Effect.provide(setting(status)))
  })

  simulated("the background check makes one step in ten seconds while the event loop is busy", () => {
    const status = { loading: false, share: 0.9 }
    return Effect.gen(function*() {
      const health = yield* DataHealth.DataHealth
      const fine = part("fine", 10_000)
      yield* health.register(fine)
      yield* pass("10 minutes")
      assert.isAtLeast(fine.seen.length, 30)
      assert.isAtMost(fine.seen.length, 61)
      status.share = 0.1
      yield* pass("1 minute")
      assert.isAtLeast(fine.seen.length, 130)
    }).pipe(Effect.provide(setting(status)))
  })
})
