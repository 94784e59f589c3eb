import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import { type Address, isLoopback } from "../../base/addresses.ts"

/** How the connection to the upstream server is encrypted. */
export type UpstreamTls =
  /** STARTTLS where it is offered, without a check of the server's certificate. */
  | "opportunistic"
  /** STARTTLS with a certificate for the host; without it the relay sends nothing. */
  | "required"
  /** TLS from the first byte, with a certificate for the host. */
  | "implicit"

export interface RelayConfig {
  /** Where the relay listens. An empty host means every interface, port 0 any free one. */
  readonly listen: Address
  /** The server that the relay hands all mail to. */
  readonly upstream: Address
  readonly credentials: { readonly user: string; readonly password: Redacted.Redacted } | undefined
  readonly upstreamTls: UpstreamTls
  /** Trusted certificates for the upstream server, as PEM text; `undefined`: the system's. */
  readonly upstreamCa: string | undefined
  /** PEM texts. With them the relay offers STARTTLS to clients. */
  readonly tls: { readonly key: string; readonly cert: string } | undefined
  /** The domains of the labels' addresses. Compared without regard to case. */
  readonly domains: ReadonlyArray<string>
  /** This relay's name in greetings, trace headers and reports. */
  readonly hostname: string
  /** The domain of rewritten senders (SRS), where bounces of forwarded mail return. Its MX has to be this relay. */
  readonly senderDomain: string
  /** From: in delivery reports. Their envelope sender is empty. */
  readonly reportSender: string
  /** Gets the mail to `postmaster`; without it that mail is refused like an unknown label. */
  readonly postmaster: string | undefined
  /** Created if it is missing. One relay at a time uses it. */
  readonly spoolDirectory: string
  readonly limits: RelayLimits
  readonly retry: RetryPolicy
}

/** What a connection to an upstream server needs. */
export type UpstreamConfig =
  & Pick<RelayConfig, "credentials" | "hostname" | "upstream" | "upstreamCa" | "upstreamTls">
  & { readonly limits: Pick<RelayLimits, "answerTimeout" | "connectTimeout"> }

export interface RelayLimits {
  /** Bytes of one message. */
  readonly messageSize: number
  /** Recipients of one message. */
  readonly recipients: number
  readonly connections: number
  /** Connections of one client: of one IPv4 address, of one IPv6 /64. */
  readonly connectionsPerClient: number
  /** Messages a minute and client; -1: no limit; 0: 120, and no limit for clients on this machine. */
  readonly messagesPerMinute: number
  /** Messages that wait in the spool. */
  readonly spoolMessages: number
  /** Bytes of all messages that wait in the spool. */
  readonly spoolBytes: number
  /** Connections to the upstream server. */
  readonly upstreamConnections: number
  /** The relay disconnects a client that is silent for this long. */
  readonly idleTimeout: Duration.Duration
  /** For the whole text of one message. */
  readonly dataTimeout: Duration.Duration
  /** For the upstream server's greeting. */
  readonly connectTimeout: Duration.Duration
  /** For each reply of the upstream server. */
  readonly answerTimeout: Duration.Duration
  /** Time that transactions under way get at shutdown. */
  readonly drainTime: Duration.Duration
}

export interface RetryPolicy {
  /** Pauses after the first, second, … deferred attempt; the last one repeats. Never empty. */
  readonly pauses: ReadonlyArray<Duration.Duration>
  /** Pauses between attempts to connect to an upstream server that is down; the last one repeats. Never empty. */
  readonly reconnect: ReadonlyArray<Duration.Duration>
  /** Age at which the relay gives up a message and reports it to the sender. */
  readonly giveUpAfter: Duration.Duration
}

export const DEFAULT_LIMITS: RelayLimits = {
  messageSize: 25 * 1024 * 1024,
  recipients: 100,
  connections: 256,
  connectionsPerClient: 32,
  messagesPerMinute: 0,
  spoolMessages: 20_000,
  spoolBytes: 2 * 1024 * 1024 * 1024,
  upstreamConnections: 8,
  idleTimeout: Duration.minutes(5),
  dataTimeout: Duration.minutes(15),
  connectTimeout: Duration.seconds(30),
  answerTimeout: Duration.minutes(5),
  drainTime: Duration.seconds(3)
}

export const DEFAULT_RETRY: RetryPolicy = {
  pauses: [
    Duration.minutes(1),
    Duration.minutes(5),
    Duration.minutes(15),
    Duration.minutes(30),
    Duration.hours(1),
    Duration.hours(2)
  ],
  reconnect: [1, 2, 5, 10, 20, 30].map((seconds) => Duration.seconds(seconds)),
  giveUpAfter: Duration.days(5)
}

/** Fills in the defaults of all optional settings. */
export const relayConfig = (
  given:
    & Pick<RelayConfig, "listen" | "upstream" | "spoolDirectory" | "hostname">
    & Partial<Omit<RelayConfig, "limits" | "retry">>
    & { readonly limits?: Partial<RelayLimits>; readonly retry?: Partial<RetryPolicy> }
): RelayConfig => ({
  credentials: undefined,
  upstreamTls: "opportunistic",
  upstreamCa: undefined,
  tls: undefined,
  domains: ["bit"],
  senderDomain: given.hostname,
  reportSender: `MAILER-DAEMON@${given.hostname}`,
  postmaster: undefined,
  ...given,
  limits: { ...DEFAULT_LIMITS, ...given.limits },
  retry: { ...DEFAULT_RETRY, ...given.retry }
})

/** The encryption in use: credentials go over an unencrypted connection only to this machine itself. */
export const upstreamTlsOf = (config: Pick<RelayConfig, "credentials" | "upstream" | "upstreamTls">): UpstreamTls =>
  config.credentials !== undefined && config.upstreamTls === "opportunistic" && !isLoopback(config.upstream.host)
    ? "required"
    : config.upstreamTls
