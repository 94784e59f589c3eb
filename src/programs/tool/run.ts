import type * as BuiltInOptions from "@effect/cli/BuiltInOptions"
import * as CliConfig from "@effect/cli/CliConfig"
import type * as Command from "@effect/cli/Command"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { missingPart } from "../../config/nativePart.ts"
import { UsageError } from "../../config/UsageError.ts"
import { formsOf, readArguments } from "./arguments.ts"
import { shellScript } from "./completions.ts"
import { commandText, describesFlags, pageText, paragraphs } from "./helpText.ts"
import { failureOutcomeOf, type ProgramOutcome, usageOutcomeOf, withoutSecrets } from "./outcome.ts"

/**
 * Runs a program described with @effect/cli. This file adds the spelling of flags, the layout of the help, and the exit
 * status.
 */

/** Results go to standard output, remarks to standard error. */
export interface Printer {
  readonly result: (text: string) => void
  readonly remark: (text: string) => void
}

export interface Tool<E, A> {
  readonly name: string
  readonly version: string
  readonly argv: ReadonlyArray<string>
  readonly about: string
  readonly notes: string
  /** Whether a message may repeat an unknown sub-command, which may be a misplaced secret. */
  readonly repeatsWords: boolean
  /** Whether an empty text is a value of a flag. If not, an unset variable cannot replace a password. */
  readonly allowsEmpty: boolean
  readonly command: (name: string, printer: Printer) => Command.Command<string, never, E, A>
}

/** The help names the built-in flags itself, and `readArguments` the intended flag. */
const config = CliConfig.make({ isCaseSensitive: true, showBuiltIns: false, autoCorrectLimit: 0 })

/** The library's parser may ask for these, although the tools' flags need neither files nor a terminal. */
const parserLayer = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

const SILENT: Printer = { result: () => {}, remark: () => {} }

/** A sub-command loads modules that a damaged installation may lack. */
const unexpected = (cause: Cause.Cause<unknown>) => ({
  message: missingPart(Cause.squash(cause)) ?? "internal error, please report it"
})

const commandsOf = <A>(root: Descriptor.Command<A>) => {
  const commands = new Map(Descriptor.getSubcommands(root))
  return paragraphs(Descriptor.getHelp(root, config)).flatMap((line) => {
    const [name = ""] = line.split(" ", 1)
    const command = commands.get(name)
    return command === undefined
      ? []
      : [{ name, usage: Descriptor.getUsage(command), doc: Descriptor.getHelp(command, config) }]
  })
}

const builtInText = <E extends Failure, A>(
  option: BuiltInOptions.BuiltInOptions,
  { about, command, name, notes, version }: Tool<E, A>,
  commands: ReturnType<typeof commandsOf>
): Effect.Effect<string> => {
  switch (option._tag) {
    case "ShowHelp": {
      const { helpDoc, usage } = option
      // The library's document about the whole program has no flags.
      const text = describesFlags(helpDoc) ? commandText(usage, helpDoc) : pageText({ name, about, notes, commands })
      return Effect.succeed(text)
    }
    case "ShowVersion":
      return Effect.succeed(`${name} ${version}\n`)
    case "ShowCompletions":
      return shellScript({ name, shell: option.shellType, command: (as) => command(as, SILENT) })
    case "SetLogLevel":
    case "ShowWizard":
      return Effect.dieMessage(`${name} has no flag ${option._tag}`)
  }
}

/** Surplus words are not repeated: they may be the rest of a password. */
const surplus = (command: string): UsageError =>
  new UsageError({ problems: [`${command}: too many arguments; quote a text with spaces`] })

const inWords = (problem: string): string =>
  problem
    .replace(/^Expected to find option: '(--[\w-]+)'$/, "$1: is missing")
    .replace(/^Missing argument <([\w-]+)>$/, "an argument is missing: <$1>")

interface Failure {
  readonly _tag: string
  readonly message: string
}

const carriedOut = <E extends Failure, A>(tool: Tool<E, A>, printer: Printer): Effect.Effect<void, E | UsageError> => {
  const command = tool.command(tool.name, printer)
  const commands = commandsOf(command.descriptor)
  const { problems, words } = readArguments(tool.argv, {
    commands: new Map(commands.map(({ name, usage }) => [name, formsOf(usage)])),
    repeatsWords: tool.repeatsWords,
    allowsEmpty: tool.allowsEmpty
  })
  if (problems.length > 0) return new UsageError({ problems })
  return Descriptor.parse(command.descriptor, [tool.name, ...words], config).pipe(
    Effect.provide(parserLayer),
    Effect.mapError(({ error }) => new UsageError({ problems: paragraphs(error).map(inWords) })),
    Effect.flatMap((directive): Effect.Effect<void, E | UsageError> => {
      if (directive._tag === "BuiltIn") {
        return Effect.map(builtInText(directive.option, tool, commands), printer.result)
      }
      return directive.leftover.length > 0
        ? surplus(words[0] ?? tool.name)
        : command.transform(command.handler(directive.value), directive.value)
    })
  )
}

const failureOf = (name: string, error: Failure): ProgramOutcome =>
  error instanceof UsageError ? usageOutcomeOf(name, error) : failureOutcomeOf(name, error)

export const run = <E extends Failure, A>(tool: Tool<E, A>): Effect.Effect<ProgramOutcome> =>
  Effect.suspend(() => {
    const printed = { stdout: "", stderr: "" }
    const printer = {
      result: (text: string): void => void (printed.stdout += text),
      remark: (text: string): void => void (printed.stderr += text)
    }
    return carriedOut(tool, printer).pipe(
      Effect.matchCause({
        onSuccess: () => ({ code: 0, ...printed }),
        onFailure: (cause) =>
          Option.match(Cause.failureOption(cause), {
            onNone: () => failureOutcomeOf(tool.name, unexpected(cause)),
            onSome: (error) => withoutSecrets(failureOf(tool.name, error), tool.argv)
          })
      })
    )
  })
