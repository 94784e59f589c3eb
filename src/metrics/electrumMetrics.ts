import { metricsOf } from "./families.ts"

const electrum = metricsOf("Electrum")

export const ELECTRUM_METRICS = electrum.table

/** How a client of the Electrum server is connected. */
export const ELECTRUM_TRANSPORTS = ["tcp", "tls", "ws", "wss"] as const

export type ElectrumTransport = (typeof ELECTRUM_TRANSPORTS)[number]

export const electrumListeners = electrum.gauge(
  "svcd_electrum_listeners",
  "Addresses at which the node serves Electrum clients."
)

export const electrumSessions = electrum.gaugeBy(
  "svcd_electrum_sessions",
  "Connected Electrum clients, by transport.",
  { label: "transport", values: ELECTRUM_TRANSPORTS }
)

/** The groups of methods; `unknown` for a method that the client's version does not have. */
export const ELECTRUM_REQUESTS = [
  "server",
  "headers",
  "scripthash",
  "transaction",
  "broadcast",
  "mempool",
  "unknown"
] as const

export const electrumRequests = electrum.counterBy(
  "svcd_electrum_requests_total",
  "Requests of Electrum clients, by group of methods.",
  { label: "group", values: ELECTRUM_REQUESTS }
)

/**
 * Above the limit of costs, of sessions or of memory, not a message of the protocol, a message that stays unfinished, a
 * client that does not read, or one that says nothing.
 */
export const ELECTRUM_ENDS = ["cost", "sessions", "memory", "misread", "unfinished", "unread", "idle"] as const

export type ElectrumEnd = (typeof ELECTRUM_ENDS)[number]

export const electrumEnded = electrum.counterBy(
  "svcd_electrum_ended_total",
  "Electrum sessions that the node ended or refused, by reason. cost and sessions are limits of overload.",
  { label: "reason", values: ELECTRUM_ENDS }
)

export const electrumSubscriptions = electrum.gauge(
  "svcd_electrum_subscriptions",
  "Script hashes that Electrum clients follow, each session counted."
)

export const electrumNotifyDuration = electrum.histogram(
  "svcd_electrum_notify_seconds",
  "Time to notify Electrum clients of a new block.",
  [0.001, 0.005, 0.025, 0.1, 0.2, 0.5, 1, 5, 30]
)

export const electrumBytesIn = electrum.counter(
  "svcd_electrum_received_bytes_total",
  "Bytes of the requests of Electrum clients."
)

export const electrumBytesOut = electrum.counter(
  "svcd_electrum_sent_bytes_total",
  "Bytes of answers and notifications to Electrum clients."
)
