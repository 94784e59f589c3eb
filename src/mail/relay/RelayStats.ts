/** Counts since the relay started, and what it holds now. */
export interface RelayStats {
  /** Clients connected now. */
  readonly connections: number
  /** Messages in the spool. */
  readonly queued: number
  /** Bytes of the messages in the spool. */
  readonly queuedBytes: number
  /** Whether the upstream server was reachable at the last attempt. */
  readonly upstreamReachable: boolean
  /** Messages taken from clients: answered with 250. */
  readonly accepted: number
  /** Recipients and messages that the relay refused permanently (5xx). */
  readonly refused: number
  /** Recipients and messages that the relay refused temporarily (4xx). */
  readonly putOff: number
  /** Recipients whose message the upstream server took. */
  readonly delivered: number
  /** Attempts that the upstream server deferred. */
  readonly deferred: number
  /** Recipients whose message could not be delivered, and was reported to the sender. */
  readonly bounced: number
  /** Recipients whose message could not be delivered, without a report: the message had no sender. */
  readonly discarded: number
}
