import type * as Command from "@effect/cli/Command"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { isIPv4, isIPv6 } from "node:net"
import { type Address, parseHostPort } from "../../base/addresses.ts"
import { quoted } from "../../base/safeText.ts"
import { CONNECTION_OPTIONS } from "../../config/connection.ts"
import * as Kind from "../../config/kinds.ts"
import { OPTIONS } from "../../config/options.ts"
import { parseMailAddress } from "../../mail/address.ts"
import { DEFAULT_NAMESPACE, parseNamespace } from "../../mail/label.ts"
import { DEFAULT_LIMITS } from "../../mail/relay/RelayConfig.ts"
import { daemonFlags, defaultedFlag, optionalFlag, repeatedFlag, requiredFlag } from "../tool/flags.ts"

/** The flags of `svcd-mail`, with the kinds that decode their texts. */

/** A kind whose text `parse` reads; on the left it returns what is wrong. */
const parsed = <A>(
  type: () => Schema.Schema<A>,
  { parse, placeholder, print }: {
    readonly placeholder: string
    readonly parse: (text: string) => Either.Either<A, string>
    readonly print: (value: A) => string
  }
): Kind.OptionKind<A> => ({ placeholder, toml: "string", schema: Kind.fromText(type, parse, print) })

const asText = (text: string): string => text

const namespace = parsed(() => Schema.String, { placeholder: "NAMESPACE", parse: parseNamespace, print: asText })

const email = parsed(
  () => Schema.String,
  {
    placeholder: "EMAIL",
    parse: (text) => Either.mapLeft(parseMailAddress(text), (why) => `${quoted(text)} ${why}`),
    print: asText
  }
)

/** A host to connect to, without a port, which has a flag of its own. An IPv6 address may be in brackets. */
const readHost = (text: string): Either.Either<string, string> => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (isIPv6(bare)) return Either.right(bare)
  return Either.mapBoth(parseHostPort(`${text}:25`, "required"), {
    onLeft: () => `${quoted(text)} is not a host; set the port with its own flag`,
    onRight: ({ host }: Address) => host
  })
}

const host = parsed(() => Schema.String, { placeholder: "HOST", parse: readHost, print: asText })

/** A domain of addresses, in lower case; one label is enough. */
const readDomain = (text: string): Either.Either<string, string> =>
  Either.isRight(readHost(text)) && !isIPv4(text) && !text.includes("_") && !text.endsWith(".") && !text.includes(":")
    ? Either.right(text.toLowerCase())
    : Either.left(`${quoted(text)} is not a domain`)

export const domain = parsed(() => Schema.String, { placeholder: "DOMAIN", parse: readDomain, print: asText })

interface Count {
  readonly description: string
  readonly fallback: number
}

const countFlag = (name: string, max: number, { description, fallback }: Count) =>
  defaultedFlag(name, Kind.integerKind({ min: 1, max }), { description, fallback: String(fallback) })

const TLS = ["auto", "opportunistic", "required", "implicit"] as const

const GIB = 1024 ** 3

/** What `register` and `update` put into the value. `mail/forwarding.ts` validates all fields together. */
export const VALUE_FLAGS = {
  forward: requiredFlag("forward", Kind.textKind("EMAIL"), { description: "target address for mail to the name" }),
  backup: repeatedFlag("backup", Kind.textKind("EMAIL"), {
    description: "fallback if that address is permanently refused; may be repeated"
  }),
  pubkey: optionalFlag("pubkey", Kind.textKind("BASE64"), { description: "public key for encrypted mail to the owner" })
}

export const NAMESPACE_FLAG = defaultedFlag("namespace", namespace, {
  description: "the part before the label in the name",
  fallback: DEFAULT_NAMESPACE
})

/** Of the daemon these flags say how to listen, here where to call. */
export const CONNECTION_FLAGS = daemonFlags({
  network: {
    ...CONNECTION_OPTIONS.network,
    description: "required network of the daemon",
    defaultNote: "any"
  },
  datadir: { ...CONNECTION_OPTIONS.datadir, description: "data directory; svcd.conf in it is read" },
  rpcaddr: { ...CONNECTION_OPTIONS.rpcaddr, description: "address of the daemon" },
  rpcuser: { ...CONNECTION_OPTIONS.rpcuser, description: "user name for the daemon" },
  rpcpassword: {
    ...CONNECTION_OPTIONS.rpcpassword,
    description: "password for the daemon; prefer the environment or a file"
  }
})

/** The log of `serve` is like the daemon's, whose file and environment apply to it too. */
export const LOG_OPTIONS = {
  loglevel: OPTIONS.loglevel,
  logformat: OPTIONS.logformat,
  debugsubsystem: OPTIONS.debugsubsystem
}

