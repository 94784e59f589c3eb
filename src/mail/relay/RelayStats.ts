/** What the relay has done since it started, and what it holds. */
export interface RelayStats {
  /** Clients connected now. */
  readonly connections: number
  /** Messages in the spool. */
  readonly queued: number
  /** Bytes of the messages in the spool. */
  readonly queuedBytes: number
  /** Whether the upstream server answered last time. */
  readonly upstreamReachable: boolean
  /** Messages taken from clients: answered with 250. */
  readonly accepted: number
  /** Recipients and messages that were refused for good (5xx). */
  readonly refused: number
  /** Recipients and messages that were put off (4xx). */
  readonly putOff: number
  /** Recipients whose message the upstream server took. */
  readonly delivered: number
  /** Attempts that the upstream server put off. */
  readonly deferred: number
  /** Recipients whose message could not be delivered, and of whom the sender was told. */
  readonly bounced: number
  /** Recipients whose message could not be delivered, and of whom nobody was told: it had no sender. */
  readonly discarded: number
}
