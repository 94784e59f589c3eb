import { Effect, Either } from "effect"
import { cliOf } from "../../../src/base/ownerCommands.ts"
import type { ProgressTerminal } from "../../../src/base/progressBar.ts"
import { run } from "../../../src/programs/cli/cli.ts"
import { isCliCommand } from "../../../src/programs/cli/commandTable.ts"
import { readCliCommandLine } from "../../../src/programs/cli/flags.ts"
import { type CliInput, printed } from "../../../src/programs/cli/outcome.ts"
import { runOwnCommand } from "../../../src/programs/cli/ownCommands.ts"
import type { Prompt } from "../../../src/programs/tool/prompt.ts"
import { MUTE, SILENT } from "../../support/liveOutput.ts"
import { recordingDaemon } from "./fakeDaemon.ts"

/** Runs a command of svcd-cli against a daemon that is made of answers. */

/** A terminal at which a person gives these answers, with the questions that the program asked, and those without echo. */
export const answering = (
  ...answers: ReadonlyArray<string>
): Prompt & { readonly asked: ReadonlyArray<string>; readonly secrets: ReadonlyArray<string> } => {
  const asked: Array<string> = []
  const secrets: Array<string> = []
  const left = [...answers]
  const next = (question: string) =>
    Effect.sync(() => {
      asked.push(question)
      return left.shift()
    })
  return {
    asked,
    secrets,
    terminal: answers.length === 0 ? undefined : { hasResults: true },
    line: next,
    secret: (question) => Effect.zipRight(Effect.sync(() => secrets.push(question)), next(question))
  }
}

const MACHINE = {
  env: {},
  homedir: "/home/test",
  cwd: "/home/test/work",
  cores: 1,
  version: "1.2.3",
  output: SILENT
} as const

/** Runs svcd-cli by its arguments, without files, a terminal or a daemon. Without `readStdin`, standard input must not be read. */
export const runAlone = (
  argv: ReadonlyArray<string>,
  readStdin: CliInput["readStdin"] = Effect.die("standard input was read")
) =>
  run({
    ...MACHINE,
    argv,
    readFile: () => Either.right(undefined),
    screen: { terminal: false, columns: undefined, colours: false },
    progress: undefined,
    note: () => {},
    readStdin,
    prompt: MUTE
  })

export const runWith = (
  answers: Readonly<Record<string, unknown>>,
  {
    columns,
    env = {},
    files = {},
    passphrases,
    progress,
    prompt = MUTE,
    rpc = { host: "127.0.0.1", port: 8336 },
    wallet,
    stdin = "{\"ip\":\"192.0.2.77\"}\n"
  }: {
    readonly prompt?: Prompt
    /** The text of standard input. */
    readonly stdin?: string
    readonly files?: Readonly<Record<string, string>>
    readonly env?: Readonly<Record<string, string>>
    /** Columns of a terminal; a pipe without. */
    readonly columns?: number
    readonly progress?: ProgressTerminal
    /** Lines of `-stdin`. */
    readonly passphrases?: ReadonlyArray<string>
    /** Of `-rpcwallet`. */
    readonly wallet?: string
    readonly rpc?: { readonly host: string; readonly port: number }
  } = {}
) => {
  const daemon = { ...recordingDaemon(answers), cli: cliOf(wallet) }
  const notes: Array<string> = []
  const input: CliInput = {
    ...MACHINE,
    env,
    argv: [],
    readFile: (path) => Either.right(files[path]),
    screen: { terminal: columns !== undefined, columns, colours: false },
    progress,
    note: (line) => void notes.push(line),
    readStdin: Effect.succeed(stdin),
    prompt,
    passphrases
  }
  const connection = {
    network: "mainnet",
    networkFrom: undefined,
    dataDir: "/nowhere",
    rpc: { ...rpc, credentials: undefined },
    cookieFile: undefined,
    rpcAddrFrom: "default"
  } as const
  return {
    daemon,
    /** The lines that were written to standard error while the command went on. */
    notes,
    /** The calls of a method, each with its parameters. */
    sent: (method: string) => daemon.calls.filter((call) => call.method === method).map(({ params }) => params),
    run: (...argv: ReadonlyArray<string>) => {
      const line = readCliCommandLine(argv)
      const { command } = line
      if (
        !isCliCommand(command) || command === "lint" || command === "rpcauth" || command === "verify-proof" ||
        command === "doctor"
      ) {
        return Effect.dieMessage(`${String(command)} asks no daemon`)
      }
      return line.problems.length > 0
        ? Effect.dieMessage(line.problems.join())
        : Effect.map(
          runOwnCommand(command, { daemon, connection, input, line }),
          (outcome) => printed(outcome, line.wants("json"))
        )
    }
  }
}
