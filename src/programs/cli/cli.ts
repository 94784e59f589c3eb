import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { quoted } from "../../base/safeText.ts"
import { quotedName } from "../../config/argv.ts"
import { CONNECTION_OPTIONS, type ConnectionSettings, decodeConnection } from "../../config/connection.ts"
import { USAGE_EXIT_CODE } from "../../config/UsageError.ts"
import type { Json, JsonObject } from "../../rpc/json/json.ts"
import { type BadArgument, byName, byPosition } from "../../rpc/method/conversions.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import { type Daemon, makeDaemon } from "./daemon.ts"
import type { ExpiringOptions } from "./expiring.ts"
import { explain } from "./failures.ts"
import type { FindOptions } from "./find.ts"
import {
  CLI_HELP,
  CLI_SHELLS,
  type CliCommandLine,
  type CommandName,
  countOf,
  isCliCommand,
  isShell,
  readCliCommandLine
} from "./flags.ts"
import { resultText } from "./jsonText.ts"
import type { NamesCommandOptions } from "./names.ts"
import { type CliInput, type CliOutcome, failure, NAME, success, usageOutcome } from "./outcome.ts"
import { shownLines } from "./textWidth.ts"
import type { WatchOptions } from "./watch.ts"
import type { WebhooksCommandOptions } from "./webhooks.ts"

/**
 * `svcd-cli`: calls one method of a daemon and prints the result (reference/rpc.md 8), or shows node and names in
 * tables.
 */

export type { CliInput, CliOutcome }

/** Default time for one call, in seconds. */
const CALL_SECONDS = 900

/** Names that `find` and `expiring` list by default. */
const FOUND_NAMES = 100

/** Blocks before the expiry from which on `expiring` lists names by default: four weeks. */
const EXPIRING_BLOCKS = 4_032

/** Runs the program. Every failure is an outcome. */
export const run = (input: CliInput): Effect.Effect<CliOutcome> =>
  Effect.suspend(() => {
    const line = readCliCommandLine(input.argv)
    if (line.wants("help")) return Effect.succeed(success(CLI_HELP))
    if (line.wants("version")) return Effect.succeed(success(`${NAME} ${input.version}\n`))
    if (line.problems.length > 0) return Effect.succeed(usageOutcome(line.problems))
    const shell = line.text("completions")
    if (shell !== undefined) return completions(shell)
    // The daemon knows its methods alone.
    const [method, about] = line.words
    if (line.command === undefined && method === "help" && isCliCommand(about)) return Effect.succeed(success(CLI_HELP))
    if (line.command === "lint") return checkValue(input, line)
    return line.command === "rpcauth" ? makeUser(input, line) : connected(input, line)
  })

/** Loads the module for scripts only on use: it takes longer to load than everything else. */
const completions = (shell: string): Effect.Effect<CliOutcome> =>
  isShell(shell)
    ? Effect.promise(() => import("./completions.ts")).pipe(
      Effect.flatMap(({ completionScript }) => completionScript(shell)),
      Effect.map(success)
    )
    : Effect.succeed(usageOutcome([`-completions: ${quoted(shell)} is not one of ${CLI_SHELLS.join(", ")}`]))

const makeUser = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> => {
  const problems = surplusOf(line)
  if (problems.length > 0) return Effect.succeed(usageOutcome(problems))
  return Effect.flatMap(
    Effect.promise(() => import("./rpcauth.ts")),
    ({ rpcauth }) => rpcauth(line.words, line.wants("json"), input)
  )
}

/** A value of standard input ends before the last line break. */
const checkValue = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> => {
  const [name, given] = line.words
  const problems = surplusOf(line)
  if (problems.length > 0) return Effect.succeed(usageOutcome(problems))
  if (name === undefined || given === undefined) {
    return Effect.succeed(usageOutcome(["lint: takes a name and a value; \"-\" reads the value from standard input"]))
  }
  const read = given === "-" ? Effect.map(input.readStdin, (text) => text.replace(/\r?\n$/, "")) : Effect.succeed(given)
  return Effect.flatMap(
    read,
    (value) =>
      Effect.map(
        Effect.promise(() => import("./lint.ts")),
        ({ lintCommand }) => lintCommand({ name, value, json: line.wants("json") }, input.screen)
      )
  )
}

const linesOf = (text: string): ReadonlyArray<string> => text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/)

/** The content of standard input: the password in the first line, parameters in the others, as the flags require. */
const readInput = (line: CliCommandLine, { readStdin }: CliInput) => {
  const [password, parameters] = [line.wants("stdinrpcpass"), line.wants("stdin")]
  if (!password && !parameters) return Effect.succeed({ password: undefined, parameters: [] })
  return Effect.map(readStdin, (text) => {
    const lines = linesOf(text)
    return {
      password: password ? lines[0] ?? "" : undefined,
      parameters: parameters ? lines.slice(password ? 1 : 0) : []
    }
  })
}

