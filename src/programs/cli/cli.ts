import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { quoted } from "../../base/safeText.ts"
import { type Connection, CONNECTION_OPTIONS, decodeConnection } from "../../config/connection.ts"
import { USAGE_EXIT_CODE } from "../../config/UsageError.ts"
import type { Json, JsonObject } from "../../rpc/json/json.ts"
import { type BadArgument, byName, byPosition } from "../../rpc/method/conversions.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import { type Daemon, makeDaemon } from "./daemon.ts"
import { explain } from "./failures.ts"
import { type CommandLine, countOf, HELP, isShell, readCommandLine, SHELLS } from "./flags.ts"
import { resultText } from "./jsonText.ts"
import type { NamesOptions } from "./names.ts"
import { type CliInput, failure, NAME, type Outcome, success, usage } from "./outcome.ts"
import { shownLines } from "./textWidth.ts"

/**
 * `svcd-cli`: calls one method of a daemon and prints what comes (reference/rpc.md 8), or tells of node and names in
 * tables.
 */

export type { CliInput, Outcome }

/** Seconds for one call where nothing is said. */
const CALL_SECONDS = 900

/** Runs the program. Everything that goes wrong is an outcome. */
export const run = (input: CliInput): Effect.Effect<Outcome> =>
  Effect.suspend(() => {
    const line = readCommandLine(input.argv)
    if (line.wants("help")) return Effect.succeed(success(HELP))
    if (line.wants("version")) return Effect.succeed(success(`${NAME} ${input.version}\n`))
    if (line.problems.length > 0) return Effect.succeed(usage(line.problems))
    const shell = line.text("completions")
    return shell === undefined ? connected(input, line) : completions(shell)
  })

/** Loads what makes the scripts only now: it takes longer to load than everything else. */
const completions = (shell: string): Effect.Effect<Outcome> =>
  isShell(shell)
    ? Effect.promise(() => import("./completions.ts")).pipe(
      Effect.flatMap(({ completionScript }) => completionScript(shell)),
      Effect.map(success)
    )
    : Effect.succeed(usage([`-completions: ${quoted(shell)} is not one of ${SHELLS.join(", ")}`]))

const linesOf = (text: string): ReadonlyArray<string> => text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/)

/** What standard input gives: the password in the first line, parameters in the others, as far as flags ask for them. */
const readInput = (line: CommandLine, { readStdin }: CliInput) => {
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

/** Finds the daemon, and does there what is asked for. */
const connected = (input: CliInput, line: CommandLine): Effect.Effect<Outcome> =>
  Effect.gen(function*() {
    const read = yield* readInput(line, input)
    const shared = [...line.given].flatMap(([name, texts]) =>
      Object.hasOwn(CONNECTION_OPTIONS, name) ? texts.map((text) => `-${name}=${text}`) : []
    )
    const argv = read.password === undefined ? shared : [...shared, `-rpcpassword=${read.password}`]
    const decoded = decodeConnection({ ...input, argv })
    if (Either.isLeft(decoded)) return usage(decoded.left.problems)

    const problems = [...contradictions(line), ...surplusOf(line)]
    const timeout = countOf("rpcclienttimeout", line.text("rpcclienttimeout"), CALL_SECONDS, problems)
    const wait = countOf("rpcwaittimeout", line.text("rpcwaittimeout"), 0, problems)
    const expiring = countOf("expiring", line.text("expiring"), 0, problems)
    if (problems.length > 0) return usage(problems)

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
        return yield* tellStatus({ daemon, connection, input }, line.wants("json"))
      case "names":
        return yield* tellNames({ daemon, connection, input }, {
          prefix: line.words[0] ?? "",
          all: line.wants("all"),
          expiring: line.given.has("expiring") ? expiring : undefined,
          json: line.wants("json")
        })
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

const contradictions = ({ given }: CommandLine): ReadonlyArray<string> =>
  given.has("rpccookiefile")
    ? (["rpcuser", "rpcpassword", "stdinrpcpass"] as const).filter((name) => given.has(name)).map((name) =>
      `-rpccookiefile: stands in place of -${name}; give one of the two`
    )
    : []

/** Parameters that a command does not take. */
const surplusOf = ({ command, words }: CommandLine): ReadonlyArray<string> => {
  if (command === undefined) return []
  const taken = command === "names" ? 1 : 0
  return words.slice(taken).map((word) =>
    `${quoted(word)}: ${command} takes ${taken === 0 ? "no parameter" : "one prefix"}`
  )
}

interface Surroundings {
  readonly daemon: Daemon
  readonly connection: Connection
  readonly input: CliInput
}

const callMethod = (
  [method, ...args]: ReadonlyArray<string>,
  named: boolean,
  { connection, daemon, input }: Surroundings
): Effect.Effect<Outcome> => {
  if (method === undefined) {
    return Effect.succeed(
      failure(USAGE_EXIT_CODE, `${NAME}: no method given\n${NAME}: see ${NAME} -help, and ${NAME} help for the methods`)
    )
  }
  const params = named ? byName(method, args) : byPosition(method, args)
  if (isBadArgument(params)) return Effect.succeed(failure(1, `error: Error parsing JSON: ${params.argument}`))
  return daemon.call(method, params).pipe(
    Effect.map((result) => {
      const text = resultText(result)
      // To a program every byte goes as it is.
      return success(input.screen.terminal ? shownLines(text) : text)
    }),
    Effect.catchAll((error) => explain(error, connection, daemon, method))
  )
}

const isBadArgument = (params: ReadonlyArray<Json> | JsonObject | BadArgument): params is BadArgument =>
  "_tag" in params

const tellStatus = ({ connection, daemon, input }: Surroundings, json: boolean): Effect.Effect<Outcome> =>
  Effect.promise(() => import("./status.ts")).pipe(
    Effect.flatMap(({ status }) => status(daemon, connection, input.screen, json)),
    Effect.map(success),
    Effect.catchAll((error) => explain(error, connection, daemon))
  )

const tellNames = (
  { connection, daemon, input }: Surroundings,
  options: NamesOptions
): Effect.Effect<Outcome> =>
  Effect.promise(() => import("./names.ts")).pipe(
    Effect.flatMap(({ names }) => names(daemon, input.screen, options)),
    Effect.map(success),
    Effect.catchAll((error) =>
      error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
        ? Effect.succeed(
          failure(1, `error: the daemon has no wallet; "${NAME} name_scan" lists the names of everybody`)
        )
        : explain(error, connection, daemon)
    )
  )
