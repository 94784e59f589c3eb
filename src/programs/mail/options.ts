import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { isIPv4, isIPv6 } from "node:net"
import { type Address, parseHostPort } from "../../base/addresses.ts"
import { quoted } from "../../base/safeText.ts"
import { CONNECTION_OPTIONS } from "../../config/connection.ts"
import * as Kind from "../../config/kinds.ts"
import { fieldsOf, type Option, optionNamesOf, OPTIONS, type OptionTable } from "../../config/options.ts"
import { UsageError } from "../../config/UsageError.ts"
import { parseMailAddress } from "../../mail/address.ts"
import { DEFAULT_NAMESPACE, parseNamespace } from "../../mail/label.ts"
import { DEFAULT_LIMITS } from "../../mail/relay/RelayConfig.ts"

/** The flags of `svcd-mail`, defined once: their texts are validated here, for all sub-commands. */

/** A kind whose text `parse` reads; on the left it returns what is wrong. */
const parsed = <A>(
  type: Schema.Schema<A>,
  placeholder: string,
  parse: (text: string) => Either.Either<A, string>,
  print: (value: A) => string
): Kind.OptionKind<A> => ({ placeholder, toml: "string", schema: Kind.fromText(type, parse, print) })

const asText = (text: string): string => text

const namespace = parsed(Schema.String, "NAMESPACE", parseNamespace, asText)

const email = parsed(
  Schema.String,
  "EMAIL",
  (text) => Either.mapLeft(parseMailAddress(text), (why) => `${quoted(text)} ${why}`),
  asText
)

/** A host to connect to, without a port, which has a flag of its own. An IPv6 address may stand in brackets. */
const readHost = (text: string): Either.Either<string, string> => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (isIPv6(bare)) return Either.right(bare)
  return Either.mapBoth(parseHostPort(`${text}:25`, "required"), {
    onLeft: () => `${quoted(text)} is not a host; the port has a flag of its own`,
    onRight: ({ host }: Address) => host
  })
}

const host = parsed(Schema.String, "HOST", readHost, asText)

/** A domain of addresses, in lower case; one label is enough. */
const readDomain = (text: string): Either.Either<string, string> =>
  Either.isRight(readHost(text)) && !isIPv4(text) && !text.includes("_") && !text.endsWith(".") && !text.includes(":")
    ? Either.right(text.toLowerCase())
    : Either.left(`${quoted(text)} is not a domain`)

export const domain = parsed(Schema.String, "DOMAIN", readDomain, asText)

interface Traits {
  readonly default?: string
  readonly defaultNote?: string
  readonly env?: string
  readonly secret?: true
}

const shared = (description: string, traits: Traits) => ({
  default: traits.default ?? "",
  defaultNote: traits.defaultNote,
  key: undefined,
  flag: true,
  env: traits.env,
  secret: traits.secret === true,
  group: "General" as const,
  description
})

const flag = <A>(
  kind: Kind.OptionKind<A>,
  description: string,
  traits: Traits = {}
): Option<Schema.Schema<A, string>> => ({
  ...shared(description, traits),
  schema: kind.schema,
  placeholder: kind.placeholder,
  toml: kind.toml,
  repeatable: false
})

const list = <A>(
  kind: Kind.OptionKind<A>,
  description: string,
  traits: Traits = {}
): Option<Schema.Schema<ReadonlyArray<A>, ReadonlyArray<string>>> => ({
  ...shared(description, traits),
  schema: Schema.Array(kind.schema),
  placeholder: kind.placeholder,
  toml: kind.toml,
  repeatable: true
})

const count = (max: number): Kind.OptionKind<number> => Kind.integerKind({ min: 1, max })

const TLS = ["auto", "opportunistic", "required", "implicit"] as const

const GIB = 1024 ** 3

/** What `register` and `update` put into the value. `mail/forwarding.ts` validates all fields together. */
export const VALUE_OPTIONS = {
  forward: flag(Kind.textKind("EMAIL"), "where mail to the name goes"),
  backup: list(Kind.textKind("EMAIL"), "where it goes if that address is refused permanently; may be repeated"),
  pubkey: flag(Kind.textKind("BASE64"), "public key for encrypted mail to the owner")
}

export const NAMESPACE_OPTIONS = {
  namespace: flag(namespace, "what stands before the label in the name", { default: DEFAULT_NAMESPACE })
}

export const LOOKUP_OPTIONS = { json: { ...flag(Kind.onOffKind, "print one line of JSON"), default: "0" } }

/** The log of `serve` is like the daemon's, whose file and environment apply to it too. */
export const LOG_OPTIONS = {
  datadir: OPTIONS.datadir,
  loglevel: OPTIONS.loglevel,
  logformat: OPTIONS.logformat,
  debugsubsystem: OPTIONS.debugsubsystem
}

