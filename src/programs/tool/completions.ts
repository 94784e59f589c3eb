import type * as Command from "@effect/cli/Command"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { pathKind } from "../../config/kinds.ts"
import type { Option, OptionTable } from "../../config/optionRow.ts"
import type { Shell } from "../../config/options.ts"
import { BUILT_IN, type Forms, formsOf } from "./arguments.ts"

/** Completion scripts of @effect/cli, partly corrected. */

export interface Completed<E, A> {
  readonly name: string
  readonly shell: Shell
  readonly command: (name: string) => Command.Command<string, never, E, A>
  readonly bare?: ReadonlySet<string>
  readonly explains?: string
}

const FOLDERS: ReadonlySet<string> = new Set(["datadir"])

const describedFlag = (name: string, { description, placeholder, toml }: Option): Options.Options<unknown> => {
  const plain: Options.Options<unknown> = toml === "boolean"
    ? Options.boolean(name)
    : CHOICE.test(placeholder)
    ? Options.choice(name, placeholder.split("|"))
    : FOLDERS.has(name)
    ? Options.directory(name)
    : placeholder === pathKind.placeholder
    ? Options.file(name)
    : Options.text(name)
  return Options.withDescription(plain, description)
}

export const describedFlags = (options: OptionTable): Record<string, Options.Options<unknown>> =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([name, { flag }]) => flag && !Object.hasOwn(BUILT_IN, name))
      .map(([name, option]) => [name, describedFlag(name, option)])
  )

interface Script {
  readonly text: string
  readonly name: string
  readonly standIn: string
  readonly forms: Forms
  readonly bare: ReadonlySet<string>
  readonly explains: string | undefined
  readonly commands: ReadonlyArray<string>
}

/** Flags of the library that no program of the project has. */
const STRANGERS = ["--log-level", "--wizard"]
const COMMAND_STRANGERS = [...STRANGERS, "--completions", "--version"]

const without = (words: string, strangers: ReadonlyArray<string>): string =>
  words.split(" ").filter((word) => !strangers.includes(word)).join(" ")

const CHOICE = /^[\w-]+(?:\|[\w-]+)+$/

const choicesOf = (forms: Forms): ReadonlyArray<readonly [name: string, words: string]> =>
  Object.entries(forms).flatMap(([name, { placeholder }]) =>
    CHOICE.test(placeholder) ? [[name, placeholder.replaceAll("|", " ")] as const] : []
  )

const withBashChoices = (text: string, forms: Forms): string =>
  choicesOf(forms).reduce(
    (script, [name, words]) =>
      script.replace(
        new RegExp(`( --${name}\\)\\n +COMPREPLY=\\( )\\$\\(compgen -f "\\$\\{cur\\}"\\)`, "g"),
        (_, start: string) => `${start}$(compgen -W "${words}" -- "\${cur}")`
      ),
    text
  )

/** The library writes a sub-command as part of a function's name. */
const withBashCommands = ({ commands, standIn, text }: Script): string =>
  commands.reduce(
    (script, name) => script.replace(`${standIn},${name.replaceAll("-", "__")})`, `${standIn},${name})`),
    text
  )

/** The library's function knows only flags with two dashes, and takes the word at the cursor for a sub-command. */
const withOneDash = ({ standIn, text }: Pick<Script, "standIn" | "text">): string => {
  const inner = `_${standIn}_bash_completions`
  return text.replace("\"${COMP_WORDS[@]}\"", "\"${COMP_WORDS[@]:0:COMP_CWORD}\"").replace(
    new RegExp(`^complete -F ${inner} `, "m"),
    `function _${standIn}_completions() {
    local at word="\${COMP_WORDS[COMP_CWORD]}"
    for at in "\${!COMP_WORDS[@]}"; do
        if [[ at -gt 0 && \${COMP_WORDS[at]} =~ ^-([a-z_]{2,}|$) ]] || [[ at -eq COMP_CWORD && \${word} =~ ^-[a-z] ]]; then
            COMP_WORDS[at]="-\${COMP_WORDS[at]}"
        fi
    done
    ${inner} "$@"
    if [[ \${word} == - || \${word} =~ ^-[a-z] ]]; then COMPREPLY=( "\${COMPREPLY[@]/#--/-}" ); fi
}
complete -F _${standIn}_completions `
  )
}

