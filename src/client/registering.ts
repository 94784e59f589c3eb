import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ClientFailure, type OperationFailure, RegistrationFailed } from "./errors.ts"
import type { Lifespan } from "./Lifespan.ts"
import type { OperationResult, RegisterOptions, RegistrationProgress } from "./NameClient.ts"

/** Following a registration from its first step to its last, whoever carries it on. */

/** Where one stands. */
export type RegistrationState = RegistrationProgress

/** What happened to one that has not failed. */
type Happened = Exclude<RegistrationProgress, { readonly step: "failed" }>

const ORDER = ["announced", "waiting", "claimed", "registered"] as const

/** What a caller can wait for. */
export const REGISTER_WAITS = ["announced", "claimed", "registered"] as const
export const UPDATE_WAITS = ["sent", "confirmed"] as const

/** Whether what is waited for has come: a later step counts as well. */
const hasReached = (progress: Happened, wanted: (typeof ORDER)[number]): boolean =>
  ORDER.indexOf(progress.step) >= ORDER.indexOf(wanted)

const isSame = (a: Happened, b: Happened): boolean =>
  a.step === b.step && a.txHash === b.txHash &&
  (a.step !== "waiting" || b.step !== "waiting" || a.blocksLeft === b.blocksLeft)

export interface Followed {
  readonly name: string
  /** Of NAME_NEW. */
  readonly txHash: string
  /** The salt, where nobody but this client keeps it. */
  readonly rand?: string
  readonly options: RegisterOptions
  /** Where it stands, again and again; repeated ones do no harm. */
  readonly states: Stream.Stream<RegistrationState, OperationFailure>
  readonly lifespan: Lifespan
  /** The client's own: the registration is followed for as long as it lives. */
  readonly scope: Scope.Scope
}

/**
 * Tells a listener of the application. What it throws is its own affair and no end of the registration; nor is what an
 * `async` one rejects with, which is not waited for, and would end the process if nobody took it.
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
 * Tells the steps as they happen and returns once what is waited for has come. The following goes on until the name is
 * registered or the client is closed, also when the caller waits no longer.
 */
export const follow = (
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
      // Where blocks come faster than we look, a name that is registered was claimed before.
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
