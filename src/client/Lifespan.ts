import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ClientClosed, type ClientFailure } from "./errors.ts"

/** Knows whether a client can still be asked, and ends what waits when it cannot. */
export class Lifespan {
  /** Why it is over; `undefined` while it is not. */
  private over: ClientFailure | undefined
  private readonly ended = Deferred.unsafeMake<never, ClientFailure>(FiberId.none)

  /** Fails when the client ends. */
  readonly failure: Effect.Effect<never, ClientFailure> = Deferred.await(this.ended)

  /** Why calls fail; `undefined` while they do not. */
  reason(): ClientFailure | undefined {
    return this.over
  }

  /** Ends the client. The first reason counts. */
  end(reason: ClientFailure): void {
    if (this.over !== undefined) return
    this.over = reason
    Deferred.unsafeDone(this.ended, Effect.fail(reason))
  }

  /** A short call: refused once the client has ended. */
  readonly guard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ClientFailure, R> =>
    Effect.suspend((): Effect.Effect<A, E | ClientFailure, R> => this.over ?? effect)

  /** A call that waits: it fails when the client ends meanwhile. */
  readonly during = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ClientFailure, R> =>
    this.guard(Effect.raceFirst(effect, this.failure))

  /** A stream that fails when the client ends. */
  readonly stream = <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E | ClientFailure, R> =>
    Stream.interruptWhenDeferred(stream, this.ended)
}

/** Ends a client with the scope: before what is in the scope already. */
export const endWithScope = (lifespan: Lifespan): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() => Effect.sync(() => lifespan.end(new ClientClosed())))
