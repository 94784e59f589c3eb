/** Parses miniscript expressions into trees, from the text that `protocol/miniscript` writes. */

/** `name` is a fragment with its arguments, or one of the wrappers `a s c d v j n` with one expression. */
export interface MiniscriptNode {
  readonly name: string
  /** Numbers, keys and hashes, as in the text. */
  readonly values: ReadonlyArray<string>
  readonly of: ReadonlyArray<MiniscriptNode>
}

const leaf = (name: string, ...values: ReadonlyArray<string>): MiniscriptNode => ({ name, values, of: [] })

const node = (name: string, ...of: ReadonlyArray<MiniscriptNode>): MiniscriptNode => ({ name, values: [], of })

const ZERO = leaf("0")
const ONE = leaf("1")

/** The arguments of a fragment, split at the commas outside all parentheses. */
const splitArguments = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === "(") depth++
    else if (character === ")") depth--
    else if (character === "," && depth === 0) {
      found.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...found, text.slice(start)]
}

/** A wrapper around an expression; three of them are abbreviations. */
const wrapped = (letter: string, inner: MiniscriptNode): MiniscriptNode => {
  switch (letter) {
    case "t":
      return node("and_v", inner, ONE)
    case "l":
      return node("or_i", ZERO, inner)
    case "u":
      return node("or_i", inner, ZERO)
    default:
      return node(letter, inner)
  }
}

const fragment = ({ inner, name }: { readonly name: string; readonly inner: string }): MiniscriptNode => {
  const given = splitArguments(inner)
  const [first = "", ...others] = given
  switch (name) {
    case "pk":
      return node("c", leaf("pk_k", first))
    case "and_n":
      return node("andor", ...given.map(miniscriptTree), ZERO)
    case "thresh":
      return { name, values: [first], of: others.map(miniscriptTree) }
    case "andor":
    case "and_v":
    case "and_b":
    case "or_b":
    case "or_c":
    case "or_d":
    case "or_i":
      return node(name, ...given.map(miniscriptTree))
    default:
      return leaf(name, ...given)
  }
}

/** Returns the tree of an expression. The caller guarantees that the text is valid. */
export const miniscriptTree = (text: string): MiniscriptNode => {
  const [, letters, behind] = /^([a-z]+):(.*)$/s.exec(text) ?? []
  if (letters !== undefined && behind !== undefined) {
    return [...letters].reduceRight((inner, letter) => wrapped(letter, inner), miniscriptTree(behind))
  }
  const [, name, inner] = /^([a-z0-9_]+)\((.*)\)$/s.exec(text) ?? []
  return name === undefined || inner === undefined ? leaf(text) : fragment({ name, inner })
}
