import * as Effect from "effect/Effect"
import { unixTime } from "../base/clock.ts"
import { WALLETLOCK, WALLETPASSPHRASE } from "../rpc/contract/wallet/passphrase.ts"
import type { Html } from "../web/html.ts"
import type { CallFailed, Calls } from "./calls.ts"
import type { Plan } from "./confirmations.ts"
import { field } from "./frame.ts"
import { type WalletState } from "./visit.ts"

/** Unlocks the wallet for one purpose, with the passphrase on the page that asks for it. */

/** Seconds, for one purpose and for renewals that take some blocks. */
const OPEN_SECONDS = 60
const RENEWALS_SECONDS = 3_600

type Unlocks = Plan["unlocks"]

export const needsPassphrase = (unlocks: Unlocks, { lock }: Pick<WalletState, "lock">): boolean =>
  unlocks === "all" ? lock === "locked" || lock === "renewals" : unlocks === "renewals" && lock === "locked"

export const passphraseField = (
  { unlocks, wrong = [] }: { readonly unlocks: Unlocks; readonly wrong?: ReadonlyArray<string> }
): Html =>
  field({
    name: "passphrase",
    label: "Passphrase of the wallet",
    hint: unlocks === "renewals"
      ? "Unlocks the wallet for renewals only, for one hour. Without it, renewals wait until you unlock the wallet."
      : unlocks === "all"
      ? "Unlocks the wallet for this action only."
      : "Shows that it is you. It counts for fifteen minutes.",
    type: "password",
    autocomplete: "current-password",
    required: unlocks !== "renewals",
    wrong
  })

/** Fails if the passphrase is wrong. The wallet stays as it is. */
export const checkPassphrase = (
  { call }: Pick<Calls, "call">,
  { passphrase, state }: { readonly passphrase: string; readonly state: WalletState }
): Effect.Effect<void, CallFailed> =>
  Effect.gen(function*() {
    const left = (state.info.unlocked_until ?? 0) - (yield* unixTime)
    const isOpen = state.lock !== "locked" && left > 0
    const timeout = isOpen ? left : OPEN_SECONDS
    yield* call(WALLETPASSPHRASE, { passphrase, timeout, renewalsonly: state.lock !== "unlocked" || !isOpen })
    if (!isOpen) yield* call(WALLETLOCK, {})
  })

/** Restores the lock afterwards. */
export const whileOpen = <A>(
  { call }: Pick<Calls, "call">,
  { passphrase, state, unlocks }: {
    readonly passphrase: string
    readonly unlocks: Unlocks
    readonly state: WalletState
  },
  work: Effect.Effect<A, CallFailed>
): Effect.Effect<A, CallFailed> => {
  if (passphrase === "" || !needsPassphrase(unlocks, state)) return work
  if (unlocks === "renewals") {
    return Effect.zipRight(call(WALLETPASSPHRASE, { passphrase, timeout: RENEWALS_SECONDS, renewalsonly: true }), work)
  }
  const until = state.info.unlocked_until ?? 0
  const asBefore = Effect.gen(function*() {
    const left = until - (yield* unixTime)
    yield* state.lock === "renewals" && left > 0
      ? call(WALLETPASSPHRASE, { passphrase, timeout: left, renewalsonly: true })
      : call(WALLETLOCK, {})
  })
  return Effect.zipRight(
    call(WALLETPASSPHRASE, { passphrase, timeout: OPEN_SECONDS }),
    // A lock that fails is not a failure of the work: the time ends soon in any case.
    Effect.ensuring(work, Effect.ignore(asBefore))
  )
}
