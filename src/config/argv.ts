import { quoted } from "../base/safeText.ts"
import type { Option } from "./optionRow.ts"
import { nearest } from "./suggest.ts"

/**
 * Parses flags as Go programs do: `-flag value`, `-flag=value`, `--flag value` and `--flag=value` are the same. A value
 * may be empty. A switch takes its value only after `=`, and `-noflag` turns it off.
 */

export interface CommandLine<Name extends string> {
  readonly given: ReadonlyMap<Name, ReadonlyArray<string>>
  readonly rest: ReadonlyArray<string>
  /** One sentence each, beginning with the argument. */
  readonly problems: ReadonlyArray<string>
}

/** Other arguments than flags: an error, or the end of the flags. */
export type Positional = "refuse" | "end"

export type FlagForm = Pick<Option, "flag" | "placeholder" | "toml">

type FlagForms = Readonly<Record<string, FlagForm>>

interface Flag {
  readonly name: string
  readonly value: string | undefined
}

const splitFlag = (argument: string): Flag | undefined => {
  const parts = /^--?([^-=][^=]*)(=[^]*)?$/.exec(argument)
  return parts?.[1] === undefined ? undefined : { name: parts[1], value: parts[2]?.slice(1) }
}

/** No flag begins with a digit: a number among words is one of them. */
const NEGATIVE_NUMBER = /^-\.?\d/

/** Quotes only up to the first `=`: a password may follow, even after a mistyped flag. */
export const quotedName = (argument: string): string => quoted(argument.split("=", 1)[0] ?? "")

const isSwitch = (option: FlagForm): boolean => option.toml === "boolean"

const namesOf = <O extends FlagForms>(options: O): ReadonlyArray<keyof O & string> => Object.keys(options)

class ArgvReader<Name extends string> {
  readonly given = new Map<Name, Array<string>>()
  readonly rest: Array<string> = []
  readonly problems: Array<string> = []
  private at = 0
  private readonly argv: ReadonlyArray<string>
  private readonly options: Readonly<Record<Name, FlagForm>>
  private readonly names: ReadonlyMap<string, Name>
  private readonly positional: Positional
  private readonly meant: (flag: string) => boolean

  constructor(
    argv: ReadonlyArray<string>,
    options: Readonly<Record<Name, FlagForm>>,
    { meant, positional }: { readonly positional: Positional; readonly meant: (flag: string) => boolean }
  ) {
    this.meant = meant
    this.argv = argv
    this.options = options
    this.positional = positional
    const names = new Map<string, Name>(
      namesOf(options).filter((name) => options[name].flag).map((name) => [name, name])
    )
    const help = names.get("help")
    if (help !== undefined) names.set("h", help)
    this.names = names
  }

  read(): CommandLine<Name> {
    for (let argument = this.argv[this.at]; argument !== undefined; argument = this.argv[this.at]) {
      this.at += 1
      const flag = splitFlag(argument)
      const isWord = this.positional === "end" && NEGATIVE_NUMBER.test(argument)
      if (flag !== undefined && !isWord) this.readFlag(argument, flag)
      else if (this.positional === "end") {
        this.rest.push(...this.argv.slice(argument === "--" ? this.at : this.at - 1))
        break
      } else this.refuse(argument)
    }
    return this
  }

  private readFlag(argument: string, { name: word, value }: Flag): void {
    const name = this.names.get(word)
    if (name !== undefined) return this.readValue(name, value)
    const switchedOff = word.startsWith("no") ? this.names.get(word.slice(2)) : undefined
    if (switchedOff !== undefined && isSwitch(this.options[switchedOff])) {
      if (value === undefined) this.add(switchedOff, "0")
      else this.problems.push(`-${word}: takes no value; write -${switchedOff}=0 or -${switchedOff}=1`)
      return
    }
    const meant = nearest(word, [...this.names.keys()].filter(this.meant))
    const shown = quotedName(argument).slice(1, -1)
    this.problems.push(`${shown}: unknown flag${meant === undefined ? "" : `; did you mean -${meant}?`}`)
    if (value === undefined) this.skipValue()
  }

  /** Skips the probable value of an unknown flag: an error about it would not help, and could show a password. */
  private skipValue(): void {
    if (this.argv[this.at]?.startsWith("-") === false) this.at += 1
  }

  private readValue(name: Name, value: string | undefined): void {
    if (value !== undefined) return this.add(name, value)
    if (isSwitch(this.options[name])) return this.add(name, "1")
    const next = this.argv[this.at]
    if (next === undefined) {
      this.problems.push(`-${name}: needs a value (${this.options[name].placeholder})`)
    } else if (this.isKnownFlag(next)) {
      // The value may look like a flag, but more likely it is missing.
      this.problems.push(
        `-${name}: needs a value, and ${quotedName(next)} is a flag; if you mean it, write -${name}=VALUE`
      )
    } else {
      this.at += 1
      this.add(name, next)
    }
  }

  private isKnownFlag(argument: string): boolean {
    const flag = splitFlag(argument)
    return flag !== undefined && this.names.has(flag.name)
  }

  private add(name: Name, text: string): void {
    const texts = this.given.get(name) ?? []
    texts.push(text)
    this.given.set(name, texts)
  }

  private refuse(argument: string): void {
    const before = splitFlag(this.argv[this.at - 2] ?? "")
    const name = before?.value === undefined ? this.names.get(before?.name ?? "") : undefined
    const hint = name !== undefined && isSwitch(this.options[name])
      ? `; give the value of a switch after =, as in -${name}=0`
      : ""
    this.problems.push(`${quotedName(argument)}: is not a flag${hint}`)
    if (argument.startsWith("-") && !argument.includes("=")) this.skipValue()
  }
}

interface ArgvReading {
  readonly positional?: Positional
  /** Whether an error may propose a flag; every flag by default. */
  readonly meant?: (flag: string) => boolean
}

/** `argv` is without the arguments of Node itself. */
export const readArgv = <O extends FlagForms>(
  argv: ReadonlyArray<string>,
  options: O,
  { meant = () => true, positional = "refuse" }: ArgvReading = {}
): CommandLine<keyof O & string> => new ArgvReader<keyof O & string>(argv, options, { positional, meant }).read()

export interface Words<Name extends string> {
  readonly given: ReadonlyMap<Name, ReadonlyArray<string>>
  readonly words: ReadonlyArray<string>
  readonly problems: ReadonlyArray<string>
}

/** For programs with sub-commands: flags may be before, between and after the words. */
export const readWords = <O extends FlagForms>(argv: ReadonlyArray<string>, options: O): Words<keyof O & string> => {
  const given = new Map<keyof O & string, ReadonlyArray<string>>()
  const words: Array<string> = []
  const problems: Array<string> = []
  for (let rest = argv;;) {
    const part = readArgv(rest, options, { positional: "end" })
    for (const [name, texts] of part.given) given.set(name, [...given.get(name) ?? [], ...texts])
    problems.push(...part.problems)
    const [word, ...more] = part.rest
    if (word === undefined) return { given, words, problems }
    words.push(word)
    rest = more
  }
}
