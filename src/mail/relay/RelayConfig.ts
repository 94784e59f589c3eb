import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import { type Address, isLoopback } from "../../base/addresses.ts"

export type UpstreamTls =
  /** STARTTLS if offered, without checking the certificate. */
  | "opportunistic"
  /** STARTTLS with a certificate for the host; otherwise nothing is sent. */
  | "required"
  /** TLS from the first byte, with a certificate for the host. */
  | "implicit"

export interface RelayConfig {
  /** An empty host means every interface, port 0 any free one. */
  readonly listen: Address
  readonly upstream: Address
  readonly credentials: { readonly user: string; readonly password: Redacted.Redacted } | undefined
  readonly upstreamTls: UpstreamTls
  /** PEM text; `undefined`: the system's certificates. */
  readonly upstreamCa: string | undefined
  /** PEM texts, for STARTTLS to clients. */
  readonly tls: { readonly key: string; readonly cert: string } | undefined
  /** Domains of the labels' addresses; case-insensitive. */
  readonly domains: ReadonlyArray<string>
  /** This relay's name in greetings, trace headers and reports. */
  readonly hostname: string
  /** The domain of rewritten senders (SRS), to which bounces return. Its MX must be this relay. */
  readonly senderDomain: string
  /** From: in delivery reports. Their envelope sender is empty. */
  readonly reportSender: string
  /** Receives mail to `postmaster`, which is otherwise refused like an unknown label. */
  readonly postmaster: string | undefined
  /** Created if missing. Used by one relay at a time. */
  readonly spoolDirectory: string
  readonly limits: RelayLimits
  readonly retry: RetryPolicy
}

export type UpstreamConfig =
  & Pick<RelayConfig, "credentials" | "hostname" | "upstream" | "upstreamCa" | "upstreamTls">
  & { readonly limits: Pick<RelayLimits, "answerTimeout" | "connectTimeout"> }

export interface RelayLimits {
  /** Bytes. */
  readonly messageSize: number
  readonly recipients: number
  readonly connections: number
  /** Per IPv4 address or IPv6 /64. */
  readonly connectionsPerClient: number
  /** Per client; -1: no limit; 0: 120, and no limit for clients on this machine. */
  readonly messagesPerMinute: number
  readonly spoolMessages: number
  readonly spoolBytes: number
  readonly upstreamConnections: number
  readonly idleTimeout: Duration.Duration
  /** For the text of one message. */
  readonly dataTimeout: Duration.Duration
  readonly connectTimeout: Duration.Duration
  readonly answerTimeout: Duration.Duration
  /** For running transactions at shutdown. */
  readonly drainTime: Duration.Duration
}

export interface RetryPolicy {
  /** After the first, second, … deferred attempt; the last one repeats. Never empty. */
  readonly pauses: ReadonlyArray<Duration.Duration>
  /** Between attempts to reach an upstream server that is down; the last one repeats. Never empty. */
  readonly reconnect: ReadonlyArray<Duration.Duration>
  /** Age at which a message is given up and reported to the sender. */
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

/** Without TLS, credentials go only to this machine itself. */
export const upstreamTlsOf = (config: Pick<RelayConfig, "credentials" | "upstream" | "upstreamTls">): UpstreamTls =>
  config.credentials !== undefined && config.upstreamTls === "opportunistic" && !isLoopback(config.upstream.host)
    ? "required"
    : config.upstreamTls