/** Flags of `serve` only. */
export const SERVE_OPTIONS = {
  listen: flag(Kind.addressKind("optional"), "address to take mail on", { default: "127.0.0.1:2525" }),
  upstream: flag(host, "server that mail is handed to"),
  upstreamport: flag(Kind.integerKind({ min: 1, max: 65_535 }), "its port", { default: "25" }),
  smtpuser: flag(Kind.optionalKind(Kind.textKind("NAME")), "user name at that server"),
  smtppass: flag(Kind.optionalKind(Kind.secretKind), "password there; better given by environment or file", {
    env: "SVCD_MAIL_SMTP_PASSWORD",
    secret: true
  }),
  smtppassfile: flag(Kind.optionalKind(Kind.pathKind), "file whose first line is that password"),
  upstreamtls: flag(Kind.choiceKind(TLS), "encryption of the connection to it", {
    default: "auto",
    defaultNote: "implicit for port 465, else opportunistic, or required where a password goes to another machine"
  }),
  upstreamca: flag(Kind.optionalKind(Kind.pathKind), "PEM file with the certificates that its own is checked against", {
    defaultNote: "those of Node"
  }),
  domain: list(domain, "domain whose addresses are taken; may be repeated", { defaultNote: "bit" }),
  hostname: flag(Kind.optionalKind(domain), "name of this server in greetings, trace headers and reports", {
    defaultNote: "the system's"
  }),
  senderdomain: flag(Kind.optionalKind(domain), "domain of rewritten senders; bounces have to reach this relay there", {
    defaultNote: "that of -hostname"
  }),
  postmaster: flag(Kind.optionalKind(email), "address that gets mail to postmaster", { defaultNote: "none" }),
  tlscert: flag(Kind.optionalKind(Kind.pathKind), "PEM file with the certificate chain that is shown to senders"),
  tlskey: flag(Kind.optionalKind(Kind.pathKind), "PEM file with its private key"),
  spool: flag(Kind.optionalKind(Kind.pathKind), "directory for mail that is under way", {
    defaultNote: "mail in the data directory"
  }),
  maxsize: flag(count(GIB), "largest message, in bytes", { default: String(DEFAULT_LIMITS.messageSize) }),
  maxrecipients: flag(count(10_000), "recipients of one message", { default: String(DEFAULT_LIMITS.recipients) }),
  maxconnections: flag(count(100_000), "connections of senders", { default: String(DEFAULT_LIMITS.connections) }),
  maxclientconnections: flag(count(100_000), "connections of one sender", {
    default: String(DEFAULT_LIMITS.connectionsPerClient)
  }),
  clientrate: flag(
    Kind.integerKind({ min: -1, max: 1_000_000 }),
    "messages a minute of one sender; -1 for no limit",
    { default: String(DEFAULT_LIMITS.messagesPerMinute), defaultNote: "0, which is 120, and no limit on loopback" }
  ),
  maxspoolmessages: flag(count(10_000_000), "messages that may wait", {
    default: String(DEFAULT_LIMITS.spoolMessages)
  }),
  maxspoolsize: flag(count(1024 * GIB), "bytes of all of them", { default: String(DEFAULT_LIMITS.spoolBytes) }),
  upstreamconnections: flag(count(1_000), "connections to the upstream server", {
    default: String(DEFAULT_LIMITS.upstreamConnections)
  }),
  giveupafter: flag(count(720), "hours after which a message that could not be delivered is returned", {
    default: "120"
  }),
  metricsaddr: flag(Kind.optionalKind(Kind.addressKind("optional")), "address of the metrics endpoint", {
    defaultNote: "no endpoint"
  })
}

/** The flags that lead to a daemon, in the spelling of `config/connection.ts`. */
export const CONNECTION_FLAGS = optionNamesOf(CONNECTION_OPTIONS)

export const GENERAL_OPTIONS = { version: OPTIONS.version, help: OPTIONS.help }

export const MAIL_FLAGS = {
  ...VALUE_OPTIONS,
  ...NAMESPACE_OPTIONS,
  ...LOOKUP_OPTIONS,
  ...CONNECTION_OPTIONS,
  ...LOG_OPTIONS,
  ...SERVE_OPTIONS,
  ...GENERAL_OPTIONS
}

export type MailFlagName = keyof typeof MAIL_FLAGS

export type Texts = ReadonlyMap<string, ReadonlyArray<string>>

export const isOn = (given: Texts, name: MailFlagName): boolean =>
  ["1", "true"].includes(given.get(name)?.at(-1) ?? "0")

/** The effective text or texts of an option: flag, then environment, then default. */
const textsOf = (name: string, option: Option, given: Texts, env: Environment): string | ReadonlyArray<string> => {
  const texts = given.get(name)
  if (option.repeatable) return texts ?? []
  const variable = option.env === undefined ? undefined : env[option.env]
  return texts?.at(-1) ?? (variable === undefined || variable === "" ? option.default : variable)
}

type Environment = Readonly<Record<string, string | undefined>>

/** Validates the options of a table. Problems begin with the flag. */
const judgeOf = <A, I>(options: OptionTable, schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownEither(schema, { errors: "all" })
  return (given: Texts, env: Environment): Either.Either<A, UsageError> => {
    const source = Object.entries(options).map(([name, option]) => [name, textsOf(name, option, given, env)] as const)
    return Either.mapLeft(decode(Object.fromEntries(source)), (error) =>
      new UsageError({
        problems: ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path: [name] }) =>
          `--${String(name)}: ${message}`
        )
      }))
  }
}

const NamespaceValues = Schema.Struct(fieldsOf(NAMESPACE_OPTIONS))
const ServeValues = Schema.Struct(fieldsOf(SERVE_OPTIONS))

export type ServeValues = typeof ServeValues.Type

export const judgeNamespace = judgeOf(NAMESPACE_OPTIONS, NamespaceValues)
export const judgeServe = judgeOf(SERVE_OPTIONS, ServeValues)
