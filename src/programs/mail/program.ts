import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { stripVTControlCharacters } from "node:util"
import type { OpenFailure } from "../../client/errors.ts"
import type { NameClient } from "../../client/NameClient.ts"
import { USAGE_EXIT_CODE, UsageError } from "../../config/UsageError.ts"
import { canonical, problemsOf, readArguments } from "./arguments.ts"
import { type MailHandlers, program, TAKEN } from "./commands.ts"
import { MAIL_HELP } from "./help.ts"
import { lookup, type LookupFailure } from "./lookup.ts"
import { isOn } from "./options.ts"
import { prepare } from "./prepare.ts"
import type { ServeFailure } from "./serve.ts"
import { type MailInput, mailSettings, type NamesConnection } from "./settings.ts"

/** `svcd-mail`: prepares the names that forward mail, looks them up, and forwards (docs/mail.md). */

const NAME = "svcd-mail"

/** What the program prints, and its exit status. While it serves it also logs, on standard output. */
export interface MailOutcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface MailToolInput extends MailInput {
  readonly version: string
  /** The names of the daemon of a connection. */
  readonly names: (connection: NamesConnection) => Layer.Layer<NameClient, OpenFailure>
}

type CommandFailure = UsageError | LookupFailure | ServeFailure

interface Said {
  stdout: string
  stderr: string
}

const handlersOf = (input: MailToolInput, said: Said): MailHandlers<CommandFailure> => {
  const print = (text: string): void => void (said.stdout += text)
  return {
    register: (label, texts) => Effect.map(prepare("register", label, texts, input), print),
    update: (label, texts) => Effect.map(prepare("update", label, texts, input), print),
    lookup: (label, texts) =>
      Effect.map(lookup(label, texts, input, input.names), ({ remarks, result }) => {
        print(result)
        said.stderr += remarks.map((remark) => `${NAME}: ${remark}\n`).join("")
      }),
    serve: (texts) =>
      Effect.gen(function*() {
        const settings = yield* mailSettings(texts, input)
        // The other sub-commands do not load SMTP code, and start faster.
        const { serve } = yield* Effect.promise(() => import("./serve.ts"))
        return yield* serve(settings, input.names(settings.connection))
      })
  }
}

/** The environment of the parser of sub-commands. It never asks at a terminal and touches no file. */
const parserLayer = Layer.mergeAll(
  CliConfig.layer({ isCaseSensitive: true }),
  NodeFileSystem.layer,
  NodePath.layer,
  NodeTerminal.layer
)

/** The parser also prints its objections to the arguments, in colours. */
const silent = Effect.map(Console.consoleWith(Effect.succeed), (console): Console.Console => ({
  ...console,
  error: () => Effect.void,
  log: () => Effect.void
}))

const failure = (code: number, text: string): MailOutcome => ({
  code,
  stdout: "",
  stderr: text.split("\n").map((line) => `${NAME}: ${line}\n`).join("")
})

const usage = (error: UsageError): MailOutcome => ({
  code: USAGE_EXIT_CODE,
  stdout: "",
  stderr: error.report(NAME).map((line) => `${line}\n`).join("")
})

/** The parser's message, as plain text on one line. */
const parserProblem = ({ error }: ValidationError.ValidationError): string =>
  stripVTControlCharacters(HelpDoc.toAnsiText(error)).trim().split(/\s*\n\s*/).join(" ")

const finish = (said: Said, exit: Exit.Exit<void, CommandFailure | ValidationError.ValidationError>): MailOutcome =>
  Exit.match(exit, {
    onSuccess: () => ({ code: 0, ...said }),
    onFailure: (cause) => {
      const error = Cause.failureOption(cause)
      if (error._tag === "None") return failure(1, "an error of the program itself, please report it")
      if (ValidationError.isValidationError(error.value)) {
        return usage(new UsageError({ problems: [parserProblem(error.value)] }))
      }
      return error.value._tag === "UsageError" ? usage(error.value) : failure(1, error.value.message)
    }
  })

/** Runs the program. Every failure is an outcome; an interruption shuts `serve` down cleanly. */
export const run = (input: MailToolInput): Effect.Effect<MailOutcome> =>
  Effect.suspend(() => {
    const read = readArguments(input.argv)
    if (isOn(read.given, "help")) return Effect.succeed({ code: 0, stdout: MAIL_HELP, stderr: "" })
    if (isOn(read.given, "version")) {
      return Effect.succeed({ code: 0, stdout: `${NAME} ${input.version}\n`, stderr: "" })
    }
    const problems = problemsOf(read, TAKEN)
    if (problems.length > 0) return Effect.succeed(usage(new UsageError({ problems })))
    const said: Said = { stdout: "", stderr: "" }
    const command = Command.run(program(handlersOf(input, said)), { name: NAME, version: input.version })
    // The parser skips the first two as the names of interpreter and script.
    return command(["node", NAME, ...canonical(read)]).pipe(
      (parsing) => Effect.flatMap(silent, (console) => Effect.withConsole(parsing, console)),
      Effect.provide(parserLayer),
      Effect.exit,
      Effect.map((exit) => finish(said, exit))
    )
  })
