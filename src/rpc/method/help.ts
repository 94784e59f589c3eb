import { encodeJson, type JsonValue } from "../json/encodeJson.ts"
import { type Contract, isShown } from "./contract.ts"
import type { Param, Params } from "./params.ts"
import { describe, type Row } from "./results.ts"

/** The help in the reference node's format, which tools parse (reference/rpc.md 3.1). */

/** Parameters before the first hidden one. */
const shown = (params: Params): ReadonlyArray<readonly [name: string, param: Param<unknown>]> => {
  const all = Object.entries(params)
  const end = all.findIndex(([, param]) => param.hidden)
  return end < 0 ? all : all.slice(0, end)
}

/** One line, with strings in quotes. */
const inline = (name: string, param: Param<unknown>): string => {
  if (param.synopsis !== undefined) return param.synopsis
  if (param.kind === "string" || param.kind === "hex") return JSON.stringify(name)
  if (param.kind === "array") return `[${param.item === undefined ? "" : inlineItem(param.item)},...]`
  if (param.kind === "object" && param.members !== undefined) {
    return `{${Object.entries(param.members).map(([key, member]) => `"${key}":${inlineItem(member)}`).join(",")}}`
  }
  return name
}

const inlineItem = (param: Param<unknown>): string => {
  switch (param.kind) {
    case "string":
      return "\"str\""
    case "hex":
      return "\"hex\""
    case "integer":
    case "number":
      return "n"
    case "amount":
      return "amount"
    case "boolean":
      return "bool"
    default:
      return param.members === undefined && param.item === undefined ? "..." : inline("", param)
  }
}

/** The call in one line, with optional parameters in parentheses. */
export const synopsis = (method: Contract): string => {
  let text = method.name
  let within = false
  for (const [name, param] of shown(method.params)) {
    const isOptional = param.fallback !== undefined
    if (isOptional !== within) text += isOptional ? " (" : " )"
    within = isOptional
    text += ` ${inline(name, param)}`
  }
  return within ? `${text} )` : text
}

const explanation = (param: Param<unknown>): string => {
  const presence = param.fallback === undefined
    ? "required"
    : param.fallback.text === ""
    ? "optional"
    : `optional, default=${param.fallback.text}`
  const aliases = param.aliases.length === 0 ? "" : ` Also called ${param.aliases.join(", ")}.`
  const byName = param.membersByName ? " Its members may also be given by name." : ""
  const needs = param.needs === undefined ? "" : `, right ${param.needs}`
  return `(${param.words}, ${presence}${needs}) ${param.description}${aliases}${byName}`.trimEnd()
}

/** One row per member of an object, or of the objects in an array. */
const memberRows = (param: Param<unknown>, indent: string): ReadonlyArray<Row> =>
  Object.entries(param.members ?? param.item?.members ?? {}).flatMap(([name, member]) => [
    [`${indent}"${name}"`, explanation(member)] as const,
    ...memberRows(member, `${indent}  `)
  ])

/** Aligns the right column, including continuation lines. */
const columns = (rows: ReadonlyArray<Row>): string => {
  const width = Math.max(...rows.map(([left]) => left.length)) + 4
  return rows.map(([left, right]) =>
    right === "" ? `${left}\n` : `${left.padEnd(width)}${right.replaceAll("\n", `\n${" ".repeat(width)}`)}\n`
  ).join("")
}

const argumentsText = (method: Contract): string => {
  const params = shown(method.params)
  if (params.length === 0) return ""
  const rows = params.flatMap(([name, param], at) => [
    [`${at + 1}. ${name}`, explanation(param)] as const,
    ...memberRows(param, "     ")
  ])
  return `\nArguments:\n${columns(rows)}`
}

const resultsText = (method: Contract): string =>
  method.results.map(({ schema, when }) =>
    `\nResult${when === undefined ? "" : ` (${when})`}:\n${columns(describe(schema))}`
  ).join("")

const shellWord = (value: JsonValue): string => {
  const text = typeof value === "string" ? value : encodeJson(value)
  if (/^[\w./:@%+=-]+$/.test(text)) return text
  return `'${text.replaceAll("'", "'\\''")}'`
}

const exampleText = (method: Contract, params: ReadonlyArray<JsonValue>): string => {
  const body = encodeJson({ jsonrpc: "2.0", id: 1, method: method.name, params })
  const data = shellWord(body)
  return `> ${["svcd-cli", method.name, ...params.map(shellWord)].join(" ")}\n` +
    `> curl --user <user> -H 'Content-Type: application/json' --data-binary ${data} http://127.0.0.1:8336/\n`
}

/** The first line is the synopsis. */
export const methodHelp = (method: Contract): string => {
  const errors = method.errors.length === 0 ? "" : `\nErrors:\n${method.errors.map((error) => `${error}\n`).join("")}`
  const examples = method.examples.map((params) => exampleText(method, params)).join("")
  return `${synopsis(method)}\n\n${method.summary}\n${argumentsText(method)}${resultsText(method)}${errors}` +
    (examples === "" ? "" : `\nExamples:\n${examples}`)
}

/** By group, then by name. */
const sorted = (methods: ReadonlyMap<string, Contract>): ReadonlyArray<Contract> =>
  [...methods.values()].sort((a, b) => compareText(a.group, b.group) || compareText(a.name, b.name))

const compareText = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

/** Synopses under their headings, without hidden methods. */
export const helpIndex = (methods: ReadonlyMap<string, Contract>): string => {
  let text = ""
  let group: string | undefined
  for (const method of sorted(methods)) {
    if (!isShown(method)) continue
    if (method.group !== group) text += `${text === "" ? "" : "\n"}== ${method.group} ==\n`
    group = method.group
    text += `${synopsis(method)}\n`
  }
  return text.trimEnd()
}

/**
 * Position and name of each parameter, and whether a command line passes text (`help dump_all_command_conversions`).
 * The reference client's tests compare this with the client's own table.
 */
export const conversions = (
  methods: ReadonlyMap<string, Contract>
): ReadonlyArray<readonly [string, number, string, boolean]> =>
  sorted(methods).flatMap((method) =>
    Object.entries(method.params).flatMap(([name, param], at) =>
      [
        ...Object.entries(param.membersByName ? param.members ?? {} : {}),
        ...[name, ...param.aliases].map((each) => [each, param] as const)
      ].map(([each, { kind }]) => [method.name, at, each, kind === "string" || kind === "hex"] as const)
    )
  )
