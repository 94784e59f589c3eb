import { EXPIRATION_DEPTH } from "../consensus/expiry.ts"
import { MAX_FUTURE_BLOCK_TIME, type ReaderParams } from "../consensus/readerParams.ts"
import type { Height, UnixTime } from "../protocol/keys.ts"
import type { ProofFailure } from "./nameProof.ts"

/** What the clock of the reader says about a proof. */
export type ClockVerdict = ProofFailure | { readonly isNearExpiry: boolean }

export interface ClockQuestion {
  /** Height and time of the newest operation's block. */
  readonly made: { readonly height: Height; readonly time: UnixTime }
  /** The same of the newest header. */
  readonly last: { readonly height: Height; readonly time: UnixTime }
  /** The tip of the server. */
  readonly tip: Height
  readonly now: UnixTime
}

/** Blocks of a day, by which the tip of a server may be behind or ahead. */
const SLACK = 144

/** The part by which blocks come slower or faster for weeks, until the difficulty follows the miners. */
const DRIFT = 0.2

/** The same over the life of a name. */
const LIFE_DRIFT = 0.05

/**
 * Compares a proof with the clock: headers are not from the future, the tip is not older than a day, and a name did not
 * expire since. Blocks come every ten minutes on average; on test networks they come at any time, and only the
 * first rule applies.
 */
export const clockVerdict = (
  { last, made, now, tip }: ClockQuestion,
  { minDifficultySince, targetSpacing }: ReaderParams
): ClockVerdict => {
  if (Math.max(made.time, last.time) > now + MAX_FUTURE_BLOCK_TIME) return { failed: "a header is from the future" }
  if (minDifficultySince !== undefined) return { isNearExpiry: false }
  const since = Math.max(0, now - last.time) / targetSpacing
  if (tip < last.height + since * (1 - DRIFT) - SLACK) return { failed: "the proof is older than a day" }
  if (tip > last.height + since * (1 + DRIFT) + SLACK) return { failed: "the tip is higher than the time allows" }
  const age = (now - made.time) / targetSpacing
  if (age > EXPIRATION_DEPTH * (1 + LIFE_DRIFT)) return { failed: "the name has expired since" }
  return { isNearExpiry: age > EXPIRATION_DEPTH * (1 - LIFE_DRIFT) }
}
