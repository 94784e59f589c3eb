import { escapeUnsafe } from "../base/safeText.ts"

/**
 * JSON with the place of each part and repeated members, to be corrected by its owner. `rpc/json` reports no places.
 */

interface Part {
  /** Offset in the text, in UTF-16 units. */
  readonly at: number
  /** The offset after the end. */
  readonly end: number
  /** From the top: `map.www.ip[1]`; empty for the whole. */
  readonly path: string
}

type Place = Omit<Part, "end">

export interface LocatedMember {
  readonly key: string
  readonly at: number
  readonly value: Located
}

export interface LocatedObject extends Part {
  readonly kind: "object"
  readonly members: ReadonlyArray<LocatedMember>
}

export interface LocatedArray extends Part {
  readonly kind: "array"
  readonly items: ReadonlyArray<Located>
}

export interface LocatedText extends Part {
  readonly kind: "text"
  readonly text: string
}

export interface LocatedNumber extends Part {
  readonly kind: "number"
  readonly value: number
}

export type Located =
  | LocatedObject
  | LocatedArray
  | LocatedText
  | LocatedNumber
  | Part & { readonly kind: "boolean"; readonly value: boolean }
  | Part & { readonly kind: "null" }

export interface JsonFault {
  readonly at: number
  readonly message: string
}

/** Deepest nesting: a value on the chain has room for little more, and each level is a call. */
const DEEPEST = 200

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const QUOTE = 0x22
const BACKSLASH = 0x5c
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y
const PLAIN_KEY = /^[A-Za-z0-9_*-]+$/

class Fault extends Error {
  readonly at: number

  constructor({ at, message }: JsonFault) {
    super(message)
    this.at = at
  }
}

const memberPath = ({ within, key }: { readonly within: string; readonly key: string }): string => {
  if (!PLAIN_KEY.test(key)) return `${within}[${escapeUnsafe(JSON.stringify(key))}]`
  return within === "" ? key : `${within}.${key}`
}

class LocatingReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): Located {
    const value = this.#value("", 0)
    this.#space()
    if (this.#at < this.#text.length) return this.#fault("there is more text after the end of the value")
    return value
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #space(): string {
    let code = this.#text.charCodeAt(this.#at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.#text.charCodeAt(++this.#at)
    return this.#text.charAt(this.#at)
  }

  /** A text without escapes, as nearly all are, several times faster than with a pattern. */
  #plainString(): string | undefined {
    const from = this.#at + 1
    let end = from
    let code = this.#text.charCodeAt(end)
    while (code >= 0x20 && code !== QUOTE && code !== BACKSLASH) code = this.#text.charCodeAt(++end)
    if (code !== QUOTE) return undefined
    this.#at = end + 1
    return this.#text.slice(from, end)
  }

  #fault(message: string): never {
    throw new Fault({ at: this.#at, message })
  }

  #unexpected(wanted: string): never {
    const found = this.#text.charAt(this.#at)
    if (found === "") return this.#fault(`the text ends where ${wanted} should be`)
    if (found === "'") return this.#fault("use double quotes for strings, not single quotes")
    if (found === "\u201c" || found === "\u201d") return this.#fault("use straight double quotes for strings")
    if (this.#text.startsWith("//", this.#at) || this.#text.startsWith("/*", this.#at)) {
      return this.#fault("JSON has no comments")
    }
    const shown = escapeUnsafe(JSON.stringify(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)))
    return this.#fault(`${shown} stands where ${wanted} should be`)
  }

  #string(wanted: string): string {
    if (this.#text.charAt(this.#at) !== "\"") return this.#unexpected(wanted)
    const plain = this.#plainString()
    if (plain !== undefined) return plain
    const found = this.#take(STRING)
    if (found === undefined) {
      return this.#fault("the text that begins here does not end, or has a line break or an unknown escape")
    }
    return String(JSON.parse(found))
  }

  #value(path: string, depth: number): Located {
    if (depth > DEEPEST) return this.#fault(`there are more than ${DEEPEST} levels`)
    const first = this.#space()
    const at = this.#at
    if (first === "{") return this.#object({ at, path }, depth)
    if (first === "[") return this.#array({ at, path }, depth)
    if (first === "\"") {
      const text = this.#string("a text")
      return { kind: "text", at, end: this.#at, path, text }
    }
    const number = this.#take(NUMBER)
    if (number !== undefined) return { kind: "number", at, end: this.#at, path, value: Number(number) }
    const word = this.#take(WORD)
    if (word === "true" || word === "false") {
      return { kind: "boolean", at, end: this.#at, path, value: word === "true" }
    }
    if (word === "null") return { kind: "null", at, end: this.#at, path }
    this.#at = at
    return word === undefined
      ? this.#unexpected("a value")
      : this.#fault(`${word} is not a JSON value: put a string in double quotes`)
  }

  #object(part: Place, depth: number): Located {
    const members: Array<LocatedMember> = []
    this.#at++
    if (this.#space() === "}") this.#at++
    else {
      for (;;) {
        this.#space()
        const at = this.#at
        const key = this.#string("a key in double quotes")
        if (this.#space() !== ":") return this.#unexpected("a colon after the key")
        this.#at++
        members.push({ key, at, value: this.#value(memberPath({ within: part.path, key }), depth + 1) })
        if (!this.#another("}")) break
      }
    }
    return { kind: "object", ...part, end: this.#at, members }
  }

  #array(part: Place, depth: number): Located {
    const items: Array<Located> = []
    this.#at++
    if (this.#space() === "]") this.#at++
    else {
      for (;;) {
        items.push(this.#value(`${part.path}[${items.length}]`, depth + 1))
        if (!this.#another("]")) break
      }
    }
    return { kind: "array", ...part, end: this.#at, items }
  }

  /** Consumes the comma, or the closing bracket. */
  #another(close: string): boolean {
    const next = this.#space()
    if (next !== "," && next !== close) return this.#unexpected(`a comma or ${close}`)
    this.#at++
    if (next === close) return false
    const comma = this.#at - 1
    if (this.#space() === close) {
      this.#at = comma
      return this.#fault(`there is a comma before ${close}`)
    }
    return true
  }
}

export const readLocatedJson = (text: string): Located | JsonFault => {
  try {
    return new LocatingReader(text).whole()
  } catch (cause) {
    if (cause instanceof Fault) return { at: cause.at, message: cause.message }
    throw cause
  }
}

export const isFault = (read: Located | JsonFault): read is JsonFault => "message" in read

/** The last member of a key counts, as in most JSON readers. `null` counts as missing. */
export const memberOf = (object: LocatedObject, key: string): Located | undefined => {
  const value = object.members.findLast((member) => member.key === key)?.value
  return value?.kind === "null" ? undefined : value
}
