import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ClientFailure, type OperationFailure, RegistrationFailed } from "./errors.ts"
import type { Lifespan } from "./Lifespan.ts"
import type { OperationResult, RegisterOptions, RegistrationProgress } from "./NameClient.ts"

/** Following a registration from its first step to its last, whoever carries it on. */

/** Where one stands. */
export type RegistrationState = RegistrationProgress | { readonly step: "failed"; readonly reason: string }

const ORDER = ["announced", "waiting", "claimed", "registered"] as const

/** Whether what is waited for has come: a later step counts as well. */
const hasReached = (progress: RegistrationProgress, wanted: (typeof ORDER)[number]): boolean =>
  ORDER.indexOf(progress.step) >= ORDER.indexOf(wanted)

const isSame = (a: RegistrationProgress, b: RegistrationProgress): boolean =>
  a.step === b.step && a.txHash === b.txHash &&
  (a.step !== "waiting" || b.step !== "waiting" || a.blocksLeft === b.blocksLeft)

export interface Followed {
  readonly name: string
  /** Of NAME_NEW. */
  readonly txHash: string
  readonly options: RegisterOptions
  /** Where it stands, again and again; repeated ones do no harm. */
  readonly states: Stream.Stream<RegistrationState, OperationFailure>
  readonly lifespan: Lifespan
  /** The client's own: the registration is followed for as long as it lives. */
  readonly scope: Scope.Scope
}

/** A listener of the application: what it throws is its own affair, and is no end of the registration. */
const told = (options: RegisterOptions, progress: RegistrationProgress): Effect.Effect<void> =>
  Effect.try(() => options.onProgress?.(progress)).pipe(
    Effect.catchAll(({ error }) => Effect.logWarning("onProgress failed", { reason: String(error) }))
  )

/**
 * Tells the steps as they happen and returns once what is waited for has come. The following goes on until the name is
 * registered or the client is closed, also when the caller waits no longer.
 */
export const follow = (
  { lifespan, name, options, scope, states, txHash }: Followed
): Effect.Effect<OperationResult, OperationFailure | ClientFailure> =>
  Effect.gen(function*() {
    const { waitFor = "announced" } = options
    const reached = yield* Deferred.make<OperationResult, OperationFailure>()
    let last: RegistrationProgress | undefined

    const tell = (progress: RegistrationProgress): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (last !== undefined && isSame(last, progress)) return Effect.void
        last = progress
        const done = hasReached(progress, waitFor)
          ? Deferred.succeed(reached, { txHash: progress.txHash })
          : Effect.void
        return Effect.zipRight(told(options, progress), done)
      })

    const step = (state: RegistrationState): Effect.Effect<void, RegistrationFailed> => {
      if (state.step === "failed") return new RegistrationFailed({ name, reason: state.reason })
      // Where blocks come faster than we look, a name that is registered was claimed before.
      return state.step === "registered"
        ? Effect.zipRight(tell({ step: "claimed", txHash: state.txHash }), tell(state))
        : tell(state)
    }

    const announced: RegistrationState = { step: "announced", txHash }
    const following = Stream.concat(Stream.succeed(announced), states).pipe(
      Stream.takeUntil((state) => state.step === "registered"),
      Stream.runForEach(step),
      Effect.catchAll((failure) =>
        Effect.zipRight(
          Effect.logWarning("a registration is not followed any longer", { name, reason: failure.message }),
          Deferred.fail(reached, failure)
        )
      ),
      Effect.catchAllCause((cause) => Deferred.failCause(reached, cause))
    )
    yield* Effect.forkIn(following, scope)
    return yield* lifespan.during(Deferred.await(reached))
  })