/** Finds the daemon, and carries out the request there. */
const connected = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> =>
  Effect.gen(function*() {
    const read = yield* readInput(line, input)
    const shared = [...line.given].flatMap(([name, texts]) =>
      Object.hasOwn(CONNECTION_OPTIONS, name) ? texts.map((text) => `-${name}=${text}`) : []
    )
    const argv = read.password === undefined ? shared : [...shared, `-rpcpassword=${read.password}`]
    const decoded = decodeConnection({ ...input, argv })
    if (Either.isLeft(decoded)) return usageOutcome(decoded.left.problems)

    const problems = [...contradictions(line), ...surplusOf(line)]
    const timeout = countOf(
      { name: "rpcclienttimeout", text: line.text("rpcclienttimeout"), fallback: CALL_SECONDS },
      problems
    )
    const wait = countOf({ name: "rpcwaittimeout", text: line.text("rpcwaittimeout"), fallback: 0 }, problems)
    const expiring = countOf({ name: "expiring", text: line.text("expiring"), fallback: 0 }, problems)
    const limit = countOf({ name: "limit", text: line.text("limit"), fallback: FOUND_NAMES }, problems)
    const blocks = countOf({ name: "blocks", text: line.text("blocks"), fallback: EXPIRING_BLOCKS }, problems)
    if (problems.length > 0) return usageOutcome(problems)

    const { connection } = decoded.right
    const daemon = yield* makeDaemon({
      connection,
      wallet: line.text("rpcwallet"),
      cookieFile: line.text("rpccookiefile"),
      timeout,
      wait: line.wants("rpcwait") ? wait : undefined,
      input
    })
    switch (line.command) {
      case "status":
        return yield* tellStatus({ daemon, connection, input }, { json: line.wants("json"), wait: line.wants("wait") })
      case "names":
        return yield* tellNames({ daemon, connection, input }, {
          prefix: line.words[0] ?? "",
          all: line.wants("all"),
          expiring: line.given.has("expiring") ? expiring : undefined,
          json: line.wants("json")
        })
      case "find":
        return yield* tellFound({ daemon, connection, input }, {
          text: line.words[0],
          key: line.text("key"),
          value: line.text("value"),
          owner: line.text("owner"),
          namespace: line.text("namespace"),
          expired: line.wants("expired"),
          limit,
          json: line.wants("json")
        })
      case "expiring":
        return yield* tellExpiring({ daemon, connection, input }, {
          all: line.wants("all"),
          owner: line.text("owner"),
          blocks,
          limit,
          json: line.wants("json")
        })
      case "watch":
        return yield* watchNames({ daemon, connection, input }, {
          prefix: line.words[0],
          from: line.text("from"),
          types: line.text("types"),
          json: line.wants("json")
        })
      case "webhooks":
        return yield* tellWebhooks({ daemon, connection, input }, { test: line.words[1], json: line.wants("json") })
      case "lint":
      case "rpcauth":
      case undefined:
        return yield* callMethod([...line.words, ...read.parameters], line.wants("named"), {
          daemon,
          connection,
          input
        })
    }
  }).pipe(
    Effect.catchAll((reason) => Effect.succeed(failure(1, `error: ${reason}`))),
    Effect.scoped
  )

const contradictions = ({ command, given }: CliCommandLine): ReadonlyArray<string> => [
  ...(command === "expiring" && given.has("all") && given.has("owner")
    ? ["-all: stands against -owner; give one"]
    : []),
  ...(given.has("rpccookiefile")
    ? (["rpcuser", "rpcpassword", "stdinrpcpass"] as const).filter((name) => given.has(name)).map((name) =>
      `-rpccookiefile: stands in place of -${name}; give one of the two`
    )
    : [])
]

/** Surplus parameters of a command. */
const surplusOf = ({ command, words }: CliCommandLine): ReadonlyArray<string> => {
  if (command === undefined) return []
  // Behind the name of a user stands a password.
  if (command === "lint") return words.length > 2 ? ["lint: takes a name and a value; put the value in quotes"] : []
  if (command === "webhooks") {
    const isRight = words.length === 0 || (words.length === 2 && words[0] === "test")
    return isRight ? [] : ["webhooks: takes nothing, or: test ID"]
  }
  if (command === "rpcauth") return words.length > 2 ? ["rpcauth: takes a user name and a password"] : []
  const taken = TAKEN[command]
  return words.slice(taken === undefined ? 0 : 1).map((word) =>
    `${quotedName(word)}: ${command} takes ${taken ?? "no parameter"}`
  )
}

/** The parameter of a command that has one. */
const TAKEN: { readonly [command in CommandName]?: string } = {
  names: "one prefix",
  find: "one text",
  watch: "one prefix"
}

interface Surroundings {
  readonly daemon: Daemon
  readonly connection: ConnectionSettings
  readonly input: CliInput
}

