import type { Call } from "../rpc/Dispatch.ts"
import type { Demand } from "../rpc/method/methodTable.ts"
import type { OpenCalls } from "./OpenCalls.ts"
import { notPermitted } from "./permissions.ts"
import { BUSY, forbidden, type HttpRefusal, NO_ROOM, tooMany } from "./refusals.ts"
import type { Session } from "./Session.ts"

/** What a call takes of the limits before it begins. */

/** Releases the memory of a call. */
export type Release = () => void

export interface Claimant {
  readonly session: Session
  readonly open: OpenCalls
}

/** The first thing that a call needs and its user may not do. */
const missing = ({ permitted }: Session, call: Call): Demand | undefined =>
  permitted === undefined ? undefined : notPermitted(permitted, call.demands())

const count = (session: Session, call: Call): number | undefined => session.count(Math.max(1, call.count))

/** Takes a place and memory. */
const hold = ({ open, session }: Claimant, call: Call): Release | HttpRefusal =>
  call.mayEnd || open.admits(session.share, session.isOperator) ? session.memory.hold(call.weight) ?? NO_ROOM : BUSY

/** Takes what a call uses of the limits, or returns why the call is refused. */
export const claim = (claimant: Claimant, call: Call): Release | HttpRefusal => {
  const { session } = claimant
  const lacking = missing(session, call)
  if (lacking !== undefined) return forbidden(lacking)
  const seconds = count(session, call)
  return seconds === undefined ? hold(claimant, call) : tooMany(seconds)
}

/**
 * The same in the fast lane; `undefined` for a call that is refused. Node's server then claims for it again and refuses it, so
 * a call must not count before it is certain to begin here.
 */
export const claimPlain = (claimant: Claimant, call: Call): Release | undefined => {
  const { session } = claimant
  if (missing(session, call) !== undefined) return undefined
  const release = hold(claimant, call)
  if (typeof release !== "function") return undefined
  if (count(session, call) === undefined) return release
  release()
  return undefined
}
