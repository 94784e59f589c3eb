import { metricsOf } from "./families.ts"

const dns = metricsOf("DNS")

export const DNS_METRICS = dns.table

/** Where a question came from. */
export const DNS_TRANSPORTS = ["udp", "tcp", "tls", "https"] as const

export const dnsListeners = dns.gauge("svcd_dns_listeners", "Addresses at which the node answers DNS.")

export const dnsQueries = dns.counterBy(
  "svcd_dns_queries_total",
  "DNS messages received, by transport; https is HTTP without TLS, too.",
  { label: "transport", values: DNS_TRANSPORTS }
)

export const DNS_RCODES = [
  "NOERROR",
  "FORMERR",
  "SERVFAIL",
  "NXDOMAIN",
  "NOTIMP",
  "REFUSED",
  "YXDOMAIN",
  "NOTAUTH",
  "BADVERS",
  "BADCOOKIE"
] as const

export const dnsAnswers = dns.counterBy(
  "svcd_dns_answers_total",
  "DNS answers by response code, including those that -dnsrate then held back. " +
    "SERVFAIL means that the node lacks names, or that another server does not answer.",
  { label: "rcode", values: DNS_RCODES }
)

export const dnsAnswerDuration = dns.histogram(
  "svcd_dns_answer_seconds",
  "Time to make an answer that is not in the cache.",
  [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5]
)

/**
 * Too short for a header, an answer instead of a question, a port that no resolver uses, above `-dnsrate`, above the
 * limits for work or connections, impossible to send, or refused by the responder.
 */
export const DNS_DROPS = ["short", "answer", "port", "rate", "busy", "connections", "unsent", "other"] as const

export type DnsDrop = (typeof DNS_DROPS)[number]

export const dnsDropped = dns.counterBy(
  "svcd_dns_dropped_total",
  "DNS messages and connections without an answer, by reason. rate is -dnsrate, busy and connections are overload.",
  { label: "reason", values: DNS_DROPS }
)

export const dnsCacheHits = dns.counter("svcd_dns_cache_hits_total", "DNS answers taken from the cache.")

export const dnsCacheBytes = dns.gauge("svcd_dns_cache_bytes", "Memory of the DNS answers in the cache.")

export const dnsConnections = dns.gauge("svcd_dns_tcp_connections", "Open connections of DNS over TCP, TLS and HTTPS.")

export const dnsSignatures = dns.counter(
  "svcd_dns_signatures_total",
  "Record sets signed. Many more than new names means questions about names that do not exist."
)

export const dnsKeyTime = dns.gauge(
  "svcd_dns_key_timestamp_seconds",
  "When the key that signs the zone was made, in seconds since 1970; 0 without DNSSEC."
)

export const dnsZoneSerial = dns.gauge(
  "svcd_dns_zone_serial",
  "Serial of the zone bit. It grows with each block; where it does not, secondaries keep old records."
)

export const DNS_TRANSFERS = ["axfr", "ixfr", "current", "refused", "failed", "cut"] as const

export const dnsTransfers = dns.counterBy(
  "svcd_dns_transfers_total",
  "Zone transfers by kind: whole, changes alone, secondary is up to date, not permitted, failed, cut off before the end.",
  { label: "kind", values: DNS_TRANSFERS }
)

export const DNS_FORWARDS = ["answered", "failed", "refused"] as const

export const dnsForwarded = dns.counterBy(
  "svcd_dns_forwarded_total",
  "Questions that other servers had to answer, by outcome; refused is for too many at once.",
  { label: "outcome", values: DNS_FORWARDS }
)
