import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { MIN_FIRSTUPDATE_DEPTH } from "../consensus/names.ts"
import { type ClientFailure, type OperationFailure, OperationRejected, RegistrationFailed } from "./errors.ts"
import type { Lifespan } from "./Lifespan.ts"
import type { RegisterOptions, RegistrationProgress } from "./options.ts"
import { OperationResult } from "./records.ts"
import type { Confirmed } from "./replies.ts"

/** Follows a registration over every kind of node. */

export type RegistrationState = RegistrationProgress

/** A registration in a wallet, as this process or `name_registrations` reports it. */
export interface WalletRegistration {
  /** The wallet's `RegistrationStep`; another version of the daemon may have others. */
  readonly step: string
  /** Txid of NAME_NEW; `undefined` until it is sent. */
  readonly txHash: string | undefined
  readonly claim: string | undefined
  readonly note: string
}

export const blocksLeft = ({ confirmations }: Confirmed): number =>
  Math.max(0, MIN_FIRSTUPDATE_DEPTH - Math.max(0, confirmations))

export const claimState = (txHash: string, { confirmations, height }: Confirmed) =>
  confirmations > 0 && height !== undefined
    ? { step: "registered", txHash, height } as const
    : { step: "claimed", txHash } as const

export type FirstState = Extract<RegistrationState, { readonly step: "announced" | "queued" }>

export const firstState = ({ note, txHash }: Pick<WalletRegistration, "note" | "txHash">): FirstState =>
  txHash === undefined ? { step: "queued", reason: note } : { step: "announced", txHash }

export const registrationState = <E>(
  { claim, note, step, txHash }: WalletRegistration,
  look: (txHash: string) => Effect.Effect<Confirmed, E>
): Effect.Effect<RegistrationState, E> => {
  if (step === "failed") return Effect.succeed({ step: "failed", reason: note })
  const first = Effect.succeed(firstState({ txHash, note }))
  if (txHash === undefined) return first
  switch (step) {
    case "maturing":
      return Effect.map(look(txHash), (found) => ({ step: "waiting", txHash, blocksLeft: blocksLeft(found) }))
    case "revealed":
      return claim === undefined ? first : Effect.succeed({ step: "claimed", txHash: claim })
    case "done":
      return claim === undefined ? first : Effect.map(look(claim), (found) => claimState(claim, found))
    default:
      return first
  }
}

export const confirmation = <E>(looks: Stream.Stream<Confirmed, E>): Effect.Effect<void, E | OperationRejected> =>
  looks.pipe(
    Stream.mapEffect((found) =>
      found.confirmations < 0
        ? new OperationRejected({ reason: "a block has another transaction in its place" })
        : Effect.succeed(found)
    ),
    Stream.takeUntil(({ confirmations }) => confirmations > 0),
    Stream.runDrain
  )

type Happened = Exclude<RegistrationProgress, { readonly step: "failed" }>

type Sent = Exclude<Happened, { readonly step: "queued" }>

const ORDER = ["announced", "waiting", "claimed", "registered"] as const

export const REGISTER_WAITS = ["announced", "claimed", "registered"] as const
export const UPDATE_WAITS = ["sent", "confirmed"] as const

/** Whether the registration has reached the wanted step. A queued one has no transaction yet. */
const hasReached = (progress: Happened, wanted: (typeof ORDER)[number]): progress is Sent =>
  progress.step !== "queued" && ORDER.indexOf(progress.step) >= ORDER.indexOf(wanted)

const detailOf = (progress: Happened): string =>
  progress.step === "queued"
    ? progress.reason
    : progress.step === "waiting"
    ? `${progress.txHash} ${progress.blocksLeft}`
    : progress.txHash

const isSame = (a: Happened, b: Happened): boolean => a.step === b.step && detailOf(a) === detailOf(b)

export interface Followed {
  readonly name: string
  readonly first: FirstState
  readonly options: RegisterOptions
  readonly states: Stream.Stream<RegistrationState, OperationFailure>
  readonly lifespan: Lifespan
  /** The client's scope, which limits how long a registration is followed. */
  readonly scope: Scope.Scope
}

/**
 * Calls the application's listener. An exception is logged and does not end the registration. The promise of an `async`
 * listener is not awaited, but its rejection is handled because it would otherwise end the process.
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
 * Reports the steps, and returns at the step that the caller waits for. Following goes on until the name is registered
 * or the client closes, even if the caller stops waiting.
 */
export const followRegistration = (
  followed: Followed
): Effect.Effect<OperationResult, OperationFailure | ClientFailure> =>
  Effect.gen(function*() {
    const { first, lifespan, name, options, scope, states } = followed
    const { waitFor = "announced" } = options
    const reached = yield* Deferred.make<OperationResult, OperationFailure>()
    let last: Happened | undefined

    const tell = (progress: Happened): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (last !== undefined && isSame(last, progress)) return Effect.void
        last = progress
        const done = hasReached(progress, waitFor)
          ? Deferred.succeed(reached, new OperationResult({ txHash: progress.txHash }))
          : Effect.void
        return Effect.zipRight(told(followed, progress), done)
      })

    const step = (state: RegistrationState): Effect.Effect<void, RegistrationFailed> => {
      if (state.step === "failed") return new RegistrationFailed({ requested: name, reason: state.reason })
      // If blocks arrive faster than polls, the claim was missed.
      return state.step === "registered"
        ? Effect.zipRight(tell({ step: "claimed", txHash: state.txHash }), tell(state))
        : tell(state)
    }

    const following = Stream.concat(Stream.succeed<RegistrationState>(first), states).pipe(
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
