import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { createSecureContext } from "node:tls"
import type { Address } from "../../base/addresses.ts"
import { shownPath } from "../../base/safeText.ts"
import { type ConnectionSettings, decodeConnection } from "../../config/connection.ts"
import { settingsDecoder } from "../../config/decode.ts"
import { absolutePath, gather, type SettingsInput } from "../../config/gather.ts"
import { OPTIONS } from "../../config/options.ts"
import { settingsFrom, type SettingsIn } from "../../config/settingsIn.ts"
import { UsageError } from "../../config/UsageError.ts"
import { type RelayConfig, relayConfig, type UpstreamTls } from "../../mail/relay/RelayConfig.ts"
import type { LogOptions } from "../../node/logging.ts"
import { argvOf, type Texts } from "../tool/flags.ts"
import { domain, LOG_OPTIONS, PASSWORD_VARIABLE, SERVE_OPTIONS, type ServeValues } from "./options.ts"

export interface MailInput extends SettingsInput {
  readonly hostname: string
}

/** Paths are absolute, files are read. */
export interface MailSettings {
  readonly connection: ConnectionSettings
  readonly namespace: string
  readonly relay: RelayConfig
  readonly metrics: Address | undefined
  readonly log: LogOptions
}

type ServeSettings = SettingsIn<typeof SERVE_OPTIONS>

type Judged<A> = Either.Either<A, UsageError>

const wrong = (...problems: ReadonlyArray<string>) => Either.left(new UsageError({ problems }))

/** From shared flags, the daemon's environment and its file. */
export const connectionOf = (texts: Texts, input: SettingsInput): Judged<ConnectionSettings> =>
  Either.map(decodeConnection({ ...input, argv: argvOf(texts) }), ({ connection }) => connection)

const decodeLog = settingsDecoder(LOG_OPTIONS)

/** From its flags and the daemon's environment and file; another flag locates that file. */
const logOf = ({ connection, log }: ServeFlags, input: SettingsInput): Judged<LogOptions> =>
  gather({ ...LOG_OPTIONS, datadir: OPTIONS.datadir }, new Map([...connection, ...log]), input).pipe(
    Either.flatMap((gathered) => decodeLog(gathered, input)),
    Either.map((settings) => settings.log)
  )

interface FileFlag {
  readonly flag: string
  readonly file: string | undefined
}

const fileOf = ({ file, flag }: FileFlag, { readFile }: SettingsInput): Judged<string | undefined> =>
  file === undefined ? Either.right(undefined) : Either.match(readFile(file), {
    onLeft: ({ why }) => wrong(`--${flag}: ${shownPath(file)} ${why}`),
    onRight: (text) => text === undefined ? wrong(`--${flag}: ${shownPath(file)} does not exist`) : Either.right(text)
  })

interface FlagUse {
  readonly flag: string
  readonly isGiven: boolean
}

const halfGiven = (one: FlagUse, other: FlagUse): ReadonlyArray<string> => {
  if (one.isGiven === other.isGiven) return []
  const [given, missing] = one.isGiven ? [one, other] : [other, one]
  return [`--${given.flag}: requires --${missing.flag}`]
}

const tlsOf = ({ tls }: ServeSettings, input: SettingsInput): Judged<RelayConfig["tls"]> =>
  Either.gen(function*() {
    const cert = yield* fileOf({ flag: "tlscert", file: tls.cert }, input)
    const key = yield* fileOf({ flag: "tlskey", file: tls.key }, input)
    if (cert === undefined || key === undefined) return undefined
    const what = "--tlscert, --tlskey: these files are not PEM, or do not match"
    yield* usable(what, () => createSecureContext({ cert, key }))
    return { cert, key }
  })

/** OpenSSL's own messages are not meant for operators. */
const usable = (what: string, make: () => unknown): Judged<unknown> =>
  Either.mapLeft(Either.try(make), () => new UsageError({ problems: [what] }))

