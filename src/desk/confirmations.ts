import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import { randomBytes } from "../base/entropy.ts"
import type { Html } from "../web/html.ts"
import { CallFailed, type Calls } from "./calls.ts"
import { wordsOf } from "./errorWords.ts"

/** A plan is done at most once: its page has an id, and a second request with this id gets the first result. */

export interface Done {
  readonly title: string
  readonly text: Html
  /** To sign elsewhere, in base64: nothing was sent. */
  readonly psbt?: string
}

export interface Plan {
  readonly title: string
  readonly content: Html
  readonly button: string
  readonly back: string
  /** Whether to ask for the user's password again. */
  readonly spends: boolean
  /** What to unlock: the wallet, or only its renewals. */
  readonly unlocks: "all" | "renewals" | "nothing"
  /** Equal for plans that do the same, of which only one is done: two windows must not pay twice. */
  readonly same: string
  readonly run: (call: Calls) => Effect.Effect<Done, CallFailed>
}

export type DeskOutcome = { readonly done: Done } | { readonly failed: CallFailed }

export interface Confirmation {
  readonly id: string
  readonly plan: Omit<Plan, "run">
  /** `undefined` once done or too old, because it may hold a passphrase. */
  run: Plan["run"] | undefined
  readonly by: object
  readonly wallet: string | undefined
  readonly made: number
  state:
    | { readonly is: "open" }
    | { readonly is: "running"; readonly outcome: Deferred.Deferred<DeskOutcome> }
    | { readonly is: "over"; readonly outcome: DeskOutcome; readonly at: number }
}

/** Milliseconds for which a page can be confirmed: fees and names change. */
export const OPEN_MS = 15 * 60_000

const MOST = 100

export type ConfirmRefusal = "unknown" | "old" | "same" | "unclear" | "wallet"

const isOld = ({ made }: Pick<Confirmation, "made">, now: number): boolean => now - made >= OPEN_MS

/** Shared by all sessions of a user, so that nothing is done again in another one. */
export class Confirmations {
  readonly #all = new Map<string, Confirmation>()

  prepare(
    { run, ...plan }: Plan,
    { by, now, wallet }: { readonly by: object; readonly wallet: string | undefined; readonly now: number }
  ): string {
    const id = Buffer.from(randomBytes(16)).toString("base64url")
    this.#all.set(id, { id, plan, run, by, wallet, made: now, state: { is: "open" } })
    for (const [key, each] of this.#all) {
      if (each.state.is === "open" && isOld(each, now)) each.run = undefined
      if (this.#all.size > MOST && each.state.is !== "running") this.#all.delete(key)
    }
    return id
  }

  /** Forgets what a closing session has left open; other outcomes stay. */
  close(by: object): void {
    for (const [key, each] of this.#all) if (each.by === by && each.state.is === "open") this.#all.delete(key)
  }

  find(id: string | null): Confirmation | undefined {
    return this.#all.get(id ?? "")
  }

  refusal(
    { made, plan: { same }, wallet }: Confirmation,
    now: { readonly wallet: string | undefined; readonly now: number }
  ): ConfirmRefusal | undefined {
    if (isOld({ made }, now.now)) return "old"
    if (wallet !== now.wallet) return "wallet"
    for (const other of this.#all.values()) {
      if (other.plan.same !== same || other.wallet !== wallet || other.state.is === "open") continue
      if (other.state.is === "running") return "same"
      if (other.state.at < made) continue
      const { outcome } = other.state
      if ("done" in outcome) return "same"
      if (!wordsOf(outcome.failed).nothingDone) return "unclear"
    }
    return undefined
  }

  /** At most once; a second request waits for the first. `again`: a failure that the user can fix leaves it open. */
  perform(
    confirmation: Confirmation,
    work: Effect.Effect<Done, CallFailed>,
    { again, now, wallet }: {
      readonly now: () => number
      readonly wallet: string | undefined
      readonly again: (failure: CallFailed) => boolean
    }
  ): Effect.Effect<DeskOutcome | ConfirmRefusal> {
    return Effect.suspend((): Effect.Effect<DeskOutcome | ConfirmRefusal> => {
      const { state } = confirmation
      if (state.is === "running") return Deferred.await(state.outcome)
      if (state.is === "over") return Effect.succeed(state.outcome)
      const refusal = this.refusal(confirmation, { now: now(), wallet })
      if (refusal !== undefined) return Effect.succeed(refusal)
      // In the same turn as the check: no other request comes between.
      const outcome = Deferred.unsafeMake<DeskOutcome>(FiberId.none)
      confirmation.state = { is: "running", outcome }
      return Effect.flatMap(Effect.exit(work), (exit) => {
        const ended = outcomeOf(exit)
        confirmation.state = "failed" in ended && again(ended.failed)
          ? { is: "open" }
          : { is: "over", outcome: ended, at: now() }
        if (confirmation.state.is === "over") confirmation.run = undefined
        return Effect.as(Deferred.succeed(outcome, ended), ended)
      })
    })
  }
}

const outcomeOf = (exit: Exit.Exit<Done, CallFailed>): DeskOutcome =>
  Exit.match(exit, {
    onSuccess: (done): DeskOutcome => ({ done }),
    onFailure: (cause): DeskOutcome => ({
      failed: Option.getOrElse(
        Cause.failureOption(cause),
        () => new CallFailed({ method: "", code: "unclear", message: "it was interrupted" })
      )
    })
  })
