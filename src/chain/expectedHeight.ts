import type { Height, UnixTime } from "../protocol/keys.ts"

export interface KnownHeaders {
  /** Height of the best header. */
  readonly headers: Height
  /** Time of the best header, in seconds since 1970. */
  readonly headerTime: UnixTime
  /** Seconds since 1970. */
  readonly now: UnixTime
  /** The network's target seconds between blocks. */
  readonly spacing: number
  /** Whether blocks are made on demand, so that their age means nothing. */
  readonly onDemand: boolean
}

/** The age of an old header in seconds. */
const OLD_HEADER = 86_400

/** The expected end of the chain: the best header, plus the blocks since then if it is old. */
export const expectedHeight = ({ headers, headerTime, now, onDemand, spacing }: KnownHeaders): Height =>
  onDemand || now - headerTime <= OLD_HEADER ? headers : headers + Math.floor((now - headerTime) / spacing)
