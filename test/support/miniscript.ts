import { assert } from "@effect/vitest"
import { toHex } from "../../src/protocol/bytes.ts"
import { pushData } from "../../src/protocol/script.ts"
import { hex } from "./bytes.ts"

/**
 * Compiles miniscript text to script by the specification's table of fragments: the inverse of the decoder. It checks
 * no types: invalid text compiles too.
 */

/** Instructions in hex, one an item. */
type Code = ReadonlyArray<string>

const VERIFY_FORMS: Readonly<Record<string, string>> = { "87": "88", ac: "ad", ae: "af" }

const number = (value: number): string => {
  if (value <= 16) return value === 0 ? "00" : (0x50 + value).toString(16)
  const bytes: Array<number> = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256)
  if ((bytes.at(-1) ?? 0) >= 0x80) bytes.push(0)
  return toHex(pushData(Uint8Array.from(bytes)))
}

const push = (text: string): string => toHex(pushData(hex(text)))

const preimage = (opcode: string, digest: string): Code => ["82", number(32), "88", opcode, push(digest), "87"]

const verify = (code: Code): Code => {
  const form = VERIFY_FORMS[code.at(-1) ?? ""]
  return form === undefined ? [...code, "69"] : [...code.slice(0, -1), form]
}

const wrappers: Readonly<Record<string, (code: Code) => Code>> = {
  a: (code) => ["6b", ...code, "6c"],
  s: (code) => ["7c", ...code],
  c: (code) => [...code, "ac"],
  d: (code) => ["76", "63", ...code, "68"],
  v: verify,
  j: (code) => ["82", "92", "63", ...code, "68"],
  n: (code) => [...code, "92"],
  t: (code) => [...code, "51"],
  l: (code) => ["63", "00", "67", ...code, "68"],
  u: (code) => ["63", ...code, "67", "00", "68"]
}

const terms: Readonly<Record<string, (...args: ReadonlyArray<string>) => Code>> = {
  pk_k: (key = "") => [push(key)],
  pk: (key = "") => [push(key), "ac"],
  pkh: (hash = "") => ["76", "a9", push(hash), "88", "ac"],
  older: (lock) => [number(Number(lock)), "b2"],
  after: (lock) => [number(Number(lock)), "b1"],
  sha256: (digest = "") => preimage("a8", digest),
  hash256: (digest = "") => preimage("aa", digest),
  ripemd160: (digest = "") => preimage("a6", digest),
  hash160: (digest = "") => preimage("a9", digest),
  multi: (required, ...keys) => [number(Number(required)), ...keys.map(push), number(keys.length), "ae"]
}

const combinations: Readonly<Record<string, (...parts: ReadonlyArray<Code>) => Code>> = {
  and_v: (x = [], y = []) => [...x, ...y],
  and_b: (x = [], y = []) => [...x, ...y, "9a"],
  and_n: (x = [], y = []) => [...x, "64", "00", "67", ...y, "68"],
  or_b: (x = [], y = []) => [...x, ...y, "9b"],
  or_c: (x = [], y = []) => [...x, "64", ...y, "68"],
  or_d: (x = [], y = []) => [...x, "73", "64", ...y, "68"],
  or_i: (x = [], y = []) => ["63", ...x, "67", ...y, "68"],
  andor: (x = [], y = [], z = []) => [...x, "64", ...z, "67", ...y, "68"]
}

/** The arguments between the outer parentheses. */
const split = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let from = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++
    else if (text[i] === ")") depth--
    else if (text[i] === "," && depth === 0) {
      parts.push(text.slice(from, i))
      from = i + 1
    }
  }
  return [...parts, text.slice(from)]
}

const compiled = (text: string): Code => {
  const colon = /^([asctdvjnlu]+):/.exec(text)
  if (colon !== null) {
    const [head, letters = ""] = colon
    return [...letters].reduceRight(
      (code, letter) => wrappers[letter]?.(code) ?? code,
      compiled(text.slice(head.length))
    )
  }
  if (text === "0" || text === "1") return [number(Number(text))]
  const [, name = "", inner = ""] = /^([a-z0-9_]+)\((.*)\)$/.exec(text) ?? assert.fail(`no miniscript: ${text}`)
  const args = split(inner)
  const term = terms[name]
  if (term !== undefined) return term(...args)
  if (name === "thresh") {
    const [count, first = "", ...rest] = args
    return [...compiled(first), ...rest.flatMap((part) => [...compiled(part), "93"]), number(Number(count)), "87"]
  }
  return combinations[name]?.(...args.map(compiled)) ?? assert.fail(`unknown fragment: ${name}`)
}

export const compileMiniscript = (text: string): Uint8Array => hex(compiled(text).join(""))
