import { ARGUMENTS } from "../contract/arguments.ts"
import { type Json, JsonObject } from "../json/json.ts"
import { parseJson } from "../json/readJson.ts"
import { FORM_OF_MARK } from "./argumentMarks.ts"
import type { ArgumentForm } from "./params.ts"

/** Command-line arguments as parameters (reference/rpc.md 8), without a node's method table. */

interface Parameter {
  readonly names: ReadonlyArray<string>
  readonly format: ArgumentForm
}

interface Parameters {
  readonly byPosition: ReadonlyArray<Parameter>
  /** Members of an options object that may be named. */
  readonly byName: ReadonlyArray<Parameter>
}

/** Passphrases, private keys, recovery words, and descriptors, which may have private keys. */
const SECRET_PARAMETER =
  /passphrase|privkey|hdkey|secret|solving_data|descriptor|scanobjects|\brequests\b|\bwords\b|\boutput\b/

/** Errors of these methods repeat no argument, as a secret may be in the wrong place. */
export const takesSecrets = (method: string): boolean =>
  Object.hasOwn(ARGUMENTS, method) && SECRET_PARAMETER.test(ARGUMENTS[method] ?? "")

const parameter = (word: string): Parameter => {
  const format = FORM_OF_MARK.get(word.at(-1) ?? "") ?? "text"
  return { names: (format === "text" ? word : word.slice(0, -1)).split("|"), format }
}

const wordsOf = (text: string): ReadonlyArray<string> => text.split(" ").filter((word) => word !== "")

/** `undefined` for an unknown method. */
const parametersOf = (method: string): Parameters | undefined => {
  if (!Object.hasOwn(ARGUMENTS, method)) return undefined
  const [positions = "", members = ""] = (ARGUMENTS[method] ?? "").split(":")
  return { byPosition: wordsOf(positions).map(parameter), byName: wordsOf(members).map(parameter) }
}

export interface BadArgument {
  readonly _tag: "BadArgument"
  readonly argument: string
  /** Position of the argument, from 0. */
  readonly place: number
}

const read = (format: ArgumentForm, argument: string, place: number): Json | BadArgument => {
  if (format === "text" || format === "free text") return argument
  if (format === "text or null") return argument === "null" ? null : argument
  const value = parseJson(argument)
  if (value !== undefined) return value
  return format === "json" ? { _tag: "BadArgument", argument, place } : argument
}

const isBad = (value: Json | BadArgument): value is BadArgument =>
  typeof value === "object" && value !== null && "_tag" in value

/** For an unknown method or position, the text decides. */
const formatAt = (parameters: Parameters | undefined, position: number): ArgumentForm =>
  parameters?.byPosition[position]?.format ?? "json or text"

/** Returns the parameters, or the first argument that should be JSON and is not. */
export const byPosition = (method: string, args: ReadonlyArray<string>): ReadonlyArray<Json> | BadArgument => {
  const parameters = parametersOf(method)
  const values: Array<Json> = []
  for (const [position, argument] of args.entries()) {
    const value = read(formatAt(parameters, position), argument, position)
    if (isBad(value)) return value
    values.push(value)
  }
  return values
}

/**
 * Arguments of the form `name=value`. One without an equals sign is positional. So is one with an unknown name that the
 * next position accepts as a whole: a label such as `my=wallet`, or JSON. The daemon refuses other unknown names.
 */
export const byName = (method: string, args: ReadonlyArray<string>): JsonObject | BadArgument => {
  const parameters = parametersOf(method)
  const named = new JsonObject()
  const positional: Array<Json> = []
  for (const [place, argument] of args.entries()) {
    const split = readNamed(parameters, argument, positional.length)
    const value = read(split.format, split.text, place)
    if (isBad(value)) return value
    if (split.name === undefined) positional.push(value)
    else {
      named.keys.push(split.name)
      named.values.push(value)
    }
  }
  if (positional.length > 0) {
    named.keys.push("args")
    named.values.push(positional)
  }
  return named
}

interface NamedArgument {
  /** `undefined` for a positional argument. */
  readonly name: string | undefined
  readonly text: string
  readonly format: ArgumentForm
}

const readNamed = (parameters: Parameters | undefined, argument: string, position: number): NamedArgument => {
  const sign = argument.indexOf("=")
  const whole: NamedArgument = { name: undefined, text: argument, format: formatAt(parameters, position) }
  if (sign < 0) return whole
  const name = argument.slice(0, sign)
  const known = [...parameters?.byPosition ?? [], ...parameters?.byName ?? []].find(({ names }) => names.includes(name))
  if (known !== undefined) return { name, text: argument.slice(sign + 1), format: known.format }
  const next = parameters?.byPosition[position]
  if (next?.format === "free text") return whole
  if (next?.format.startsWith("json") === true && parseJson(argument) !== undefined) return whole
  return { name, text: argument.slice(sign + 1), format: "json or text" }
}
