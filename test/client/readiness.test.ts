import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, TestClock } from "effect"
import type { ReadyOptions } from "../../src/client/options.ts"
import { readyOf, type ReportSource } from "../../src/client/readiness.ts"
import type { SyncReport } from "../../src/light/syncReport.ts"

const REPORT: SyncReport = {
  phase: "headers",
  proof: "work",
  height: 7,
  headers: 9,
  synced: false,
  percent: 40,
  secondsLeft: 90
}

const READY: SyncReport = { ...REPORT, phase: "ready", synced: true, percent: 100, secondsLeft: undefined }

/** Milliseconds between two reports. Each step of the test clock takes some of real time. */
const INTERVAL = 2_500

/** A node with this many peers, and what it logs. */
const node = (count: number | undefined) => {
  const told: Array<string> = []
  const state = { report: REPORT, count }
  const source: ReportSource<never, never> = {
    report: Effect.sync(() => state.report),
    interval: INTERVAL,
    best: "signatures",
    peers: Effect.sync(() => state.count)
  }
  const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void told.push(String(message))))
  const waiting = (options?: ReadyOptions) =>
    Effect.fork(Effect.provide(Effect.either(readyOf(source, options)), logger))
  return { state, told, waiting }
}

describe("ready", () => {
  it.effect("says after ten seconds without a peer what is missing, once, and goes on waiting", () =>
    Effect.gen(function*() {
      const { state, told, waiting } = node(0)
      const fiber = yield* waiting()
      yield* TestClock.adjust("9900 millis")
      assert.deepStrictEqual(told, [])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(told, [
        "names are not ready: no peer is connected: check the network, the firewall and the proxy"
      ])
      state.report = READY
      yield* TestClock.adjust(INTERVAL)
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "Right" })
    }))

  it.effect.each([1, undefined])(
    "does not complain with %s peers, nor once it is ready",
    (count) =>
      Effect.gen(function*() {
        const some = node(count)
        const fiber = yield* some.waiting()
        yield* TestClock.adjust("1 minute")
        yield* Fiber.interrupt(fiber)
        const early = node(0)
        early.state.report = READY
        yield* Fiber.join(yield* early.waiting())
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([...some.told, ...early.told], [])
      })
  )

  it.effect.each<readonly [count: number | undefined, reason: string]>([
    [0, "no peer is connected: check the network, the firewall and the proxy"],
    [3, "names were not ready within 30s"],
    [undefined, "names were not ready within 30s"]
  ])("with %s peers fails after its limit and says why", ([count, reason]) =>
    Effect.gen(function*() {
      const { waiting } = node(count)
      const fiber = yield* waiting({ within: "30 seconds" })
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual((yield* Fiber.poll(fiber))._tag, "None")
      yield* TestClock.adjust("1 second")
      const outcome = yield* Fiber.join(fiber)
      assert(outcome._tag === "Left" && outcome.left._tag === "NotSynced")
      assert.deepInclude({ ...outcome.left }, { reason, height: 7, phase: "headers", percent: 40, secondsLeft: 90 })
      assert.include(outcome.left.message, `${reason} (fetching headers: 40 % done, about 90 seconds left)`)
    }))

  it.effect("takes proof and limit together, and refuses what is neither", () =>
    Effect.gen(function*() {
      const { state, waiting } = node(1)
      state.report = { ...READY, proof: "signatures" }
      const reached = yield* Fiber.join(yield* waiting({ proof: "signatures", within: 5_000 }))
      assert.deepInclude(reached, { _tag: "Right" })
      const foreign: Array<[field: string, options: ReadyOptions]> = [
        ["within", Object.assign({}, { within: "soon" })],
        ["within", { within: Infinity }],
        ["level", Object.assign({}, { proof: "belief" })],
        ["level", { proof: "full" }]
      ].map(([field, options]) => [String(field), Object(options)])
      for (const [field, options] of foreign) {
        const refused = yield* Fiber.join(yield* waiting(options))
        assert(refused._tag === "Left")
        assert.deepInclude({ ...refused.left }, { _tag: "InvalidRequest", field })
      }
    }))
})
