import * as Effect from "effect/Effect"
import type { UserRight } from "../../config/accessKinds.ts"
import { isForbidden } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { type Check, type Complaint, skip } from "./doctorCheck.ts"

/** What `svcd-cli doctor` could not look at, because the user of RPC has not the right to ask. */

/** The methods that the user may not call, with the right that the daemon names. */
export type RefusedMethods = Map<string, UserRight | undefined>

/** The same daemon, which notes in `refused` each method that the user may not call. */
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

/** What each right lets the doctor look at. The last row is for daemons that do not name the right. */
const LOOKED_AT = [
  ["read", "the chain, peers, fees, and damage on disk"],
  ["names", "the wallets: their backup, lock, balance, renewals and registrations, and watched names"],
  ["admin", "webhooks, and wallets that are not loaded"],
  [undefined, "the answers of these methods"]
] as const

/** What to do about a right that is missing. */
export const remedyFor = (right: UserRight | undefined): string => {
  const needed = right === undefined ? "the right to call them" : `the right "${right}"`
  return `grant the RPC user ${needed} (-rpcrights), or run svcd-cli with credentials that have it`
}

/** One for each right that is missing. A list of methods (-rpcwhitelist) may refuse some of a right alone. */
export const rightsChecks = (refused: RefusedMethods): ReadonlyArray<Check> =>
  LOOKED_AT.flatMap(([right, what]) => {
    const methods = [...refused].flatMap(([method, missing]) => missing === right ? [method] : []).toSorted()
    const complaint: Complaint = {
      text: `not checked: ${what}. This RPC user may not call ${methods.join(", ")}`,
      remedy: remedyFor(right)
    }
    return methods.length === 0 ? [] : [skip("rights", complaint)]
  })
