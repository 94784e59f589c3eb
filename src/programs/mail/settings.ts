import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { join, resolve } from "node:path"
import { createSecureContext } from "node:tls"
import type { Address } from "../../base/addresses.ts"
import { shownPath } from "../../base/safeText.ts"
import { type ConnectionSettings, decodeConnection } from "../../config/connection.ts"
import { settingsDecoder } from "../../config/decode.ts"
import { gather, type SettingsInput } from "../../config/gather.ts"
import { OPTIONS } from "../../config/options.ts"
import { UsageError } from "../../config/UsageError.ts"
import { type RelayConfig, relayConfig, type UpstreamTls } from "../../mail/relay/RelayConfig.ts"
import type { LogOptions } from "../../node/logging.ts"
import { argvOf, type Texts } from "../tool/flags.ts"
import { domain, LOG_OPTIONS, PASSWORD_VARIABLE, type ServeValues } from "./options.ts"

/** The settings of `svcd-mail`, from flags, environment and files. */

export interface MailInput extends SettingsInput {
  /** The system's name of this machine. */
  readonly hostname: string
}

/** All settings of `serve`. Paths are absolute, files are read. */
export interface MailSettings {
  readonly connection: ConnectionSettings
  /** As `id/`. */
  readonly namespace: string
  readonly relay: RelayConfig
  /** `undefined`: no metrics endpoint. */
  readonly metrics: Address | undefined
  readonly log: LogOptions
}

type Judged<A> = Either.Either<A, UsageError>

const wrong = (...problems: ReadonlyArray<string>) => Either.left(new UsageError({ problems }))

/** The connection to the daemon: from shared flags, the daemon's environment and its file. */
export const connectionOf = (texts: Texts, input: SettingsInput): Judged<ConnectionSettings> =>
  Either.map(decodeConnection({ ...input, argv: argvOf(texts) }), ({ connection }) => connection)

const decodeLog = settingsDecoder(LOG_OPTIONS)

/** The log, from its flags and the daemon's environment and file; another flag says where that file is. */
const logOf = ({ connection, log }: ServeFlags, input: SettingsInput): Judged<LogOptions> =>
  gather({ ...LOG_OPTIONS, datadir: OPTIONS.datadir }, new Map([...connection, ...log]), input).pipe(
    Either.flatMap((gathered) => decodeLog(gathered, input)),
    Either.map((settings) => settings.log)
  )

const absolutePath = (path: string, { cwd, homedir }: SettingsInput): string =>
  path.startsWith("~/") ? join(homedir, path.slice(2)) : resolve(cwd, path)

const fileOf = (
  { flag, path }: { readonly flag: string; readonly path: string },
  input: SettingsInput
): Judged<string> => {
  const file = absolutePath(path, input)
  return Either.match(input.readFile(file), {
    onLeft: (why) => wrong(`--${flag}: ${shownPath(file)} ${why}`),
    onRight: (text) => text === undefined ? wrong(`--${flag}: ${shownPath(file)} does not exist`) : Either.right(text)
  })
}

const optionalFile = (
  { flag, path }: { readonly flag: string; readonly path: string | undefined },
  input: SettingsInput
): Judged<string | undefined> => path === undefined ? Either.right(undefined) : fileOf({ flag, path }, input)

interface FlagUse {
  readonly flag: string
  readonly isGiven: boolean
}

/** Returns which of a flag and its partner is missing, if only one is given. */
const halfGiven = (one: FlagUse, other: FlagUse): ReadonlyArray<string> => {
  if (one.isGiven === other.isGiven) return []
  const [given, missing] = one.isGiven ? [one, other] : [other, one]
  return [`--${given.flag}: requires --${missing.flag}`]
}

const tlsOf = (values: ServeValues, input: SettingsInput): Judged<RelayConfig["tls"]> =>
  Either.gen(function*() {
    const cert = yield* optionalFile({ flag: "tlscert", path: values.tlscert }, input)
    const key = yield* optionalFile({ flag: "tlskey", path: values.tlskey }, input)
    if (cert === undefined || key === undefined) return undefined
    const what = "--tlscert, --tlskey: these files are not PEM, or do not match"
    yield* usable(what, () => createSecureContext({ cert, key }))
    return { cert, key }
  })

/** Whether TLS accepts the content of the files. Its own messages are not meant for operators. */
const usable = (what: string, make: () => unknown): Judged<unknown> =>
  Either.mapLeft(Either.try(make), () => new UsageError({ problems: [what] }))