/** Where the password of the upstream server may stand too. */
export const PASSWORD_VARIABLE = "SVCD_MAIL_SMTP_PASSWORD"

/** A path, whose place is resolved later. */
const fileFlag = (name: string, { description, shown }: { readonly description: string; readonly shown?: string }) =>
  optionalFlag(name, Kind.pathKind, { description, shown })

/** Flags of `serve` only. */
export const SERVE_FLAGS = {
  listen: defaultedFlag("listen", Kind.addressKind("optional"), {
    description: "address to accept mail on",
    fallback: "127.0.0.1:2525"
  }),
  upstream: requiredFlag("upstream", host, { description: "upstream server for outgoing mail" }),
  upstreamport: defaultedFlag("upstreamport", Kind.integerKind({ min: 1, max: 65_535 }), {
    description: "port of the upstream server",
    fallback: "25"
  }),
  smtpuser: optionalFlag("smtpuser", Kind.textKind("NAME"), { description: "user name for the upstream server" }),
  smtppass: optionalFlag("smtppass", Kind.secretKind, {
    description: "password for the upstream server; prefer the environment or a file",
    env: PASSWORD_VARIABLE
  }),
  smtppassfile: fileFlag("smtppassfile", { description: "file with this password in its first line" }),
  upstreamtls: defaultedFlag("upstreamtls", Kind.choiceKind(TLS), {
    description: "encryption of the connection to the upstream server",
    fallback: "auto",
    shown: "implicit for port 465, otherwise opportunistic, or required if a password goes to another machine"
  }),
  upstreamca: fileFlag("upstreamca", {
    description: "PEM file with the authorities for the upstream server's certificate",
    shown: "those of Node.js"
  }),
  domain: repeatedFlag("domain", domain, {
    description: "domain to accept mail for; may be repeated",
    shown: "bit"
  }),
  hostname: optionalFlag("hostname", domain, {
    description: "name of this server in greetings, trace headers and reports",
    shown: "the system's host name"
  }),
  senderdomain: optionalFlag("senderdomain", domain, {
    description: "domain of rewritten senders; its bounces must reach this relay",
    shown: "that of --hostname"
  }),
  postmaster: optionalFlag("postmaster", email, { description: "address for mail to postmaster", shown: "none" }),
  tlscert: fileFlag("tlscert", { description: "PEM file with the certificate chain for senders" }),
  tlskey: fileFlag("tlskey", { description: "PEM file with its private key" }),
  spool: fileFlag("spool", {
    description: "directory for queued mail",
    shown: "mail in the data directory"
  }),
  maxsize: countFlag("maxsize", GIB, {
    description: "largest message, in bytes",
    fallback: DEFAULT_LIMITS.messageSize
  }),
  maxrecipients: countFlag("maxrecipients", 10_000, {
    description: "recipients of one message",
    fallback: DEFAULT_LIMITS.recipients
  }),
  maxconnections: countFlag("maxconnections", 100_000, {
    description: "connections from senders",
    fallback: DEFAULT_LIMITS.connections
  }),
  maxclientconnections: countFlag("maxclientconnections", 100_000, {
    description: "connections from one sender",
    fallback: DEFAULT_LIMITS.connectionsPerClient
  }),
  clientrate: defaultedFlag("clientrate", Kind.integerKind({ min: -1, max: 1_000_000 }), {
    description: "messages per minute from one sender; -1 for no limit",
    fallback: String(DEFAULT_LIMITS.messagesPerMinute),
    shown: "0, which is 120, and no limit on loopback"
  }),
  maxspoolmessages: countFlag("maxspoolmessages", 10_000_000, {
    description: "queued messages",
    fallback: DEFAULT_LIMITS.spoolMessages
  }),
  maxspoolsize: countFlag("maxspoolsize", 1024 * GIB, {
    description: "total size of queued messages, in bytes",
    fallback: DEFAULT_LIMITS.spoolBytes
  }),
  upstreamconnections: countFlag("upstreamconnections", 1_000, {
    description: "connections to the upstream server",
    fallback: DEFAULT_LIMITS.upstreamConnections
  }),
  giveupafter: countFlag("giveupafter", 720, {
    description: "hours after which an undelivered message is returned",
    fallback: 120
  }),
  metricsaddr: optionalFlag("metricsaddr", Kind.addressKind("optional"), {
    description: "address of the metrics endpoint",
    shown: "no endpoint"
  })
}

/** The flags of `serve`, validated one by one. */
export type ServeValues = Command.Command.ParseConfig<typeof SERVE_FLAGS>
