import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ClientClosed, type ClientFailure } from "./errors.ts"

export class Lifespan {
  private over: ClientFailure | undefined
  private readonly ended = Deferred.unsafeMake<never, ClientFailure>(FiberId.none)

  readonly failure: Effect.Effect<never, ClientFailure> = Deferred.await(this.ended)

  reason(): ClientFailure | undefined {
    return this.over
  }

  /** The first reason counts. */
  end(reason: ClientFailure): void {
    if (this.over !== undefined) return
    this.over = reason
    Deferred.unsafeDone(this.ended, Effect.fail(reason))
  }

  /** For a short call: it fails once the client has ended. */
  readonly guard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ClientFailure, R> =>
    Effect.suspend((): Effect.Effect<A, E | ClientFailure, R> => this.over ?? effect)

  /** For a call that waits: it fails as soon as the client ends. */
  readonly during = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ClientFailure, R> =>
    this.guard(Effect.raceFirst(effect, this.failure))

  /** The stream fails with the client's reason, whatever it was reading. */
  readonly stream = <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E | ClientFailure, R> =>
    Stream.suspend((): Stream.Stream<A, E | ClientFailure, R> =>
      this.over === undefined ? Stream.interruptWhenDeferred(stream, this.ended) : Stream.fail(this.over)
    ).pipe(Stream.mapError((failure) => this.over ?? failure))
}

/** Runs before the finalizers that the scope already has. */
export const endWithScope = (lifespan: Lifespan): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() => Effect.sync(() => lifespan.end(new ClientClosed())))