const caOf = ({ tls }: ServeSettings, input: SettingsInput): Judged<string | undefined> =>
  Either.gen(function*() {
    const ca = yield* fileOf({ flag: "upstreamca", file: tls.upstreamCa }, input)
    if (ca !== undefined && !ca.includes("-----BEGIN CERTIFICATE-----")) {
      return yield* wrong("--upstreamca: this file has no PEM certificate")
    }
    yield* usable("--upstreamca: a certificate in this file cannot be read", () => createSecureContext({ ca }))
    return ca
  })

/** Unless it is in a file. An empty variable counts as unset. */
const passwordOf = ({ smtp }: ServeSettings, { env }: SettingsInput): Redacted.Redacted<string> | undefined => {
  const variable = env[PASSWORD_VARIABLE]
  return smtp.password ?? (variable === undefined || variable === "" ? undefined : Redacted.make(variable))
}

const credentialsOf = (settings: ServeSettings, input: SettingsInput): Judged<RelayConfig["credentials"]> =>
  Either.gen(function*() {
    const { smtp } = settings
    const text = yield* fileOf({ flag: "smtppassfile", file: smtp.passwordFile }, input)
    const [firstLine] = text?.split(/\r?\n/, 1) ?? []
    if (firstLine === "") return yield* wrong("--smtppassfile: its first line is empty")
    const password = firstLine === undefined ? passwordOf(settings, input) : Redacted.make(firstLine)
    return smtp.user === undefined || password === undefined ? undefined : { user: smtp.user, password }
  })

const contradictions = (settings: ServeSettings, input: SettingsInput): ReadonlyArray<string> => {
  const { smtp, tls } = settings
  const hasPassword = passwordOf(settings, input) !== undefined || smtp.passwordFile !== undefined
  return [
    ...halfGiven({ flag: "tlscert", isGiven: tls.cert !== undefined }, {
      flag: "tlskey",
      isGiven: tls.key !== undefined
    }),
    ...halfGiven({ flag: "smtpuser", isGiven: smtp.user !== undefined }, { flag: "smtppass", isGiven: hasPassword }),
    ...smtp.password !== undefined && smtp.passwordFile !== undefined
      ? ["--smtppass: cannot be combined with --smtppassfile"]
      : []
  ]
}

/** TLS from the first byte (RFC 8314). */
const SUBMISSIONS_PORT = 465

const upstreamTls = ({ tls, upstream }: ServeSettings): UpstreamTls => {
  if (tls.upstream !== "auto") return tls.upstream
  return upstream.port === SUBMISSIONS_PORT ? "implicit" : "opportunistic"
}

const hostnameOf = ({ hostname }: MailInput): string =>
  Either.getOrElse(Schema.decodeEither(domain.schema())(hostname), () => "localhost")

const relayOf = (settings: ServeSettings, dataDir: string, input: MailInput): Judged<RelayConfig> =>
  Either.gen(function*() {
    const { limits, relay, retry, upstream } = settings
    const hostname = relay.hostname ?? hostnameOf(input)
    return relayConfig({
      ...relay,
      upstream,
      credentials: yield* credentialsOf(settings, input),
      upstreamTls: upstreamTls(settings),
      upstreamCa: yield* caOf(settings, input),
      tls: yield* tlsOf(settings, input),
      domains: relay.domains.length === 0 ? ["bit"] : relay.domains,
      hostname,
      senderDomain: relay.senderDomain ?? hostname,
      spoolDirectory: relay.spoolDirectory ?? join(dataDir, "mail"),
      limits,
      retry: { giveUpAfter: Duration.hours(retry.hours) }
    })
  })

export interface ServeFlags extends ServeValues {
  readonly namespace: string
  readonly connection: Texts
  readonly log: Texts
}

export const mailSettings = (flags: ServeFlags, input: MailInput): Judged<MailSettings> =>
  Either.gen(function*() {
    const settings = settingsFrom(SERVE_OPTIONS, flags, ({ path }) => absolutePath(path, input))
    const problems = contradictions(settings, input)
    if (problems.length > 0) return yield* wrong(...problems)
    const connection = yield* connectionOf(flags.connection, input)
    const log = yield* logOf(flags, input)
    return {
      connection,
      namespace: flags.namespace,
      relay: yield* relayOf(settings, connection.dataDir, input),
      metrics: settings.metrics.listen,
      log
    }
  })
