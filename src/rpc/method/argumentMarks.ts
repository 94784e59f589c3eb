import type { Contract } from "./contract.ts"
import type { ArgumentForm, Param, Params } from "./params.ts"

/**
 * The part of contracts that a command line needs, parsed on use: the parameters in order with `|` between aliases,
 * then a colon and the options that may be named. A mark after a name tells the argument's form.
 */

const MARKS: ReadonlyArray<readonly [ArgumentForm, mark: string]> = [
  ["text", ""],
  ["free text", "="],
  ["text or null", "!"],
  ["json", "*"],
  ["json or text", "?"]
]

const MARK_OF_FORM = new Map(MARKS)

export const FORM_OF_MARK = new Map(MARKS.map(([form, mark]) => [mark, form]))

const wordOf = ([name, { aliases, argument }]: readonly [string, Param<unknown>]): string =>
  [name, ...aliases].join("|") + (MARK_OF_FORM.get(argument) ?? "")

const wordsOf = (params: Params): ReadonlyArray<string> => Object.entries(params).map(wordOf)

const textOf = ({ params }: Contract): string => {
  const members = Object.values(params).flatMap((param) => param.membersByName ? wordsOf(param.members ?? {}) : [])
  return [...wordsOf(params), ...members.length === 0 ? [] : [":", ...members]].join(" ")
}

export const argumentsOf = (contracts: ReadonlyArray<Contract>): Readonly<Record<string, string>> =>
  Object.fromEntries(contracts.map((contract) => [contract.name, textOf(contract)]))
