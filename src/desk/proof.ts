import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { CallFailed } from "./calls.ts"
import type { Plan } from "./confirmations.ts"
import { checkPassphrase, needsPassphrase } from "./openWallet.ts"
import type { DeskVisit, WalletState } from "./visit.ts"

/** What shows that it is the user, before something is spent or given away. It counts for some time. */

/** `link`: a fresh one of `svcd-cli desk`, for a wallet without a passphrase. */
export type UserProof = "none" | "passphrase" | "password" | "link"

type Wanting = Pick<Plan, "spends" | "unlocks">

export const proofOf = (
  { calls, now, session }: Pick<DeskVisit, "calls" | "now" | "session">,
  { spends }: Pick<Plan, "spends">,
  { lock }: Pick<WalletState, "lock">
): UserProof => {
  if (!spends || session.isVerified(now())) return "none"
  return lock !== "none" && calls.may("walletpassphrase") ? "passphrase" : session.signIn
}

/** Why the form does not show that it is the user; `undefined` if it does. */
export const proven = (
  visit: DeskVisit,
  plan: Wanting,
  { passphrase, state }: { readonly state: WalletState; readonly passphrase: string }
): Effect.Effect<string | undefined, CallFailed> =>
  Effect.gen(function*() {
    const { admit, calls, form, now, session } = visit
    switch (proofOf(visit, plan, state)) {
      case "none":
        return undefined
      case "link":
        return "It takes a fresh link. Nothing was sent."
      case "password": {
        const user = yield* admit(session.user.user, Redacted.make(form.get("password") ?? ""))
        if (user === undefined) return "The password is wrong. Nothing was sent."
        session.verified = now()
        return undefined
      }
      case "passphrase": {
        if (passphrase === "") return "Enter the passphrase. Nothing was sent."
        // Unlocking it for the work checks it, too.
        if (needsPassphrase(plan.unlocks, state)) return undefined
        const isRight = yield* checkPassphrase(calls, { passphrase, state }).pipe(
          Effect.as(true),
          Effect.catchIf(({ code }) => code === -14, () => Effect.succeed(false))
        )
        if (!isRight) return "The passphrase is wrong. Nothing was sent."
        session.verified = now()
        return undefined
      }
    }
  })
