import type * as BuiltInOptions from "@effect/cli/BuiltInOptions"
import * as CliConfig from "@effect/cli/CliConfig"
import type * as Command from "@effect/cli/Command"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { UsageError } from "../../config/UsageError.ts"
import { formsOf, readArguments } from "./arguments.ts"
import { completionScript } from "./completions.ts"
import { commandText, pageText, paragraphs } from "./helpText.ts"
import { failure, type Outcome, usage } from "./outcome.ts"

/**
 * Runs a program that is described by a command of @effect/cli with sub-commands: that library parses and validates,
 * describes the help and writes the scripts for shells. Here are the spelling of flags, the layout of the help, and the
 * exit status.
 */

/** Adds to what the program prints when it ends well: results to standard output, remarks to standard error. */
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
  /** Whether a message may repeat a word that is no sub-command: it may be a secret in the wrong place. */
  readonly repeatsWords: boolean
  /** The command, under the given name: scripts for shells need another. */
  readonly command: (name: string, printer: Printer) => Command.Command<string, never, E, A>
}

/** The help names the built-in flags itself, and `readArguments` the flag that was meant. */
const config = CliConfig.make({ isCaseSensitive: true, showBuiltIns: false, autoCorrectLimit: 0 })

/** What the library's parser may ask for. The tools' flags need neither files nor a terminal. */
const parserLayer = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

const SILENT: Printer = { result: () => {}, remark: () => {} }

const UNEXPECTED = { message: "an error of the program itself, please report it" }

/** The sub-commands in the order of their description. */
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

interface Printed {
  stdout: string
  stderr: string
}

const finished = <E extends { readonly _tag: string; readonly message: string }>(
  name: string,
  printed: Printed,
  exit: Exit.Exit<void, E | UsageError>
): Outcome =>
  Exit.match(exit, {
    onSuccess: () => ({ code: 0, ...printed }),
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => failure(name, UNEXPECTED),
        onSome: (error) => error instanceof UsageError ? usage(name, error) : failure(name, error)
      })
  })

/** Runs a program. Every failure is an outcome; an interruption ends the sub-command. */
export const run = <E extends { readonly _tag: string; readonly message: string }, A>(
  tool: Tool<E, A>
): Effect.Effect<Outcome> => {
  const { about, name, notes, version } = tool
  const printed: Printed = { stdout: "", stderr: "" }
  const command = tool.command(name, {
    result: (text) => void (printed.stdout += text),
    remark: (text) => void (printed.stderr += text)
  })
  const commands = commandsOf(command.descriptor)
  const syntax = { commands: new Map(commands.map((each) => [each.name, formsOf(each.usage)])), ...tool }
  const { problems, words } = readArguments(tool.argv, syntax)
  if (problems.length > 0) return Effect.succeed(usage(name, new UsageError({ problems })))

  const help = ({ helpDoc, usage }: BuiltInOptions.ShowHelp): string =>
    words.length > 1 ? commandText(usage, helpDoc) : pageText({ name, about, notes, commands })

  const builtIn = (option: BuiltInOptions.BuiltInOptions): Effect.Effect<string> => {
    switch (option._tag) {
      case "ShowHelp":
        return Effect.succeed(help(option))
      case "ShowVersion":
        return Effect.succeed(`${name} ${version}\n`)
      case "ShowCompletions":
        return completionScript({ name, shell: option.shellType, command: (as) => tool.command(as, SILENT) })
      case "SetLogLevel":
      case "ShowWizard":
        return Effect.dieMessage(`${name} has no such flag: ${option._tag}`)
    }
  }

  return Descriptor.parse(command.descriptor, [name, ...words], config).pipe(
    Effect.provide(parserLayer),
    Effect.mapError((error) => new UsageError({ problems: paragraphs(error.error) })),
    Effect.flatMap((directive): Effect.Effect<void, E | UsageError> => {
      if (directive._tag === "BuiltIn") {
        return Effect.map(builtIn(directive.option), (text) => void (printed.stdout += text))
      }
      // Surplus words are not repeated: they may be the rest of a password.
      const surplus = `${words[0] ?? ""}: there are too many arguments; a text with spaces has to be in quotes`
      return directive.leftover.length > 0
        ? new UsageError({ problems: [surplus] })
        : command.transform(command.handler(directive.value), directive.value)
    }),
    Effect.exit,
    Effect.map((exit) => finished(name, printed, exit))
  )
}
