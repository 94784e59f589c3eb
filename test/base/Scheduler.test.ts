import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope, TestClock } from "effect"
import * as Scheduler from "../../src/base/Scheduler.ts"

describe("Scheduler", () => {
  it.effect("the scheduler repeats a task until its scope closes", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const scope = yield* Scope.make()
      let runs = 0
      yield* Scope.extend(scheduler.repeat(Effect.sync(() => void runs++), () => "10 minutes"), scope)
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(runs, 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(runs, 1)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(runs, 2)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(runs, 2)
    }).pipe(Effect.provide(Scheduler.layer)))

  it.effect("forward makes tasks due earlier, and waits for the due ones", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const ran: Array<string> = []
      const note = (what: string) => Effect.sync(() => void ran.push(what))
      yield* scheduler.repeat(note("ten"), () => "10 minutes")
      yield* scheduler.repeat(note("thirty"), () => "30 minutes")
      yield* TestClock.adjust("1 second")
      yield* scheduler.forward("5 minutes")
      assert.isEmpty(ran)
      yield* TestClock.adjust("299 seconds")
      assert.deepStrictEqual(ran, ["ten"], "five minutes earlier than it would have been")
      yield* scheduler.forward("20 minutes")
      assert.deepStrictEqual([...ran].sort(), ["ten", "ten", "thirty"])
      yield* scheduler.forward("9 minutes")
      assert.lengthOf(ran, 3)
    }).pipe(Effect.scoped, Effect.provide(Scheduler.layer)))
})
