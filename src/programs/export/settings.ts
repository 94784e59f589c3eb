import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { isLoopback } from "../../base/addresses.ts"
import { percentDecoded } from "../../base/safeText.ts"
import type { DaemonConfig } from "../../client/config.ts"
import { readWords } from "../../config/argv.ts"
import { CALLING_OPTIONS, CONNECTION_OPTIONS, decodeConnection } from "../../config/connection.ts"
import { settingsDecoder } from "../../config/decode.ts"
import { gather, pathIn, type SettingsInput } from "../../config/gather.ts"
import { defaultText, describedOption, entry } from "../../config/help.ts"
import * as Kind from "../../config/kinds.ts"
import { inGroup, oneOption, type Option, type OptionTable } from "../../config/optionRow.ts"
import { OPTIONS } from "../../config/options.ts"
import { UsageError } from "../../config/UsageError.ts"
import type { LogOptions } from "../../node/logging.ts"
import type { PgTarget } from "../../postgres/PgConnection.ts"
import { DEFAULT_SCHEMA, isSchemaName } from "../../postgres/schema.ts"
import type { NetworkName } from "../../protocol/networks.ts"
import { argvOf } from "../tool/flags.ts"

export const EXPORT_NAME = "svcd-export"

/** An alternative for the URL of the database, because other users can see arguments. */
const URL_VARIABLE = "SVCD_EXPORT_URL"

const OWN_OPTIONS = inGroup("General", {
  schema: oneOption(Kind.textKind("NAME"), "target.schema", {
    description: `schema of the tables (default: ${DEFAULT_SCHEMA})`,
    flagOnly: true
  }),
  rpccookiefile: oneOption(Kind.dataPathKind, "cookie.file", {
    description: "cookie file of the daemon, instead of a user name and password",
    flagOnly: true
  })
})

const LOG_OPTIONS = {
  loglevel: OPTIONS.loglevel,
  logformat: OPTIONS.logformat
}

const EXPORT_FLAGS = {
  schema: OWN_OPTIONS.schema,
  ...CALLING_OPTIONS,
  rpccookiefile: OWN_OPTIONS.rpccookiefile,
  ...LOG_OPTIONS,
  version: OPTIONS.version,
  help: OPTIONS.help
} satisfies OptionTable

export interface ExportSettings {
  readonly daemon: DaemonConfig
  readonly network: NetworkName | undefined
  readonly target: PgTarget
  readonly schema: string
  readonly log: LogOptions
}

export type ExportCommand =
  | { readonly _tag: "Help" }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Run"; readonly settings: ExportSettings }

/** Milliseconds per call to the daemon. */
const TIMEOUT = 30_000

type Judged<A> = Either.Either<A, UsageError>

const wrong = (...problems: ReadonlyArray<string>) => Either.left(new UsageError({ problems }))

const URL_FORM = "postgres://USER@HOST:PORT/DATABASE"

/** Messages do not repeat the URL, which may have a password. */
export const databaseOf = (text: string, { env }: Pick<SettingsInput, "env">): Judged<PgTarget> => {
  const noUrl = wrong(`the database must be a URL of the form ${URL_FORM}`)
  if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text)) return noUrl
  const { host, pathname, searchParams, username } = new URL(text)
  const set = (variable: string): string | undefined => env[variable] === "" ? undefined : env[variable]
  const name = pathname.slice(1)
  const database = name === "" ? set("PGDATABASE") ?? percentDecoded(username) : name
  if (database === undefined) return noUrl
  const server = host === "" ? searchParams.get("host") ?? set("PGHOST") ?? "localhost" : host
  return Either.right({ url: Redacted.make(text), shown: `${server}/${database}` })
}

const decodeLog = settingsDecoder(LOG_OPTIONS)

const settingsOf = (
  words: ReadonlyArray<string>,
  given: ReadonlyMap<string, ReadonlyArray<string>>,
  input: SettingsInput
): Judged<ExportSettings> =>
  Either.gen(function*() {
    const [word, ...more] = words
    const variable = input.env[URL_VARIABLE]
    const text = word ?? (variable === "" ? undefined : variable)
    if (text === undefined) return yield* wrong(`the database is missing: ${EXPORT_NAME} ${URL_FORM}`)
    // The words may be parts of a password.
    if (more.length > 0) {
      return yield* wrong("too many arguments; quote a URL with special characters")
    }
    const schema = given.get("schema")?.at(-1) ?? DEFAULT_SCHEMA
    if (!isSchemaName(schema)) {
      return yield* wrong("-schema: must be a name of at most 48 lower-case letters, digits and _")
    }
    const shared = new Map(
      Object.keys(CONNECTION_OPTIONS).flatMap((name) => {
        const texts = given.get(name)
        return texts === undefined ? [] : [[name, texts] as const]
      })
    )
    const { connection } = yield* decodeConnection({ ...input, argv: argvOf(shared) })
    const gathered = yield* gather({ ...CONNECTION_OPTIONS, ...LOG_OPTIONS }, given, input)
    const { log } = yield* decodeLog(gathered, input)
    const cookie = given.get("rpccookiefile")?.at(-1)
    const { credentials, host, port } = connection.rpc
    return {
      daemon: {
        host,
        port,
        secure: false,
        basePath: "",
        credentials: cookie === undefined ? credentials : undefined,
        cookieFile: cookie === undefined
          ? undefined
          : pathIn(gathered, input)({ name: "rpccookiefile", path: cookie, base: "data" }),
        spareCookieFile: isLoopback(host) ? connection.cookieFile : undefined,
        wallet: undefined,
        timeout: TIMEOUT
      },
      network: connection.networkFrom === undefined ? undefined : connection.network,
      target: yield* databaseOf(text, input),
      schema,
      log: { ...log, debugSubsystems: [] }
    }
  })

const isOn = (given: ReadonlyMap<string, ReadonlyArray<string>>, name: string): boolean =>
  ["1", "true"].includes(given.get(name)?.at(-1) ?? "0")

export const readExportCommand = (input: SettingsInput): Judged<ExportCommand> => {
  const { given, problems, words } = readWords(input.argv, EXPORT_FLAGS)
  if (isOn(given, "help")) return Either.right({ _tag: "Help" })
  if (isOn(given, "version")) return Either.right({ _tag: "Version" })
  if (problems.length > 0) return wrong(...problems)
  return Either.map(settingsOf(words, given, input), (settings) => ({ _tag: "Run", settings }))
}

const flagEntries = Object.entries<Option>(EXPORT_FLAGS).map(([name, option]) =>
  entry({
    head: `-${name}${option.placeholder === "" ? "" : ` ${option.placeholder}`}`,
    text: describedOption({ ...option, shown: option.toml === "boolean" ? undefined : defaultText(option) })
  })
)

export const EXPORT_HELP = `Usage: ${EXPORT_NAME} ${URL_FORM} [flags]

Keeps a copy of all names in PostgreSQL: first everything, then each block within a second, even over
reorganizations (docs/postgres.md). It follows the events of a running svcd, and ends only when it is
told to, or when the operator has to do something.

Flags
${flagEntries.join("\n")}

${URL_VARIABLE} can hold the URL instead. The password of the database is better not in it: it is
also read from PGPASSWORD and ~/.pgpass. Where the daemon is, and how to log, is also read from the
environment and from svcd.conf in the data directory, as svcd does.

Exit status: 0 when it was told to end; 1 if it cannot be done; 2 for a mistake in flags or configuration.
`
