import * as Effect from "effect/Effect"
import { metricsOf } from "../../metrics/families.ts"
import type { RelayStats } from "./RelayStats.ts"

/** The metrics of `svcd-mail serve`, shared by all relays of the process. */

const mail = metricsOf("mail")

export const mailCounters = {
  connections: mail.counter("svcd_mail_connections_total", "Connections of mail clients that were let in."),
  accepted: mail.counter(
    "svcd_mail_messages_accepted_total",
    "Messages answered with 250: from then on the relay answers for them."
  ),
  acceptedBytes: mail.counter("svcd_mail_accepted_bytes_total", "Bytes of the messages answered with 250."),
  refused: mail.counter("svcd_mail_refused_total", "Recipients, senders and messages refused for good (5xx)."),
  putOff: mail.counter("svcd_mail_put_off_total", "Commands and messages that clients have to repeat later (4xx)."),
  delivered: mail.counter("svcd_mail_delivered_total", "Recipients whose message the upstream server took."),
  deferred: mail.counter("svcd_mail_deferred_total", "Attempts to deliver that the upstream server put off."),
  bounced: mail.counter("svcd_mail_bounced_total", "Recipients not delivered to and reported to the sender."),
  discarded: mail.counter(
    "svcd_mail_discarded_total",
    "Recipients not delivered to and not reported: the message had no sender."
  ),
  repeated: mail.counter(
    "svcd_mail_possibly_repeated_total",
    "Messages that may reach a recipient twice, because a connection or the relay ended before the last answer."
  )
} as const

const gauges = {
  connections: mail.gauge("svcd_mail_clients_connected", "Mail clients that are connected."),
  queued: mail.gauge("svcd_mail_queue_messages", "Messages in the spool."),
  queuedBytes: mail.gauge("svcd_mail_queue_bytes", "Bytes of the messages in the spool."),
  upstreamReachable: mail.gauge(
    "svcd_mail_upstream_reachable",
    "1 if the upstream server answered last time, 0 while all messages wait for it."
  )
} as const

export const mailTable = mail.table

/** Run before each answer of the metrics endpoint. */
export const sampleMail = (stats: Effect.Effect<RelayStats>): Effect.Effect<void> =>
  Effect.map(stats, (now) => {
    gauges.connections.set(now.connections)
    gauges.queued.set(now.queued)
    gauges.queuedBytes.set(now.queuedBytes)
    gauges.upstreamReachable.set(now.upstreamReachable ? 1 : 0)
  })
