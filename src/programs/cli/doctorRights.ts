import * as Effect from "effect/Effect"
import type { UserRight } from "../../config/accessKinds.ts"
import { isForbidden } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { type Check, type Complaint, skip } from "./doctorCheck.ts"

/** With the right that the daemon names. */
export type RefusedMethods = Map<string, UserRight | undefined>

export const notingRefused = (daemon: Daemon, refused: RefusedMethods): Daemon => ({
  ...daemon,
  ask: (method, params) =>
    Effect.tapError(
      daemon.ask(method, params),
      (error) =>
        error._tag === "UnexpectedReply" && isForbidden(error)
          ? Effect.sync(() => void refused.set(method, error.missingRight))
          : Effect.void
    ),
  ofWallet: (name) => Effect.map(daemon.ofWallet(name), (other) => notingRefused(other, refused))
})

/** What each right lets the doctor check. The last row is for daemons that do not name the right. */
const LOOKED_AT = [
  ["read", "the chain, peers, fees, and damage on disk"],
  ["names", "the wallets: their backup, renewals and registrations, and watched names"],
  ["admin", "webhooks, and wallets that are not loaded"],
  [undefined, "the answers of these methods"]
] as const

export const remedyFor = (right: UserRight | undefined): string => {
  const needed = right === undefined ? "the right to call them" : `the right "${right}"`
  return `grant the RPC user ${needed} (-rpcrights), or run svcd-cli with credentials that have it`
}

/** One per missing right. A list of methods (-rpcwhitelist) may refuse only some of a right. */
export const rightsChecks = (refused: RefusedMethods): ReadonlyArray<Check> =>
  LOOKED_AT.flatMap(([right, what]) => {
    const methods = [...refused].flatMap(([method, missing]) => missing === right ? [method] : []).toSorted()
    const complaint: Complaint = {
      text: `not checked: ${what}. This RPC user may not call ${methods.join(", ")}`,
      remedy: remedyFor(right)
    }
    return methods.length === 0 ? [] : [skip("rights", complaint)]
  })
