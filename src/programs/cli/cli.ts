import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { quantityOf } from "../../base/quantities.ts"
import { escapeLines } from "../../base/safeText.ts"
import { CONNECTION_OPTIONS, type ConnectionSettings, decodeConnection } from "../../config/connection.ts"
import { USAGE_EXIT_CODE } from "../../config/UsageError.ts"
import type { Json, JsonObject } from "../../rpc/json/json.ts"
import { type BadArgument, byName, byPosition, takesSecrets } from "../../rpc/method/conversions.ts"
import type { ProgramOutcome } from "../tool/outcome.ts"
import { looksSecret } from "../tool/secrets.ts"
import { type CommandName, isCliCommand } from "./commandTable.ts"
import { type Daemon, makeDaemon } from "./daemon.ts"
import { explain } from "./failures.ts"
import {
  CLI_SHELLS,
  type CliCommandLine,
  countOf,
  isShell,
  passphraseLines,
  readCliCommandLine,
  wordProblems
} from "./flags.ts"
import { indented, resultText } from "./jsonText.ts"
import {
  type CliInput,
  type CliOutcome,
  failure,
  hiddenIn,
  NAME,
  printed,
  quotedArgument,
  success,
  toldFailure,
  usageOutcome
} from "./outcome.ts"

/** `svcd-cli`: calls a method of a daemon (reference/rpc.md 8), or shows node and names in tables. */

export type { CliInput, CliOutcome }

const CALL_SECONDS = 900

export const run = (input: CliInput): Effect.Effect<ProgramOutcome> =>
  Effect.suspend(() => {
    const line = readCliCommandLine(input.argv)
    const json = line.wants("json")
    return runLine(json ? { ...input, note: () => {}, progress: undefined } : input, line).pipe(
      Effect.flatMap((outcome) => withoutSecrets(outcome, input)),
      Effect.map((outcome) => printed(outcome, json))
    )
  }).pipe(Effect.catchAllDefect(() =>
    // Otherwise the program would end silently with status 0.
    Effect.succeed(printed(failure(1, { message: "internal error, please report it" }), false))
  ))

/** Loaded for errors only, because it has the list of seed words. */
const hiding = ({ argv }: CliInput): Effect.Effect<(text: string) => string> =>
  Effect.map(
    Effect.promise(() => import("../tool/hideSecrets.ts")),
    ({ hideSecrets }) => (text) => hideSecrets(text, argv)
  )

const withoutSecrets = (outcome: CliOutcome, input: CliInput): Effect.Effect<CliOutcome> =>
  outcome.stderr === "" ? Effect.succeed(outcome) : Effect.map(hiding(input), (hide) => hiddenIn(outcome, hide))

const runLine = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> =>
  Effect.suspend(() => {
    if (line.wants("help")) return help(line.command)
    if (line.wants("version")) return Effect.succeed(success(`${NAME} ${input.version}\n`))
    if (line.problems.length > 0) return Effect.succeed(usageOutcome(line.problems))
    const shell = line.text("completions")
    if (shell !== undefined) return completions(shell)
    const [method, about] = line.words
    if (line.command === undefined && method === "help" && isCliCommand(about)) return help(about)
    if (line.command === "lint") return checkValue(input, line)
    if (line.command === "verify-proof") return verifyProof(input, line)
    return line.command === "rpcauth" ? makeUser(input, line) : connected(input, line)
  })

const help = (command: CommandName | undefined): Effect.Effect<CliOutcome> =>
  Effect.map(
    Effect.promise(() => import("./help.ts")),
    ({ helpText }) => success(helpText(command))
  )

/** Loaded on use: it takes longer to load than everything else. */
const completions = (shell: string): Effect.Effect<CliOutcome> =>
  isShell(shell)
    ? Effect.promise(() => import("./completions.ts")).pipe(
      Effect.flatMap(({ completionScript }) => completionScript(shell)),
      Effect.map(success)
    )
    : Effect.succeed(usageOutcome([`-completions: ${quotedArgument(shell)} is not one of ${CLI_SHELLS.join(", ")}`]))

const makeUser = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> => {
  const problems = wordProblems(line)
  if (problems.length > 0) return Effect.succeed(usageOutcome(problems))
  return Effect.flatMap(
    Effect.promise(() => import("./rpcauth.ts")),
    ({ rpcauth }) => rpcauth(line.words, line.wants("json"), input)
  )
}

/** A value from standard input ends before the last line break. */
const checkValue = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> => {
  const [name, given] = line.words
  const problems = wordProblems(line)
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
  ).pipe(Effect.catchAll(({ message }) => Effect.succeed(failure(1, { message }))))
}

