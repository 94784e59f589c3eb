import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * Periodic tasks, which tests may hurry (`mockscheduler`). Real-time tasks, such as peer timeouts, do not belong here.
 */
export class Scheduler extends Context.Tag("svcd/Scheduler")<Scheduler, {
  /** Repeats a task until the scope closes. `delay` is called before each run, including the first. */
  readonly repeat: <R>(
    task: Effect.Effect<void, never, R>,
    delay: () => Duration.DurationInput
  ) => Effect.Effect<void, never, R | Scope.Scope>
  /** Makes all tasks due earlier, and returns after running those that are due now. */
  readonly forward: (by: Duration.DurationInput) => Effect.Effect<void>
}>() {}

interface Waiting {
  /** Nanoseconds of the clock. */
  due: bigint
  hurried: Deferred.Deferred<void>
  /** Completes when the task has run, or never will. */
  readonly ran: Deferred.Deferred<void>
}

const nanos = (duration: Duration.DurationInput): bigint => BigInt(Math.round(1e6 * Duration.toMillis(duration)))

const untilDue = (one: Waiting): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (;;) {
      const left = one.due - (yield* Clock.currentTimeNanos)
      if (left <= 0n) return
      yield* Effect.raceFirst(Effect.sleep(Duration.nanos(left)), Deferred.await(one.hurried))
    }
  })

const make = Effect.sync(() => {
  const waiting = new Set<Waiting>()

  const once = <R>(
    task: Effect.Effect<void, never, R>,
    delay: () => Duration.DurationInput
  ): Effect.Effect<void, never, R> =>
    Effect.gen(function*() {
      const one: Waiting = {
        due: (yield* Clock.currentTimeNanos) + nanos(delay()),
        hurried: yield* Deferred.make<void>(),
        ran: yield* Deferred.make<void>()
      }
      waiting.add(one)
      yield* untilDue(one).pipe(
        Effect.zipRight(task),
        Effect.ensuring(Effect.suspend(() => {
          waiting.delete(one)
          return Deferred.succeed(one.ran, undefined)
        }))
      )
    })

  const hurry = (one: Waiting, by: bigint): Effect.Effect<unknown> =>
    Effect.gen(function*() {
      const { hurried } = one
      one.due -= by
      one.hurried = yield* Deferred.make<void>()
      yield* Deferred.succeed(hurried, undefined)
    })

  return Scheduler.of({
    repeat: (task, delay) => Effect.asVoid(Effect.forkScoped(Effect.forever(once(task, delay)))),
    forward: (by) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeNanos
        const all = [...waiting]
        for (const one of all) yield* hurry(one, nanos(by))
        yield* Effect.forEach(all.filter(({ due }) => due <= now), ({ ran }) => Deferred.await(ran), { discard: true })
      })
  })
})

export const layer: Layer.Layer<Scheduler> = Layer.effect(Scheduler, make)
