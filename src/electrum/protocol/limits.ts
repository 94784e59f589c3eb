/** Limits of the server, per session where nothing else is said. */

/** Bytes of a request, and of an answer. */
export const REQUEST_BYTES = 1_048_576
export const ANSWER_BYTES = 8_388_608

export interface ServedLimits {
  /** Over all transports. */
  readonly sessions: number
  /** From one address. This machine, and so clients over an onion service, have no limit. */
  readonly sessionsPerAddress: number
  readonly subscriptions: number
  /** Over all sessions. */
  readonly allSubscriptions: number
  /** Milliseconds without a message before the session ends. */
  readonly idle: number
  /** Milliseconds for a message, or a TLS handshake, to become complete. */
  readonly unfinished: number
  /** Bytes of notifications that wait for a client that does not read. */
  readonly unread: number
  /** Milliseconds in which a client takes nothing of what waits for it before the session ends. */
  readonly stalled: number
  /** Broadcasts in a minute before each costs more. */
  readonly broadcasts: number
}

export const ELECTRUM_LIMITS: ServedLimits = {
  sessions: 1_000,
  sessionsPerAddress: 50,
  subscriptions: 10_000,
  allSubscriptions: 1_000_000,
  idle: 600_000,
  unfinished: 10_000,
  unread: 1_048_576,
  stalled: 30_000,
  broadcasts: 20
}