/** The network is that of the flags and of svcd.conf, else mainnet. */
const verifyProof = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> =>
  Effect.suspend(() => {
    const problems = [...wordProblems(line)]
    const confirmations = countOf(
      { name: "confirmations", text: line.text("confirmations"), fallback: 1 },
      problems
    )
    const decoded = decodeConnection({ ...input, argv: connectionFlags(line) })
    if (Either.isLeft(decoded)) problems.push(...decoded.left.problems)
    const [file] = line.words
    if (problems.length > 0 || Either.isLeft(decoded) || file === undefined) {
      return Effect.succeed(usageOutcome(problems))
    }
    const { network } = decoded.right.connection
    return Effect.flatMap(
      Effect.promise(() => import("./verifyProof.ts")),
      ({ verifyProofCommand }) => verifyProofCommand({ file, network, confirmations, json: line.wants("json") }, input)
    )
  })

const linesOf = (text: string): ReadonlyArray<string> => text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/)

/** The password in the first line, parameters in the others, as the flags require. */
const readInput = (line: CliCommandLine, { readStdin }: CliInput) => {
  const [password, parameters] = [line.wants("stdinrpcpass"), line.wants("stdin")]
  if (!password && !parameters) return Effect.succeed({ password: undefined, parameters: [] })
  return Effect.map(Effect.mapError(readStdin, ({ message }) => message), (text) => {
    const lines = linesOf(text)
    return {
      password: password ? lines[0] ?? "" : undefined,
      parameters: parameters ? lines.slice(password ? 1 : 0) : []
    }
  })
}

const connectionFlags = (line: CliCommandLine): ReadonlyArray<string> =>
  [...line.given].flatMap(([name, texts]) =>
    Object.hasOwn(CONNECTION_OPTIONS, name) ? texts.map((text) => `-${name}=${text}`) : []
  )

const connected = (input: CliInput, line: CliCommandLine): Effect.Effect<CliOutcome> =>
  Effect.gen(function*() {
    const clashes = contradictions(line)
    if (clashes.length > 0) return usageOutcome(clashes)
    const read = yield* readInput(line, input)
    const shared = connectionFlags(line)
    const argv = read.password === undefined ? shared : [...shared, `-rpcpassword=${read.password}`]
    const decoded = connectionOf({ ...input, argv }, line)
    if (Either.isLeft(decoded)) return usageOutcome(decoded.left.problems)

    const problems = [...wordProblems(line), ...lineProblems(line, read.parameters.length)]
    const timeout = countOf(
      { name: "rpcclienttimeout", text: line.text("rpcclienttimeout"), fallback: CALL_SECONDS },
      problems
    )
    const wait = countOf({ name: "rpcwaittimeout", text: line.text("rpcwaittimeout"), fallback: 0 }, problems)
    if (problems.length > 0) return usageOutcome(problems)

    const { connection } = decoded.right
    const daemon = yield* makeDaemon({
      connection,
      wallet: line.text("rpcwallet"),
      cookieFile: line.text("rpccookiefile"),
      timeout,
      wait: line.wants("rpcwait") ? wait : undefined,
      input,
      note: input.note
    })
    const { command } = line
    // The doctor reports it as one of its checks.
    const refused = command === "doctor" ? undefined : yield* wrongNetwork({ daemon, connection, line })
    if (refused !== undefined) return refused
    if (command === undefined || command === "lint" || command === "rpcauth" || command === "verify-proof") {
      return yield* callMethod([...line.words, ...read.parameters], { connection, daemon, input, line })
    }
    const { runOwnCommand } = yield* Effect.promise(() => import("./ownCommands.ts"))
    const passphrases = line.wants("stdin") ? read.parameters : undefined
    return yield* runOwnCommand(command, { connection, daemon, input: { ...input, passphrases }, line })
  }).pipe(
    Effect.catchAll((reason) => Effect.succeed(failure(1, { message: reason }))),
    Effect.scoped
  )

const wrongNetwork = (
  { connection, daemon, line }: Omit<Surroundings, "input">
): Effect.Effect<CliOutcome | undefined> =>
  Effect.matchEffect(daemon.confirm, {
    onSuccess: () => Effect.succeed(undefined),
    onFailure: (error) => explain(error, { connection, daemon, method: "getblockchaininfo", word: methodOf(line) })
  })

/** The doctor accepts a file that has mistakes or belongs to another user, and reports it. */
const connectionOf = (input: CliInput, { command }: CliCommandLine) => {
  const decoded = decodeConnection(input)
  return Either.isLeft(decoded) && command === "doctor"
    ? decodeConnection({ ...input, readFile: () => Either.right(undefined) })
    : decoded
}

const stdinProblems = (command: CommandName, line: CliCommandLine): ReadonlyArray<string> =>
  line.words.includes("-") || line.text("file") === "-"
    ? ["-stdin: standard input is read already; omit the flag, and unlock the wallet before"]
    : passphraseLines(line) === 0
    ? [`-stdin: ${command} reads nothing from standard input`]
    : []

