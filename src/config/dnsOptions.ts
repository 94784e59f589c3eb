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
  dns: listeners("listen", "address for DNS queries over UDP and TCP about names below .bit"),
  dnsns: listOption(DnsKind.hostKind, "dns.servers", {
    description: "name server for the NS records of the zone bit, the primary first; may be repeated",
    defaultNote: "this.x--nmc.bit"
  }),
  dnssuffix: listOption(DnsKind.hostKind, "dns.suffixes", {
    description:
      "domain under which the zone is also served, unsigned: example.org for bit.example.org; may be repeated",
    defaultNote: "bit alone"
  }),
  dnsid: oneOption(Kind.optionalKind(DnsKind.serverIdKind), "dns.id", {
    description: "name of this server, for clients that ask for NSID or id.server",
    defaultNote: "none"
  }),
  dnssec: oneOption(Kind.onOffKind, "dns.dnssec", {
    description: "sign the zone bit, with a key that svcd generates on the first start"
  }),
  dnsrequireproof: oneOption(Kind.choiceKind(["work", "signatures", "full"]), "dns.requireProof", {
    description: "minimum proof of an answer; with less, clients get SERVFAIL",
    default: "work"
  }),
  dnsttl: oneOption(Kind.integerKind({ min: 0, max: LONGEST_TTL }), "dns.ttl", {
    description: "time to live of the records of names, in seconds",
    default: "600"
  }),
  dnsforward: listOption(DnsKind.dnsForwardKind, "dns.forward", {
    description: "resolver for all other names, for the clients in dnsallow; may be repeated",
    defaultNote: "other names are refused"
  }),
  dnsallow: listOption(netKind, "dns.allow", {
    description: "address or network of clients that may use dnsforward, besides this machine; may be repeated",
    defaultNote: "this machine alone"
  }),
  dnstls: listeners("tls", "address for DNS over TLS; needs dnscert and dnskey"),
  dnshttps: listeners("https", "address for DNS over HTTPS, with the path /dns-query; needs dnscert and dnskey"),
  dnshttp: listeners("http", "address for DNS over HTTP without TLS, behind a proxy"),
  dnscert: oneOption(Kind.optionalKind(Kind.pathKind), "dns.certificate", {
    description: "PEM file with the certificate chain for dnstls and dnshttps; reloaded on SIGHUP and once a day",
    defaultNote: "none"
  }),
  dnskey: oneOption(Kind.optionalKind(Kind.pathKind), "dns.key", {
    description: "PEM file with the private key of dnscert",
    defaultNote: "none"
  }),
  dnstransfer: listOption(DnsKind.dnsTransferKind, "dns.transfer", {
    description: "client that may transfer the whole zone: address, network or key:NAME from dnstsig; may be repeated",
    defaultNote: "nobody"
  }),
  dnsnotify: listOption(DnsKind.dnsNotifyKind, "dns.notify", {
    description: "secondary server to notify of new blocks; #KEY signs the message with a key from dnstsig; " +
      "may be repeated",
    defaultNote: "none"
  }),
  dnstsig: listOption(DnsKind.tsigKind, "dns.tsig", {
    description: "key for zone transfers; set it in the file, because other users can see flags; may be repeated",
    secret: true,
    defaultNote: "no key"
  }),
  dnsrate: oneOption(Kind.optionalKind(Kind.integerKind({ min: 0, max: 1_000_000 })), "dns.rate", {
    description: "maximum identical UDP answers per second to one network (/24, or /56 for IPv6); 0 for no limit",
    defaultNote: "20; no limit for this machine"
  })
})

export interface DnsSettings extends Readonly<SettingsIn<typeof DNS_OPTIONS>["dns"]> {}
