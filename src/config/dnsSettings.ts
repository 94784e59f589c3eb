import { formatHostPort, overlap } from "../base/addresses.ts"
import type { Issue } from "./decode.ts"
import type { DNS_OPTIONS, DnsSettings } from "./dnsOptions.ts"
import { type Listener, takenIssues } from "./listeners.ts"

/** Contradictions between the options of DNS, and where it listens. */

type DnsOptionName = keyof typeof DNS_OPTIONS

const LISTENERS = [["dns", "listen"], ["dnstls", "tls"], ["dnshttps", "https"], ["dnshttp", "http"]] as const

export const dnsListenersOf = (dns: DnsSettings): ReadonlyArray<Listener<DnsOptionName>> =>
  LISTENERS.flatMap(([name, field]) => dns[field].map((address) => ({ name, address })))

/** Whether the node answers DNS at all. */
export const servesDns = (dns: DnsSettings): boolean => dnsListenersOf(dns).length > 0

/** The options without a purpose where nothing listens. */
const purposeless = (dns: DnsSettings): ReadonlyArray<DnsOptionName> => {
  const given = [
    ["dnsforward", dns.forward.length > 0],
    ["dnssec", dns.dnssec],
    ["dnstransfer", dns.transfer.length > 0],
    ["dnsnotify", dns.notify.length > 0]
  ] as const
  return servesDns(dns) ? [] : given.filter(([, isGiven]) => isGiven).map(([name]) => name)
}

const certificateIssues = (dns: DnsSettings): ReadonlyArray<Issue> => {
  if ((dns.certificate === undefined) !== (dns.key === undefined)) {
    const [given, missing] = dns.certificate === undefined
      ? ["dnskey", "dnscert"] as const
      : ["dnscert", "dnskey"] as const
    return [[given, `is given without ${missing}; TLS needs both`]]
  }
  const needy = LISTENERS.filter(([name, field]) => (name === "dnstls" || name === "dnshttps") && dns[field].length > 0)
  return dns.certificate === undefined
    ? needy.map(([name]) => [name, "needs a certificate and its key; set dnscert and dnskey"])
    : []
}

/** `others` are the listeners of the node that are not for DNS. */
export const dnsContradictions = (dns: DnsSettings, others: ReadonlyArray<Listener>): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = [...certificateIssues(dns)]
  for (const name of purposeless(dns)) {
    issues.push([
      name,
      "is for a node that answers DNS, and nothing listens for it; set dns, for example 127.0.0.1:5391"
    ])
  }
  const listeners = dnsListenersOf(dns)
  issues.push(...takenIssues(listeners, others))
  for (const { address } of dns.forward) {
    const own = listeners.find((listener) => overlap(listener.address, address))
    if (own !== undefined) issues.push(["dnsforward", `${formatHostPort(address)} is this node itself, by ${own.name}`])
  }
  const named = [
    ...dns.transfer.map((rule) => ["dnstransfer", "key" in rule ? rule.key : undefined] as const),
    ...dns.notify.map(({ key }) => ["dnsnotify", key] as const)
  ]
  for (const [option, key] of named) {
    if (key === undefined || dns.tsig.some(({ name }) => name === key)) continue
    issues.push([option, `names the key ${key.replace(/\.$/, "")}, which dnstsig does not have`])
  }
  const repeated = dns.tsig.find(({ name }, at) => dns.tsig.findIndex((key) => key.name === name) < at)
  if (repeated !== undefined) issues.push(["dnstsig", "has two keys of the same name"])
  return issues
}
