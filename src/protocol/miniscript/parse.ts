import { fromHex } from "../bytes.ts"
import type { MiniscriptContext } from "./expressions.ts"

/** Parses miniscript expressions into trees. Source of the grammar: upstream `script/miniscript.h`, `Parse`. */

/** A fragment with its arguments, or one of the wrappers `a s c d v j n` with one expression. */
export interface MiniscriptNode {
  readonly name: string
  /** Numbers, keys and hashes, as in the text. */
  readonly values: ReadonlyArray<string>
  readonly of: ReadonlyArray<MiniscriptNode>
}

export interface MiniscriptParser {
  readonly context: MiniscriptContext
  /** Returns what takes the place of a key in the tree. May throw. */
  readonly key: (text: string) => string
}

class NotMiniscript extends Error {}

/** Deeper expressions are refused, so that no walk over a tree overflows the stack. */
const MAX_DEPTH = 1000

const MAX_MULTI_KEYS: Readonly<Record<MiniscriptContext, number>> = { P2WSH: 20, tapscript: 999 }

const leaf = (name: string, ...values: ReadonlyArray<string>): MiniscriptNode => ({ name, values, of: [] })

const node = (name: string, ...of: ReadonlyArray<MiniscriptNode>): MiniscriptNode => ({ name, values: [], of })

const ZERO = leaf("0")
const ONE = leaf("1")

const COMBINATIONS: ReadonlyMap<string, number> = new Map([
  ["andor", 3],
  ["and_n", 2],
  ["and_b", 2],
  ["and_v", 2],
  ["or_b", 2],
  ["or_c", 2],
  ["or_d", 2],
  ["or_i", 2]
])

const HASH_BYTES: ReadonlyMap<string, number> = new Map([
  ["sha256", 32],
  ["hash256", 32],
  ["ripemd160", 20],
  ["hash160", 20]
])

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

const numberIn = (text: string, limit: number): string => {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > limit) throw new NotMiniscript()
  return String(value)
}

class TreeParser {
  private readonly text: string
  private readonly parser: MiniscriptParser
  private at = 0
  private depth = 0

  constructor(text: string, parser: MiniscriptParser) {
    this.text = text
    this.parser = parser
  }

  whole(): MiniscriptNode {
    const tree = this.expression()
    if (this.at < this.text.length) throw new NotMiniscript()
    return tree
  }

  private expect(character: string): void {
    if (this.text[this.at] !== character) throw new NotMiniscript()
    this.at++
  }

  /** The text up to one of these characters, which stays unread. */
  private upTo(ends: RegExp): string {
    const length = this.text.slice(this.at).search(ends)
    if (length < 1) throw new NotMiniscript()
    this.at += length
    return this.text.slice(this.at - length, this.at)
  }

  /** The argument of a fragment with one argument. Consumes the closing parenthesis. */
  private argument(): string {
    const start = this.at
    for (let open = 1; open > 0; this.at++) {
      const character = this.text[this.at]
      if (character === undefined || (open === 1 && character === ",")) throw new NotMiniscript()
      if (character === "(" || character === "{") open++
      else if (character === ")" || character === "}") open--
    }
    return this.text.slice(start, this.at - 1)
  }

  private expression(): MiniscriptNode {
    const [wrappers = ""] = /^[a-z]*(?=:)/.exec(this.text.slice(this.at, this.at + MAX_DEPTH)) ?? []
    if (wrappers.includes("vv") || !/^[asctdvjnlu]*$/.test(wrappers)) throw new NotMiniscript()
    this.depth += wrappers.length + 1
    if (this.depth > MAX_DEPTH) throw new NotMiniscript()
    if (wrappers !== "") this.at += wrappers.length + 1
    const inner = this.fragment()
    this.depth -= wrappers.length + 1
    return [...wrappers].reduceRight((of, letter) => wrapped(letter, of), inner)
  }

  private fragment(): MiniscriptNode {
    const digit = this.text[this.at]
    if (digit === "0" || digit === "1") {
      this.at++
      return digit === "0" ? ZERO : ONE
    }
    const [, name = ""] = /^([a-z0-9_]{2,9})\(/.exec(this.text.slice(this.at, this.at + 10)) ?? []
    if (name === "") throw new NotMiniscript()
    this.at += name.length + 1
    const parts = COMBINATIONS.get(name)
    if (parts !== undefined) return this.combination(name, parts)
    const bytes = HASH_BYTES.get(name)
    if (bytes !== undefined) return leaf(name, this.hash(bytes))
    switch (name) {
      case "pk":
        return node("c", leaf("pk_k", this.parser.key(this.argument())))
      case "pkh":
        return node("c", leaf("pk_h", this.parser.key(this.argument())))
      case "pk_k":
      case "pk_h":
        return leaf(name, this.parser.key(this.argument()))
      case "after":
      case "older":
        return leaf(name, numberIn(this.argument(), 0x7fffffff))
      case "multi":
      case "multi_a":
        return this.multi(name)
      case "thresh":
        return this.thresh()
      default:
        throw new NotMiniscript()
    }
  }

  private hash(bytes: number): string {
    const text = this.argument()
    if (fromHex(text)?.length !== bytes) throw new NotMiniscript()
    return text.toLowerCase()
  }

  private combination(name: string, parts: number): MiniscriptNode {
    const of: Array<MiniscriptNode> = []
    for (let part = 0; part < parts; part++) {
      if (part > 0) this.expect(",")
      of.push(this.expression())
    }
    this.expect(")")
    return name === "and_n" ? node("andor", ...of, ZERO) : node(name, ...of)
  }

  private multi(name: "multi" | "multi_a"): MiniscriptNode {
    const { context, key } = this.parser
    if ((name === "multi_a") !== (context === "tapscript")) throw new NotMiniscript()
    const required = this.upTo(/[,)]/)
    const keys: Array<string> = []
    while (this.text[this.at] === ",") {
      this.at++
      keys.push(key(this.upTo(/[,)]/)))
    }
    this.expect(")")
    if (keys.length < 1 || keys.length > MAX_MULTI_KEYS[context]) throw new NotMiniscript()
    return leaf(name, numberIn(required, keys.length), ...keys)
  }

  private thresh(): MiniscriptNode {
    const required = this.upTo(/[,)]/)
    const of: Array<MiniscriptNode> = []
    while (this.text[this.at] === ",") {
      this.at++
      of.push(this.expression())
    }
    this.expect(")")
    return { name: "thresh", values: [numberIn(required, of.length)], of }
  }
}

/** Does not check types. */
export const parseMiniscript = (text: string, parser: MiniscriptParser): MiniscriptNode | undefined => {
  try {
    return new TreeParser(text, parser).whole()
  } catch (cause) {
    if (cause instanceof NotMiniscript) return undefined
    throw cause
  }
}
