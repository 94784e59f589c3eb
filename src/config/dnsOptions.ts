import { netKind } from "./accessKinds.ts"
import * as DnsKind from "./dnsKinds.ts"
import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"
import type { SettingsIn } from "./settingsIn.ts"

const listeners = <F extends string>(field: F, description: string) =>
  listOption(Kind.addressKind("optional"), `dns.${field}`, {
    description: `${description}; may be repeated`,
    defaultNote: "no listener"
  })

/** A week (RFC 8767, section 4, on TTLs beyond that). */
const LONGEST_TTL = 604_800

export const DNS_OPTIONS = inGroup("DNS", {
  dns: listeners("listen", "address at which to answer DNS over UDP and TCP for names below .bit"),
  dnsns: listOption(DnsKind.hostKind, "dns.servers", {
    description: "name server of the zone bit, as its NS records name it, the primary first; may be repeated",
    defaultNote: "this.x--nmc.bit"
  }),
  dnssuffix: listOption(DnsKind.hostKind, "dns.suffixes", {
    description: "domain below which to serve the zone too, unsigned, as bit.example.org; may be repeated",
    defaultNote: "bit alone"
  }),
  dnssec: oneOption(Kind.onOffKind, "dns.dnssec", {
    description: "sign the zone with a key that the node makes at its first start"
  }),
  dnsrequireproof: oneOption(Kind.choiceKind(["work", "signatures", "full"]), "dns.requireProof", {
    description: "minimum proof of an answer by DNS; below it the answer is SERVFAIL",
    default: "work"
  }),
  dnsttl: oneOption(Kind.integerKind({ min: 0, max: LONGEST_TTL }), "dns.ttl", {
    description: "seconds for which resolvers may remember the records of names",
    default: "600"
  }),
  dnsforward: listOption(DnsKind.dnsForwardKind, "dns.forward", {
    description: "resolver to ask about other names, for the callers of dnsallow; may be repeated",
    defaultNote: "other names are refused"
  }),
  dnsallow: listOption(netKind, "dns.allow", {
    description: "address or network whose questions may be forwarded, besides this machine; may be repeated",
    defaultNote: "this machine alone"
  }),
  dnstls: listeners("tls", "address at which to answer DNS over TLS, with dnscert and dnskey"),
  dnshttps: listeners("https", "address at which to answer DNS over HTTPS at /dns-query, with dnscert and dnskey"),
  dnshttp: listeners("http", "address at which to answer the same without TLS, for a proxy in front"),
  dnscert: oneOption(Kind.optionalKind(Kind.pathKind), "dns.certificate", {
    description: "file with the certificate of dnstls and dnshttps and those above it, in PEM; SIGHUP reads it again",
    defaultNote: "none"
  }),
  dnskey: oneOption(Kind.optionalKind(Kind.pathKind), "dns.key", {
    description: "file with the key of that certificate, in PEM",
    defaultNote: "none"
  }),
  dnstransfer: listOption(DnsKind.dnsTransferKind, "dns.transfer", {
    description: "address or network, or key:NAME of dnstsig, that may transfer the whole zone; may be repeated",
    defaultNote: "nobody"
  }),
  dnsnotify: listOption(DnsKind.dnsNotifyKind, "dns.notify", {
    description: "secondary to notify of each block, with #KEY signed with a key of dnstsig; may be repeated",
    defaultNote: "none"
  }),
  dnstsig: listOption(DnsKind.tsigKind, "dns.tsig", {
    description:
      "key that signs zone transfers; set it in the file, because other users can see flags; may be repeated",
    secret: true,
    defaultNote: "no key"
  }),
  dnsrate: oneOption(Kind.optionalKind(Kind.integerKind({ min: 0, max: 1_000_000 })), "dns.rate", {
    description: "equal answers a second by UDP to one network (/24, or /56 of IPv6); 0 for no limit",
    defaultNote: "20, and no limit on this machine"
  })
})

export interface DnsSettings extends Readonly<SettingsIn<typeof DNS_OPTIONS>["dns"]> {}