/** For bash: names with hyphens, a word per choice, no value after a switch, and only the program's flags. */
const mendBash = (script: Script): string => {
  const { bare, commands, explains, forms, standIn } = script
  const switches = Object.entries(forms).filter(([, { toml }]) => toml === "boolean").map(([name]) => name)
  const behindSwitch = new RegExp(
    ` +--(?:${[...switches, "help", "wizard", "version"].join("|")})\\)\\n` +
      ` +COMPREPLY=\\( "\\$\\{cur\\}" \\)\\n +return 0\\n +;;\\n`,
    "g"
  )
  let block = ""
  const mended = withBashChoices(withBashCommands(script), forms)
    .replace(behindSwitch, "")
    .replace(
      /compgen -W "([\w-]+(?:,[\w-]+)+)"/g,
      (_, choices: string) => `compgen -W "${choices.replaceAll(",", " ")}"`
    )
    .split("\n")
    .map((line) => {
      block = /^ {8}([a-z_.]+)\)$/.exec(line)?.[1] ?? block
      return line.replace(/^( +opts=")(.*)"$/, (whole: string, ...[start, words]: ReadonlyArray<string>) => {
        if (start === undefined || words === undefined || words === "") return whole
        if (block === `${standIn}__${explains}`) return `${start}${commands.join(" ")}"`
        if (block === standIn) return `${start}${without(words, STRANGERS)}"`
        return bare.has(block.slice(standIn.length + 2)) ? `${start}"` : `${start}${without(words, COMMAND_STRANGERS)}"`
      })
    })
    .join("\n")
    .replace(/ -o nosort /, " ")
  return withOneDash({ text: mended, standIn })
}

const withExplained = (text: string, { commands, explains, name, standIn }: Script): string =>
  explains === undefined
    ? text
    : text
      .replace(
        new RegExp(`(^ +\\(${explains}\\)\\n[^]*?)( +)&& ret=0`, "m"),
        `$1$2":: :_${standIn}_commands" \\\n$2&& ret=0`
      )
      .replace(
        /(^complete -c [^]*$)/m,
        `$1complete -c ${name} -n "__fish_seen_subcommand_from ${explains}" -f -a "${commands.join(" ")}"\n`
      )

const mendLines = (script: Script): string =>
  withExplained(withoutStrangers(script), script)
    // fish: the library offers flags until there is a word, which may be the value of a flag where there are no
    // sub-commands.
    .replaceAll(script.commands.length === 0 ? " -n \"__fish_use_subcommand\"" : /(?!)/g, "")
    // fish: the programs accept flags with one dash, too.
    .replaceAll(/^(complete -c .*) -l ([a-z_-]{2,})(?= )/gm, "$1 -l $2 -o $2")

const withoutStrangers = ({ forms, text }: Script): string =>
  choicesOf(forms).reduce(
    (script, [name, words]) =>
      script
        .replaceAll(new RegExp(`^( *'--${name}\\[.*\\])' \\\\$`, "gm"), `$1:CHOICE:(${words})' \\`)
        .replaceAll(new RegExp(`( -l ${name} -r -f)(?= -d )`, "g"), `$1 -a "${words}"`),
    text
  )
    .split("\n")
    .filter((line) => !/^ *'--(?:log-level|wizard)\[| -l (?:log-level|wizard)(?: |$)/.test(line))
    .join("\n")

export const shellScript = <E, A>(completed: Completed<E, A>): Effect.Effect<string> => {
  const { bare = new Set<string>(), explains, name, shell } = completed
  // The library misreads hyphens in program names in parts of its scripts.
  const standIn = name.replaceAll("-", "_")
  const { descriptor } = completed.command(standIn)
  // A program without sub-commands is its own.
  const commands = [...Descriptor.getSubcommands(descriptor)].filter(([command]) => command !== standIn)
  const usages = [Descriptor.getUsage(descriptor), ...commands.map(([, command]) => Descriptor.getUsage(command))]
  const forms: Forms = Object.assign({}, ...usages.map((usage) => formsOf(usage)))
  const scriptOf = (lines: ReadonlyArray<string>): Script => ({
    text: `${lines.join("\n")}\n`.replaceAll(
      new RegExp(`(compdef |complete -c |complete .* )${standIn}\\b`, "g"),
      `$1${name}`
    ),
    name,
    standIn,
    forms,
    bare,
    explains,
    commands: commands.map(([command]) => command)
  })
  switch (shell) {
    case "zsh":
      return Effect.map(Descriptor.getZshCompletions(descriptor, standIn), (lines) => mendLines(scriptOf(lines)))
    case "fish":
      return Effect.map(Descriptor.getFishCompletions(descriptor, standIn), (lines) => mendLines(scriptOf(lines)))
    case "bash":
      return Effect.map(Descriptor.getBashCompletions(descriptor, standIn), (lines) => mendBash(scriptOf(lines)))
  }
}
