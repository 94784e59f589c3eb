import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ClientFailure, type OperationFailure, RegistrationFailed } from "./errors.ts"
import type { Lifespan } from "./Lifespan.ts"
import type { OperationResult, RegisterOptions, RegistrationProgress } from "./NameClient.ts"

/** Follows a registration from its first step to its last, over every kind of node. */

/** The state of a registration. */
export type RegistrationState = RegistrationProgress

/** The state of a registration that has not failed. */
type Happened = Exclude<RegistrationProgress, { readonly step: "failed" }>

const ORDER = ["announced", "waiting", "claimed", "registered"] as const

/** The steps that a caller can wait for. */
export const REGISTER_WAITS = ["announced", "claimed", "registered"] as const
export const UPDATE_WAITS = ["sent", "confirmed"] as const

/** Whether the registration has reached the wanted step or a later one. */
const hasReached = (progress: Happened, wanted: (typeof ORDER)[number]): boolean =>
  ORDER.indexOf(progress.step) >= ORDER.indexOf(wanted)

const isSame = (a: Happened, b: Happened): boolean =>
  a.step === b.step && a.txHash === b.txHash &&
  (a.step !== "waiting" || b.step !== "waiting" || a.blocksLeft === b.blocksLeft)

export interface Followed {
  readonly name: string
  /** Txid of NAME_NEW. */
  readonly txHash: string
  /** The salt, if only this client keeps it. */
  readonly rand?: string
  readonly options: RegisterOptions
  /** The states of the registration; repeated states are ignored. */
  readonly states: Stream.Stream<RegistrationState, OperationFailure>
  readonly lifespan: Lifespan
  /** The scope of the client: the registration is followed for as long as it is open. */
  readonly scope: Scope.Scope
}

/**
 * Calls the listener of the application. An exception in it does not end the registration; it is logged. The promise of
 * an `async` listener is not awaited, but its rejection is handled: an unhandled rejection would end the process.
 */
const told = ({ options, scope }: Followed, progress: RegistrationProgress): Effect.Effect<void> =>
  Effect.suspend(() => {
    const noted = (error: unknown): Effect.Effect<void> =>
      Effect.logWarning("onProgress failed", { reason: String(error) })
    try {
      const outcome: unknown = options.onProgress?.(progress)
      if (!(outcome instanceof Promise)) return Effect.void
      outcome.catch(() => {})
      return Effect.forkIn(Effect.catchAll(Effect.tryPromise(() => outcome), ({ error }) => noted(error)), scope)
    } catch (error) {
      return noted(error)
    }
  })

/**
 * Reports the steps as they happen, and returns once the step that the caller waits for is reached. The following
 * continues until the name is registered or the client is closed, even if the caller stops waiting.
 */
export const followRegistration = (
  followed: Followed
): Effect.Effect<OperationResult, OperationFailure | ClientFailure> =>
  Effect.gen(function*() {
    const { lifespan, name, options, rand, scope, states, txHash } = followed
    const { waitFor = "announced" } = options
    const reached = yield* Deferred.make<OperationResult, OperationFailure>()
    let last: Happened | undefined

    const tell = (progress: Happened): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (last !== undefined && isSame(last, progress)) return Effect.void
        last = progress
        const done = hasReached(progress, waitFor)
          ? Deferred.succeed(reached, { txHash: progress.txHash })
          : Effect.void
        return Effect.zipRight(told(followed, progress), done)
      })

    const step = (state: RegistrationState): Effect.Effect<void, RegistrationFailed> => {
      if (state.step === "failed") return new RegistrationFailed({ name, reason: state.reason })
      // If blocks arrive faster than the polls, a registered name was claimed before.
      return state.step === "registered"
        ? Effect.zipRight(tell({ step: "claimed", txHash: state.txHash }), tell(state))
        : tell(state)
    }

    const announced: RegistrationState = rand === undefined
      ? { step: "announced", txHash }
      : { step: "announced", txHash, rand }
    const following = Stream.concat(Stream.succeed(announced), states).pipe(
      Stream.takeUntil((state) => state.step === "registered"),
      Stream.runForEach(step),
      Effect.catchAll((failure) =>
        Effect.zipRight(
          Effect.logWarning("registration is no longer tracked", { name, reason: failure.message }),
          Effect.zipRight(
            told(followed, { step: "failed", reason: failure.message }),
            Deferred.fail(reached, failure)
          )
        )
      ),
      Effect.tapDefect((cause) => Effect.logError("registration is no longer tracked", { name }, cause)),
      Effect.catchAllCause((cause) => Deferred.failCause(reached, cause))
    )
    yield* Effect.forkIn(following, scope)
    return yield* lifespan.during(Deferred.await(reached))
  })
