import * as Effect from "effect/Effect"
import { counter, type Facts, gauge, type Table } from "../../metrics/families.ts"
import type { RelayStats } from "./RelayStats.ts"

/** The metrics of `svcd-mail serve`. They belong to the process: two relays in one process share the counts. */

const facts = ({ help, name }: { readonly name: string; readonly help: string }): Facts => ({
  category: "mail",
  name,
  help
})

/** Counters, increased where the events happen. */
export const mailCounters = {
  connections: counter(facts({
    name: "svcd_mail_connections_total",
    help: "Connections of mail clients that were let in."
  })),
  accepted: counter(facts({
    name: "svcd_mail_messages_accepted_total",
    help: "Messages answered with 250: from then on the relay answers for them."
  })),
  acceptedBytes: counter(facts({
    name: "svcd_mail_accepted_bytes_total",
    help: "Bytes of the messages answered with 250."
  })),
  refused: counter(facts({
    name: "svcd_mail_refused_total",
    help: "Recipients, senders and messages refused for good (5xx)."
  })),
  putOff: counter(facts({
    name: "svcd_mail_put_off_total",
    help: "Commands and messages that clients have to repeat later (4xx)."
  })),
  delivered: counter(facts({
    name: "svcd_mail_delivered_total",
    help: "Recipients whose message the upstream server took."
  })),
  deferred: counter(facts({
    name: "svcd_mail_deferred_total",
    help: "Attempts to deliver that the upstream server put off."
  })),
  bounced: counter(facts({
    name: "svcd_mail_bounced_total",
    help: "Recipients not delivered to and reported to the sender."
  })),
  discarded: counter(facts({
    name: "svcd_mail_discarded_total",
    help: "Recipients not delivered to and not reported: the message had no sender."
  })),
  repeated: counter(facts({
    name: "svcd_mail_possibly_repeated_total",
    help: "Messages that may reach a recipient twice, because a connection or the relay ended before the last answer."
  }))
} as const

const gauges = {
  connections: gauge(facts({ name: "svcd_mail_clients_connected", help: "Mail clients that are connected." })),
  queued: gauge(facts({ name: "svcd_mail_queue_messages", help: "Messages in the spool." })),
  queuedBytes: gauge(facts({ name: "svcd_mail_queue_bytes", help: "Bytes of the messages in the spool." })),
  upstreamReachable: gauge(facts({
    name: "svcd_mail_upstream_reachable",
    help: "1 if the upstream server answered last time, 0 while all messages wait for it."
  }))
} as const

/** All mail metrics, as the metrics endpoint shows them. */
export const mailTable: Table = [...Object.values(mailCounters), ...Object.values(gauges)]

/** Updates the gauges. To be run before each answer of the metrics endpoint. */
export const sampleMail = (stats: Effect.Effect<RelayStats>): Effect.Effect<void> =>
  Effect.map(stats, (now) => {
    gauges.connections.set(now.connections)
    gauges.queued.set(now.queued)
    gauges.queuedBytes.set(now.queuedBytes)
    gauges.upstreamReachable.set(now.upstreamReachable ? 1 : 0)
  })
