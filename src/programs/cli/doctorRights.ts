import * as Effect from "effect/Effect"
import type { UserRight } from "../../config/accessKinds.ts"
import { METHODS_OF } from "../../rpc/method/rights.ts"
import { isForbidden } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { type Check, type Complaint, skip } from "./doctorCheck.ts"

/** What `svcd-cli doctor` could not look at, because the user of RPC has not the right to ask. */

/** The same daemon, which notes in `refused` each method that the user may not call. */
export const notingRefused = (daemon: Daemon, refused: Set<string>): Daemon => ({
  ...daemon,
  call: (method, params, options) =>
    Effect.tapError(
      daemon.call(method, params, options),
      (error) => isForbidden(error) ? Effect.sync(() => refused.add(method)) : Effect.void
    ),
  ofWallet: (name) => Effect.map(daemon.ofWallet(name), (other) => notingRefused(other, refused))
})

/** What each right lets the doctor look at, in the order of the rights. */
const LOOKED_AT = [
  ["read", "facts of the chain, peers, fees, and damage on disk"],
  ["names", "the wallets: their backup, lock, balance, renewals and registrations, and watched names"],
  ["admin", "webhooks, and wallets that are not loaded"]
] as const

/** What to do about a right that is missing. */
export const remedyFor = (right: UserRight): string =>
  `give the user of RPC the right "${right}" (-rpcrights), or run svcd-cli with credentials that have it`

/** One for each right that is missing. A list of methods (-rpcwhitelist) may refuse some of a right alone. */
export const rightsChecks = (refused: ReadonlySet<string>): ReadonlyArray<Check> =>
  LOOKED_AT.flatMap(([right, what]) => {
    const methods = METHODS_OF[right].filter((method) => refused.has(method))
    const complaint: Complaint = {
      text: `not looked at: ${what}. This user of RPC may not call ${methods.join(", ")}`,
      remedy: remedyFor(right)
    }
    return methods.length === 0 ? [] : [skip("rights", complaint)]
  })
