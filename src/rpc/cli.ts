import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import { formatAddress } from "../config/addresses.ts"
import { readArgv } from "../config/argv.ts"
import { type Connection, CONNECTION_OPTIONS, decodeConnection } from "../config/connection.ts"
import { OPTIONS } from "../config/options.ts"
import type { SettingsInput } from "../config/settings.ts"
import { USAGE_EXIT_CODE, UsageError } from "../config/UsageError.ts"
import { type BadArgument, byName, byPosition } from "./conversions.ts"
import { encodeString } from "./encodeJson.ts"
import { type Json, JsonNumber, JsonObject } from "./json.ts"
import { make, type RpcClientError } from "./RpcClient.ts"
import { RPC_CODE } from "./RpcError.ts"

/** `svcd-cli`: calls one method of a daemon, and prints what comes (rpc.md 8). */

const NAME = "svcd-cli"

/** What the program prints, and how it ends. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CliInput extends SettingsInput {
  readonly version: string
  /** The text of standard input, for `-stdin`. */
  readonly readStdin: Effect.Effect<string>
}

const switchOption = (description: string) => ({ ...OPTIONS.version, description })

const FLAGS = {
  ...CONNECTION_OPTIONS,
  rpcwallet: { ...OPTIONS.rpcuser, env: undefined, key: undefined, placeholder: "NAME", description: "wallet to use" },
  named: switchOption("parameters are name=value"),
  stdin: switchOption("read more parameters from standard input"),
  rpcwait: switchOption("wait for the daemon"),
  version: OPTIONS.version,
  help: OPTIONS.help
}

export const HELP = `Usage: ${NAME} [flags] <method> [parameters]

Calls a method of a running svcd, or of another daemon with the same interface, and prints its result: a
text as it is, anything else as JSON. "${NAME} help" lists the methods, "${NAME} help <method>" explains one.

Flags
  -network NAME         network of the daemon (environment: SVCD_NETWORK)
  -datadir PATH         data directory; svcd.conf in it is read (environment: SVCD_DATA_DIR)
  -rpcaddr HOST:PORT    address of the daemon (default: 127.0.0.1:8336)
  -rpcuser NAME         user name (environment: SVCD_RPC_USER)
  -rpcpassword SECRET   password (environment: SVCD_RPC_PASSWORD)
  -rpcwallet NAME       wallet to use, where the daemon has several loaded
  -rpcwait              wait until the daemon answers and has started
  -named                parameters are written name=value
  -stdin                read more parameters from standard input, one a line
  -version              print the version and exit
  -help                 print this text and exit

A flag wins over the environment, the environment over svcd.conf. Parameters that are texts are passed on as
they are; others are JSON.

Exit status: 0; 1 if no daemon answers; 2 for a mistake in flags or configuration; else the code of the
daemon's error without its sign, modulo 256.
`

/** How long `-rpcwait` waits between two tries. */
const WAIT = "1 second"

const success = (stdout: string): Outcome => ({ code: 0, stdout, stderr: "" })

const failure = (code: number, text: string): Outcome => ({ code, stdout: "", stderr: `${text}\n` })

/** Runs the program. Everything that goes wrong is an outcome. */
export const run = (input: CliInput): Effect.Effect<Outcome> =>
  Effect.suspend(() => {
    const { given, problems, rest } = readArgv(input.argv, FLAGS, "end")
    const wants = (name: keyof typeof FLAGS): boolean => ["1", "true"].includes(given.get(name)?.at(-1) ?? "0")
    if (wants("help")) return Effect.succeed(success(HELP))
    if (wants("version")) return Effect.succeed(success(`${NAME} ${input.version}\n`))
    if (problems.length > 0) return Effect.succeed(usage(new UsageError({ problems })))

    const argv = [...given].flatMap(([name, texts]) =>
      Object.hasOwn(CONNECTION_OPTIONS, name) ? texts.map((text) => `-${name}=${text}`) : []
    )
    return Either.match(decodeConnection({ ...input, argv }), {
      onLeft: (error) => Effect.succeed(usage(error)),
      onRight: ({ connection }) =>
        Effect.flatMap(
          wants("stdin") ? Effect.map(input.readStdin, linesOf) : Effect.succeed([]),
          (lines) =>
            callMethod([...rest, ...lines], connection, {
              named: wants("named"),
              wait: wants("rpcwait"),
              wallet: given.get("rpcwallet")?.at(-1)
            })
        )
    })
  })

