import type { Millis } from "../protocol/keys.ts"

/** When a message that was not accepted is retried. */

/** Milliseconds before the first retry. */
export const FIRST_PAUSE = 5_000

export const LONGEST_PAUSE = 3_600_000

/** Milliseconds without an accepted message until the node gives up. */
export const PATIENCE = 14 * 86_400_000

/** The share by which pauses vary, so that hooks of one receiver do not retry together. */
const JITTER = 0.2

export interface Failures {
  /** Failed attempts since the last accepted message; at least 1. */
  readonly attempts: number
  /** From 0 to below 1. */
  readonly random: number
  /** What the receiver asked for (Retry-After), in milliseconds. */
  readonly wished?: number | undefined
}

/** Milliseconds to wait: doubled each time, up to an hour. A receiver can ask for more, up to an hour. */
export const pauseAfter = ({ attempts, random, wished = 0 }: Failures): number => {
  const doubled = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(attempts - 1, 30))
  const pause = Math.max(doubled * (1 - JITTER + 2 * JITTER * random), Math.min(wished, LONGEST_PAUSE))
  return Math.round(Math.min(LONGEST_PAUSE, pause))
}

export const isGivenUp = (failingSince: Millis, now: Millis): boolean => now - failingSince >= PATIENCE

const SECONDS = /^\d{1,9}$/

/** The milliseconds of a Retry-After header (RFC 9110, section 10.2.3); `undefined` for a date or other text. */
export const retryAfter = (header: string | undefined): number | undefined =>
  header !== undefined && SECONDS.test(header) ? Number(header) * 1_000 : undefined