const caOf = (values: ServeValues, input: SettingsInput): Judged<string | undefined> =>
  Either.gen(function*() {
    const ca = yield* optionalFile({ flag: "upstreamca", path: values.upstreamca }, input)
    if (ca !== undefined && !ca.includes("-----BEGIN CERTIFICATE-----")) {
      return yield* wrong("--upstreamca: this file has no PEM certificate")
    }
    yield* usable("--upstreamca: a certificate in this file cannot be read", () => createSecureContext({ ca }))
    return ca
  })

/** The password at the upstream server, unless it is in a file. An empty variable counts as unset. */
const passwordOf = ({ smtppass }: ServeValues, { env }: SettingsInput): Redacted.Redacted<string> | undefined => {
  const variable = env[PASSWORD_VARIABLE]
  return smtppass ?? (variable === undefined || variable === "" ? undefined : Redacted.make(variable))
}

const credentialsOf = (values: ServeValues, input: SettingsInput): Judged<RelayConfig["credentials"]> =>
  Either.gen(function*() {
    const text = yield* optionalFile({ flag: "smtppassfile", path: values.smtppassfile }, input)
    const [firstLine] = text?.split(/\r?\n/, 1) ?? []
    if (firstLine === "") return yield* wrong("--smtppassfile: its first line is empty")
    const password = firstLine === undefined ? passwordOf(values, input) : Redacted.make(firstLine)
    return values.smtpuser === undefined || password === undefined ? undefined : { user: values.smtpuser, password }
  })

/** Contradictions between values that are each valid. */
const contradictions = (values: ServeValues, input: SettingsInput): ReadonlyArray<string> => {
  const { smtppass, smtppassfile, smtpuser, tlscert, tlskey } = values
  const hasPassword = passwordOf(values, input) !== undefined || smtppassfile !== undefined
  return [
    ...halfGiven({ flag: "tlscert", isGiven: tlscert !== undefined }, {
      flag: "tlskey",
      isGiven: tlskey !== undefined
    }),
    ...halfGiven({ flag: "smtpuser", isGiven: smtpuser !== undefined }, { flag: "smtppass", isGiven: hasPassword }),
    ...smtppass !== undefined && smtppassfile !== undefined
      ? ["--smtppass: cannot be combined with --smtppassfile"]
      : []
  ]
}

/** The port for TLS from the first byte (RFC 8314). */
const SUBMISSIONS_PORT = 465

const upstreamTls = ({ upstreamport, upstreamtls }: ServeValues): UpstreamTls => {
  if (upstreamtls !== "auto") return upstreamtls
  return upstreamport === SUBMISSIONS_PORT ? "implicit" : "opportunistic"
}

/** The name of this machine if it is valid in a greeting. */
const hostnameOf = ({ hostname }: MailInput): string =>
  Either.getOrElse(Schema.decodeEither(domain.schema())(hostname), () => "localhost")

const relayOf = (values: ServeValues, dataDir: string, input: MailInput): Judged<RelayConfig> =>
  Either.gen(function*() {
    const hostname = values.hostname ?? hostnameOf(input)
    return relayConfig({
      listen: values.listen,
      upstream: { host: values.upstream, port: values.upstreamport },
      credentials: yield* credentialsOf(values, input),
      upstreamTls: upstreamTls(values),
      upstreamCa: yield* caOf(values, input),
      tls: yield* tlsOf(values, input),
      domains: values.domain.length === 0 ? ["bit"] : values.domain,
      hostname,
      senderDomain: values.senderdomain ?? hostname,
      postmaster: values.postmaster,
      spoolDirectory: values.spool === undefined ? join(dataDir, "mail") : absolutePath(values.spool, input),
      limits: {
        messageSize: values.maxsize,
        recipients: values.maxrecipients,
        connections: values.maxconnections,
        connectionsPerClient: values.maxclientconnections,
        messagesPerMinute: values.clientrate,
        spoolMessages: values.maxspoolmessages,
        spoolBytes: values.maxspoolsize,
        upstreamConnections: values.upstreamconnections
      },
      retry: { giveUpAfter: Duration.hours(values.giveupafter) }
    })
  })

/** The flags of `serve`. */
export interface ServeFlags extends ServeValues {
  readonly namespace: string
  readonly connection: Texts
  readonly log: Texts
}

export const mailSettings = (flags: ServeFlags, input: MailInput): Judged<MailSettings> =>
  Either.gen(function*() {
    const problems = contradictions(flags, input)
    if (problems.length > 0) return yield* wrong(...problems)
    const connection = yield* connectionOf(flags.connection, input)
    const log = yield* logOf(flags, input)
    return {
      connection,
      namespace: flags.namespace,
      relay: yield* relayOf(flags, connection.dataDir, input),
      metrics: flags.metricsaddr,
      log
    }
  })
