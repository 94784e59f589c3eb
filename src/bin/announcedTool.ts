import { version } from "../version.ts"

/** A program whose name and sub-commands are settled, and whose work comes with a later version. */
export interface AnnouncedTool {
  readonly name: string
  /** What the program is for: one sentence. */
  readonly purpose: string
  /** Each with what it will do. */
  readonly subCommands: Readonly<Record<string, string>>
}

/** What a program answers with, as whole lines. */
export interface Answer {
  readonly exitCode: 0 | 2
  readonly stdout: string
  readonly stderr: string
}

const help = ({ name, purpose, subCommands }: AnnouncedTool): string => {
  const names = Object.keys(subCommands)
  const width = Math.max(...names.map((word) => word.length))
  return [
    `Usage: ${name} --help | --version`,
    "",
    purpose,
    "",
    `Sub-commands, none of which is in this version (${version}); they come with a later one:`,
    ...names.map((word) => `  ${word.padEnd(width)}  ${subCommands[word]}`),
    "",
    "Options:",
    "  --help     print this text and exit",
    "  --version  print the version and exit",
    ""
  ].join("\n")
}

/**
 * Returns what such a program answers to its arguments. A refusal repeats none of them but the name of a
 * sub-command: a mnemonic or a key may be among them.
 */
export const answer = (tool: AnnouncedTool, argv: ReadonlyArray<string>): Answer => {
  const asks = (option: string): boolean => argv.includes(`-${option}`) || argv.includes(`--${option}`)
  if (asks("help")) return { exitCode: 0, stdout: help(tool), stderr: "" }
  if (asks("version")) return { exitCode: 0, stdout: `${tool.name} ${version}\n`, stderr: "" }
  const asked = argv.find((word) => Object.hasOwn(tool.subCommands, word))
  const what = asked === undefined ? "no sub-command is" : `the sub-command ${asked} is not`
  return {
    exitCode: 2,
    stdout: "",
    stderr: `${tool.name}: ${what} in this version (${version}); see ${tool.name} --help\n`
  }
}

/** Answers to the arguments of this process. */
export const run = (tool: AnnouncedTool): void => {
  const { exitCode, stderr, stdout } = answer(tool, process.argv.slice(2))
  process.stdout.write(stdout)
  process.stderr.write(stderr)
  process.exitCode = exitCode
}