const callMethod = (
  [method, ...args]: ReadonlyArray<string>,
  named: boolean,
  { connection, daemon, input }: Surroundings
): Effect.Effect<CliOutcome> => {
  if (method === undefined) {
    return Effect.succeed(
      failure(USAGE_EXIT_CODE, `${NAME}: no method given\n${NAME}: see ${NAME} -help, and ${NAME} help for the methods`)
    )
  }
  const params = named ? byName(method, args) : byPosition(method, args)
  if (isBadArgument(params)) return Effect.succeed(failure(1, `error: Error parsing JSON: ${params.argument}`))
  return daemon.call(method, params).pipe(
    Effect.flatMap((result) => {
      const text = resultText(result)
      // A program gets every byte unchanged.
      const done = success(input.screen.terminal ? shownLines(text) : text)
      return SETTING.has(method) ? warned(done, method, params) : Effect.succeed(done)
    }),
    Effect.catchAll((error) => explain(error, { connection, daemon, method, name: nameOf(method, args, named) }))
  )
}

/** The name that a call of a method for names has, for hints. */
const nameOf = (method: string, args: ReadonlyArray<string>, named: boolean): string | undefined => {
  if (!method.startsWith("name_")) return undefined
  const [first] = args
  return named ? args.find((text) => text.startsWith("name="))?.slice("name=".length) ?? first : first
}

/** Methods that set a value and answer with a transaction alone. */
const SETTING: ReadonlySet<string> = new Set(["name_update", "name_firstupdate"])

const warned = (
  done: CliOutcome,
  method: string,
  params: ReadonlyArray<Json> | JsonObject
): Effect.Effect<CliOutcome> =>
  Effect.map(
    Effect.promise(() => import("./lint.ts")),
    ({ warningsOfCall }) => ({ ...done, stderr: warningsOfCall(method, params) })
  )

const isBadArgument = (params: ReadonlyArray<Json> | JsonObject | BadArgument): params is BadArgument =>
  "_tag" in params

const tellStatus = (
  { connection, daemon, input }: Surroundings,
  { json, wait }: { readonly json: boolean; readonly wait: boolean }
): Effect.Effect<CliOutcome> =>
  Effect.gen(function*() {
    const [{ status }, { waitForNames }] = yield* Effect.promise(() =>
      Promise.all([import("./status.ts"), import("./syncRows.ts")])
    )
    if (wait) yield* waitForNames(daemon, input.progress)
    return success(yield* status(daemon, { connection, screen: input.screen, json }))
  }).pipe(Effect.catchAll((error) => explain(error, { connection, daemon })))

const tellNames = (
  { connection, daemon, input }: Surroundings,
  options: NamesCommandOptions
): Effect.Effect<CliOutcome> =>
  Effect.promise(() => import("./names.ts")).pipe(
    Effect.flatMap(({ namesCommand: names }) => names(daemon, input.screen, options)),
    Effect.map(success),
    Effect.catchAll((error) =>
      error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
        ? Effect.succeed(
          failure(1, `error: the daemon has no wallet; "${NAME} name_scan" lists all names`)
        )
        : explain(error, { connection, daemon })
    )
  )

const tellFound = (
  { connection, daemon, input }: Surroundings,
  options: FindOptions
): Effect.Effect<CliOutcome> =>
  Effect.promise(() => import("./find.ts")).pipe(
    Effect.flatMap(({ findCommand }) => findCommand(daemon, input.screen, options)),
    Effect.map(success),
    Effect.catchAll((error) =>
      error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
        ? Effect.succeed(failure(1, `error: the daemon cannot search; "${NAME} name_scan" lists names`))
        : explain(error, { connection, daemon })
    )
  )

const tellExpiring = (
  { connection, daemon, input }: Surroundings,
  options: ExpiringOptions
): Effect.Effect<CliOutcome> =>
  Effect.promise(() => import("./expiring.ts")).pipe(
    Effect.flatMap(({ expiringCommand }) => expiringCommand(daemon, input.screen, options)),
    Effect.map(success),
    Effect.catchAll((error) =>
      error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
        ? Effect.succeed(
          failure(1, `error: the daemon has no such list; "${NAME} names" shows the names of the wallet`)
        )
        : explain(error, { connection, daemon })
    )
  )

const watchNames = (
  { connection, daemon, input }: Surroundings,
  options: WatchOptions
): Effect.Effect<CliOutcome> =>
  Effect.promise(() => import("./watch.ts")).pipe(
    Effect.flatMap(({ watchCommand }) => watchCommand({ daemon, screen: input.screen, output: input.output }, options)),
    Effect.catchAll((error) => explain(error, { connection, daemon }))
  )

const tellWebhooks = (
  { connection, daemon, input }: Surroundings,
  options: WebhooksCommandOptions
): Effect.Effect<CliOutcome> =>
  Effect.promise(() => import("./webhooks.ts")).pipe(
    Effect.flatMap(({ webhooksCommand }) => webhooksCommand(daemon, input.screen, options)),
    Effect.catchAll((error) =>
      error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
        ? Effect.succeed(failure(1, "error: the daemon has no webhooks: it is another program, or an older svcd"))
        : explain(error, { connection, daemon })
    )
  )
