/** Counts since the start, and current values. */
export interface RelayStats {
  readonly connections: number
  readonly queued: number
  readonly queuedBytes: number
  readonly upstreamReachable: boolean
  /** Messages answered with 250. */
  readonly accepted: number
  /** Recipients and messages refused permanently (5xx). */
  readonly refused: number
  /** Recipients and messages refused temporarily (4xx). */
  readonly putOff: number
  readonly delivered: number
  readonly deferred: number
  /** Recipients, reported to the sender. */
  readonly bounced: number
  /** Failed recipients without a report, because the message had no sender. */
  readonly discarded: number
}
