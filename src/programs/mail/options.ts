import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { isIPv4, isIPv6 } from "node:net"
import { type Address, parseHostPort } from "../../base/addresses.ts"
import { quoted } from "../../base/safeText.ts"
import * as Kind from "../../config/kinds.ts"
import { inGroup, listOption, oneOption } from "../../config/optionRow.ts"
import { OPTIONS } from "../../config/options.ts"
import type { ValuesIn } from "../../config/settingsIn.ts"
import { parseMailAddress } from "../../mail/address.ts"
import { DEFAULT_NAMESPACE, parseNamespace } from "../../mail/label.ts"
import { DEFAULT_LIMITS } from "../../mail/relay/RelayConfig.ts"
import { flagsOf } from "../tool/flags.ts"

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

/** Without a port, which has its own flag. An IPv6 address may be in brackets. */
const readHost = (text: string): Either.Either<string, string> => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (isIPv6(bare)) return Either.right(bare)
  return Either.mapBoth(parseHostPort(`${text}:25`, "required"), {
    onLeft: () => `${quoted(text)} is not a host; set the port with its own flag`,
    onRight: ({ host }: Address) => host
  })
}

const host = parsed(() => Schema.String, { placeholder: "HOST", parse: readHost, print: asText })

/** In lower case; one label is enough. */
const readDomain = (text: string): Either.Either<string, string> =>
  Either.isRight(readHost(text)) && !isIPv4(text) && !text.includes("_") && !text.endsWith(".") && !text.includes(":")
    ? Either.right(text.toLowerCase())
    : Either.left(`${quoted(text)} is not a domain`)

export const domain = parsed(() => Schema.String, { placeholder: "DOMAIN", parse: readDomain, print: asText })

const TLS = ["auto", "opportunistic", "required", "implicit"] as const

const GIB = 1024 ** 3

const FILE = Kind.optionalKind(Kind.pathKind)

/** The value's fields in `register` and `update`, validated together by `mail/forwarding.ts`. */
export const VALUE_FLAGS = flagsOf(
  inGroup("General", {
    forward: oneOption(Kind.textKind("EMAIL"), "value.forward", { description: "target address for mail to the name" }),
    backup: listOption(Kind.textKind("EMAIL"), "value.backup", {
      description: "fallback if that address is permanently refused; may be repeated"
    }),
    pubkey: oneOption(Kind.optionalKind(Kind.textKind("BASE64")), "value.pubkey", {
      description: "public key for encrypted mail to the owner"
    })
  }),
  { needed: ["forward"] }
)

export const NAMESPACE_FLAG = flagsOf(inGroup("General", {
  namespace: oneOption(namespace, "value.namespace", {
    description: "the part before the label in the name",
    default: DEFAULT_NAMESPACE
  })
}))

/** The daemon's file and environment apply to the log of `serve`, too. */
export const LOG_OPTIONS = {
  loglevel: OPTIONS.loglevel,
  logformat: OPTIONS.logformat,
  debugsubsystem: OPTIONS.debugsubsystem
}

/** An alternative for the password of the upstream server. */
export const PASSWORD_VARIABLE = "SVCD_MAIL_SMTP_PASSWORD"

const count = (max: number) => Kind.integerKind({ min: 1, max })

