import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type Guesses, Penalties } from "../../src/http/Penalties.ts"
import { admitInTurn } from "../../src/http/Visits.ts"

/** Sends a wrong guess from an address; resolves when it was answered. */
const guess = (penalties: Penalties, key: string, log: Array<string>) =>
  Effect.async<void>((resume) => {
    penalties.await(key, () => {
      log.push(`judged ${key}`)
      penalties.serve({ key, client: { text: `${key}:1` } }, () => resume(Effect.void))
    })
  })

const silent = (): void => {}

/** Milliseconds for which a wrong guess holds its place. */
const TIME = 100

/** Runs fibers until a log has that many lines. */
const until = (log: ReadonlyArray<string>, lines: number): Effect.Effect<void> =>
  Effect.suspend(() => log.length >= lines ? Effect.void : Effect.zipRight(Effect.yieldNow(), until(log, lines)))

describe("Penalties", () => {
  it.live("checks as many guesses at a time as there are places, then addresses with the fewest places first", () =>
    Effect.gen(function*() {
      const penalties = new Penalties({ places: 16, time: TIME, log: silent })
      const log: Array<string> = []
      const since = performance.now()
      const guesses = Array.from({ length: 20 }, () => guess(penalties, "many", log))
      const all = yield* Effect.fork(
        Effect.all([...guesses, guess(penalties, "new", log)], { concurrency: "unbounded" })
      )
      yield* until(log, 16)
      for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow()
      assert.strictEqual(log.length, 16)
      assert.isTrue(penalties.any)
      yield* all
      // Two turns, each of which a timer may end up to a millisecond early.
      assert.isAtLeast(performance.now() - since, 2 * TIME - 2)
      assert.strictEqual(log[16], "judged new")
      assert.isFalse(penalties.any)
    }))

  it.live("lets an address without a place skip the queue after it had the right password", () =>
    Effect.gen(function*() {
      const penalties = new Penalties({ places: 16, time: TIME, log: silent })
      const log: Array<string> = []
      penalties.admitted("good")
      yield* Effect.forkAll(Array.from({ length: 16 }, () => guess(penalties, "many", log)))
      yield* until(log, 16)
      let judged = 0
      const note = (): void => void (judged += 1)
      assert.isUndefined(penalties.await("good", note))
      assert.strictEqual(judged, 1)
      const takeBack = penalties.await("stranger", note)
      assert.strictEqual(judged, 1)
      takeBack?.()
      const last = yield* Effect.fork(guess(penalties, "good", log))
      yield* until(log, 17)
      assert.isDefined(penalties.await("good", note), "now it holds one")
      // The place of the last guess is free after all others.
      yield* Fiber.join(last)
      assert.isFalse(penalties.any)
      assert.strictEqual(judged, 2, "the stranger had gone")
    }))

  it.live("a log-in whose client left does not wait for its turn", () =>
    Effect.gen(function*() {
      const penalties = new Penalties({ places: 1, time: TIME, log: silent })
      const checked: Array<string> = []
      const admit = (authorization: string): undefined => void checked.push(authorization)
      let leave = (): void => {}
      const client = { key: "a", client: { text: "a:1" }, whenGone: (then: () => void) => void (leave = then) }
      const rules = { admit, penalties, permittedTo: () => undefined }
      const first = yield* Effect.fork(admitInTurn(rules, client, "a:1"))
      yield* Effect.yieldNow()
      const waiting = yield* Effect.fork(admitInTurn(rules, client, "a:2"))
      yield* Effect.yieldNow()
      leave()
      assert.isUndefined(yield* Fiber.join(waiting))
      assert.isTrue(penalties.any, "the first one still waits")
      yield* Fiber.join(first)
      assert.lengthOf(checked, 1)
    }))

  it.live("writes one line a second about wrong credentials, and one at the end", () =>
    Effect.gen(function*() {
      const lines: Array<Guesses> = []
      const penalties = new Penalties({ places: 1_000, time: TIME, log: (guesses) => lines.push(guesses) })
      const first = yield* Effect.fork(guess(penalties, "a", []))
      yield* Effect.yieldNow()
      yield* Effect.all(Array.from({ length: 299 }, () => guess(penalties, "b", [])), { concurrency: "unbounded" })
      yield* Fiber.join(first)
      assert.deepStrictEqual(lines, [{ peer: "a:1" }, { peer: "b:1", others: 298 }])
    }))
})