const usage = (error: UsageError): Outcome => failure(USAGE_EXIT_CODE, error.report(NAME).join("\n"))

const linesOf = (text: string): ReadonlyArray<string> => text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/)

interface CallOptions {
  readonly named: boolean
  readonly wait: boolean
  readonly wallet: string | undefined
}

const callMethod = (
  [method, ...args]: ReadonlyArray<string>,
  connection: Connection,
  options: CallOptions
): Effect.Effect<Outcome> => {
  if (method === undefined) {
    return Effect.succeed(
      failure(USAGE_EXIT_CODE, `${NAME}: no method given\n${NAME}: see ${NAME} -help, and ${NAME} help for the methods`)
    )
  }
  const params = options.named ? byName(method, args) : byPosition(method, args)
  if (isBadArgument(params)) return Effect.succeed(failure(1, `error: Error parsing JSON: ${params.argument}`))
  const { credentials, ...address } = connection.rpc
  return make({ address, credentials, wallet: options.wallet }).pipe(
    Effect.flatMap((client) => retrying(client.call(method, params), options.wait)),
    Effect.match({
      onSuccess: (result) => success(resultText(result)),
      onFailure: (error) => errorOutcome(error, connection)
    }),
    Effect.scoped
  )
}

const isBadArgument = (params: ReadonlyArray<Json> | JsonObject | BadArgument): params is BadArgument =>
  "_tag" in params

const retrying = <A>(call: Effect.Effect<A, RpcClientError>, wait: boolean): Effect.Effect<A, RpcClientError> =>
  wait
    ? Effect.retry(call, {
      schedule: Schedule.spaced(WAIT),
      while: (error) =>
        error._tag === "DaemonUnreachable" || (error._tag === "RpcFailure" && error.code === RPC_CODE.warmUp)
    })
    : call

const resultText = (result: Json): string =>
  result === null ? "" : typeof result === "string" ? `${result}\n` : `${indented(result)}\n`

/** The forms of the reference client, which its wrappers parse; upstream `bitcoin-cli.cpp`, `ParseError`. */
const errorOutcome = (error: RpcClientError, { rpc }: Connection): Outcome => {
  switch (error._tag) {
    case "RpcFailure": {
      const code = Math.abs(error.code) % 256
      return failure(code === 0 ? 1 : code, `error code: ${error.code}\nerror message:\n${error.message}`)
    }
    case "Unauthorized":
      return failure(
        1,
        `error: Authorization failed: ${formatAddress(rpc)} wants ${
          rpc.credentials === undefined ? "credentials" : "other credentials"
        }\nGive them with -rpcuser and -rpcpassword, SVCD_RPC_USER and SVCD_RPC_PASSWORD, or svcd.conf in -datadir.`
      )
    case "DaemonUnreachable":
      return failure(1, `error: ${error.message}\nIs it running, and is -rpcaddr right?`)
    case "UnexpectedReply":
      return failure(1, `error: ${error.message}`)
  }
}

/** JSON on several lines, each level indented by two. */
const indented = (value: Json, indent = ""): string => {
  const inner = `${indent}  `
  if (value instanceof JsonObject) {
    const members = value.keys.map((key, at) =>
      `${inner}${encodeString(key)}: ${indented(value.values[at] ?? null, inner)}`
    )
    return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`
  }
  if (value instanceof JsonNumber) return value.text
  if (typeof value === "string") return encodeString(value)
  if (value === null || typeof value === "boolean") return String(value)
  return value.length === 0 ? "[]" : `[\n${value.map((item) => inner + indented(item, inner)).join(",\n")}\n${indent}]`
}