export const SERVE_OPTIONS = inGroup("General", {
  listen: oneOption(Kind.addressKind("optional"), "relay.listen", {
    description: "address to accept mail on",
    default: "127.0.0.1:2525"
  }),
  upstream: oneOption(host, "upstream.host", { description: "upstream server for outgoing mail" }),
  upstreamport: oneOption(Kind.integerKind({ min: 1, max: 65_535 }), "upstream.port", {
    description: "port of the upstream server",
    default: "25"
  }),
  smtpuser: oneOption(Kind.optionalKind(Kind.textKind("NAME")), "smtp.user", {
    description: "user name for the upstream server"
  }),
  smtppass: oneOption(Kind.optionalKind(Kind.secretKind), "smtp.password", {
    description: "password for the upstream server; prefer the environment or a file",
    env: PASSWORD_VARIABLE
  }),
  smtppassfile: oneOption(FILE, "smtp.passwordFile", { description: "file with this password in its first line" }),
  upstreamtls: oneOption(Kind.choiceKind(TLS), "tls.upstream", {
    description: "encryption of the connection to the upstream server",
    default: "auto",
    defaultNote: "implicit for port 465, otherwise opportunistic, or required if a password goes to another machine"
  }),
  upstreamca: oneOption(FILE, "tls.upstreamCa", {
    description: "PEM file with the authorities for the upstream server's certificate",
    defaultNote: "those of Node.js"
  }),
  domain: listOption(domain, "relay.domains", {
    description: "domain to accept mail for; may be repeated",
    defaultNote: "bit"
  }),
  hostname: oneOption(Kind.optionalKind(domain), "relay.hostname", {
    description: "name of this server in greetings, trace headers and reports",
    defaultNote: "the system's host name"
  }),
  senderdomain: oneOption(Kind.optionalKind(domain), "relay.senderDomain", {
    description: "domain of rewritten senders; its bounces must reach this relay",
    defaultNote: "that of --hostname"
  }),
  postmaster: oneOption(Kind.optionalKind(email), "relay.postmaster", {
    description: "address for mail to postmaster",
    defaultNote: "none"
  }),
  tlscert: oneOption(FILE, "tls.cert", {
    description: "PEM file with the certificate chain for senders"
  }),
  tlskey: oneOption(FILE, "tls.key", { description: "PEM file with its private key" }),
  spool: oneOption(FILE, "relay.spoolDirectory", {
    description: "directory for queued mail",
    defaultNote: "mail in the data directory"
  }),
  maxsize: oneOption(count(GIB), "limits.messageSize", {
    description: "largest message, in bytes",
    default: String(DEFAULT_LIMITS.messageSize)
  }),
  maxrecipients: oneOption(count(10_000), "limits.recipients", {
    description: "recipients of one message",
    default: String(DEFAULT_LIMITS.recipients)
  }),
  maxconnections: oneOption(count(100_000), "limits.connections", {
    description: "connections from senders",
    default: String(DEFAULT_LIMITS.connections)
  }),
  maxclientconnections: oneOption(count(100_000), "limits.connectionsPerClient", {
    description: "connections from one sender",
    default: String(DEFAULT_LIMITS.connectionsPerClient)
  }),
  clientrate: oneOption(Kind.integerKind({ min: -1, max: 1_000_000 }), "limits.messagesPerMinute", {
    description: "messages per minute from one sender; -1 for no limit",
    default: String(DEFAULT_LIMITS.messagesPerMinute),
    defaultNote: "0, which is 120, and no limit on loopback"
  }),
  maxspoolmessages: oneOption(count(10_000_000), "limits.spoolMessages", {
    description: "queued messages",
    default: String(DEFAULT_LIMITS.spoolMessages)
  }),
  maxspoolsize: oneOption(count(1024 * GIB), "limits.spoolBytes", {
    description: "total size of queued messages, in bytes",
    default: String(DEFAULT_LIMITS.spoolBytes)
  }),
  upstreamconnections: oneOption(count(1_000), "limits.upstreamConnections", {
    description: "connections to the upstream server",
    default: String(DEFAULT_LIMITS.upstreamConnections)
  }),
  giveupafter: oneOption(count(720), "retry.hours", {
    description: "hours after which an undelivered message is returned",
    default: "120"
  }),
  metricsaddr: oneOption(Kind.optionalKind(Kind.addressKind("optional")), "metrics.listen", {
    description: "address of the metrics endpoint",
    defaultNote: "no endpoint"
  })
})

export type ServeValues = ValuesIn<typeof SERVE_OPTIONS>

export const SERVE_FLAGS = flagsOf(SERVE_OPTIONS, { needed: ["upstream"] })