/** Of standard input, for a command: the lines are secret, and none is shown. */
const lineProblems = (line: CliCommandLine, lines: number): ReadonlyArray<string> => {
  const wanted = passphraseLines(line)
  if (line.command === undefined || !line.wants("stdin") || lines === wanted) return []
  const what = wanted === 2 ? "the old passphrase and the new one, each on a line" : "one line, the passphrase"
  return [`-stdin: ${line.command} takes ${what}, and standard input has ${quantityOf(lines, "line")}`]
}

const contradictions = (line: CliCommandLine): ReadonlyArray<string> => {
  const { command, given, words } = line
  return [
    ...(command === "expiring" && given.has("all") && given.has("owner")
      ? ["-all: cannot be combined with -owner; give one"]
      : []),
    ...(command === "seed" && words.includes("-") && given.has("stdinrpcpass")
      ? ["-stdinrpcpass: standard input has the words; omit the flag"]
      : []),
    ...(command !== undefined && line.wants("stdin") ? stdinProblems(command, line) : []),
    ...(given.has("rpccookiefile")
      ? (["rpcuser", "rpcpassword", "stdinrpcpass"] as const).filter((name) => given.has(name)).map((name) =>
        `-rpccookiefile: replaces -${name}; give one of the two`
      )
      : [])
  ]
}

interface Surroundings {
  readonly daemon: Daemon
  readonly connection: ConnectionSettings
  readonly input: CliInput
  readonly line: CliCommandLine
}

const methodOf = ({ command, words }: CliCommandLine): string | undefined =>
  command === undefined ? words[0] : undefined

const NO_METHOD = "no method given"
const METHODS = `see ${NAME} -help, and ${NAME} help for the methods`

const callMethod = (
  [method, ...args]: ReadonlyArray<string>,
  { connection, daemon, input, line }: Surroundings
): Effect.Effect<CliOutcome> => {
  if (method === undefined) {
    return Effect.succeed(toldFailure({
      exit: USAGE_EXIT_CODE,
      text: `${NAME}: ${NO_METHOD}\n${NAME}: ${METHODS}`,
      problem: { code: USAGE_EXIT_CODE, message: NO_METHOD, remedy: METHODS }
    }))
  }
  const named = line.wants("named")
  const params = named ? byName(method, args) : byPosition(method, args)
  if (isBadArgument(params)) {
    return Effect.succeed(badArgument(method, args, { ...params, shown: line.words.length - 1 }))
  }
  // Any method may send coins.
  const called = daemon.call(method, params)
  return (SCANNING.has(method) && input.progress !== undefined ? besideBar(called, daemon, input) : called).pipe(
    // Like the reference node, the daemon repeats an unknown method's name instead of an error.
    Effect.flatMap((result) =>
      method === "help" && typeof result === "string" && looksSecret(args.join(" "))
        ? Effect.map(hiding(input), (hide) => hide(result))
        : Effect.succeed(result)
    ),
    Effect.flatMap((result) => {
      const text = line.wants("json") ? `${indented(result)}\n` : resultText(result)
      const done = success(escapeLines(text))
      return SETTING.has(method) ? warned(done, method, params) : Effect.succeed(done)
    }),
    Effect.catchAll((error) =>
      explain(error, { connection, daemon, method, word: method, name: nameOf(method, args, named) })
    )
  )
}

const SCANNING: ReadonlySet<string> = new Set(["importdescriptors", "rescanblockchain"])

const besideBar = <A, E>(call: Effect.Effect<A, E>, daemon: Daemon, input: CliInput): Effect.Effect<A, E> =>
  Effect.gen(function*() {
    const { drawScan } = yield* Effect.promise(() => import("./syncRows.ts"))
    yield* Effect.forkScoped(drawScan(daemon, input))
    return yield* call
  }).pipe(Effect.scoped)

const PLAIN = /^[\w.]+$/

/** `send` takes outputs in JSON. An address there means `pay`, with the same words if it takes them. */
const badArgument = (
  method: string,
  args: ReadonlyArray<string>,
  { argument, place, shown }: BadArgument & {
    /** Arguments on the command line. The others are from standard input, and no error repeats them. */
    readonly shown: number
  }
): CliOutcome => {
  const isSend = method === "send"
  const isPayment = isSend && args.length === 2 && shown === 2 &&
    args.every((word) => PLAIN.test(word) && !looksSecret(word))
  const words = isPayment ? args : ["ADDRESS", "AMOUNT"]
  return failure(1, {
    message: `Error parsing JSON: ${
      place >= shown || looksSecret(args.join(" ")) || (takesSecrets(method) && !isPayment)
        ? `parameter ${place + 1} of ${method} is not JSON (it is not shown: it may be secret)`
        : argument
    }`,
    remedy: isSend ? `To send coins to an address: ${NAME} pay ${words.join(" ")}` : undefined
  })
}

const nameOf = (method: string, args: ReadonlyArray<string>, named: boolean): string | undefined => {
  if (!method.startsWith("name_")) return undefined
  const [first] = args
  return named ? args.find((text) => text.startsWith("name="))?.slice("name=".length) ?? first : first
}

/** Methods that set a value and answer only with a transaction. */
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
