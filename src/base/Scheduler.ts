import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * Tasks that come round every few minutes, which tests may hurry (`mockscheduler`): announcing again what nobody asked
 * for, storing what would be lost. What has to keep to real time, such as a timeout of a peer, does not belong here.
 */
export class Scheduler extends Context.Tag("svcd/Scheduler")<Scheduler, {
  /** Runs a task again and again until the scope closes, first after a delay. Each delay is asked for anew. */
  readonly repeat: <R>(
    task: Effect.Effect<void, never, R>,
    delay: () => Duration.DurationInput
  ) => Effect.Effect<void, never, R | Scope.Scope>
  /** Makes all tasks due so much earlier, and returns when those that are due now have run. */
  readonly forward: (by: Duration.DurationInput) => Effect.Effect<void>
}>() {}

/** A task that waits for its time. */
interface Waiting {
  /** Nanoseconds of the clock. */
  due: bigint
  /** Done when somebody made it due earlier. */
  hurried: Deferred.Deferred<void>
  /** Done when it has run, or never will. */
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
