import type * as Either from "effect/Either"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { descriptorChecksum } from "../../protocol/descriptor/descriptor.ts"
import { analyzeMiniscript, unsafeLocks } from "../../protocol/miniscript/analyze.ts"
import { parseMiniscript } from "../../protocol/miniscript/parse.ts"
import type { Network } from "../../protocol/networks.ts"
import { MAX_SCRIPT_ELEMENT_SIZE } from "../../protocol/script.ts"
import type { InvalidWalletRequest } from "../errors.ts"
import {
  type Descriptor,
  type DescriptorLeaf,
  faultless,
  keyMark,
  keysOf,
  mapKeys,
  markedPosition,
  writtenDescriptor
} from "./descriptors.ts"
import {
  isPrivate,
  keyDeriver,
  type KeyExpression,
  KeyFault,
  type KeyPlace,
  keyText,
  needsPrivateKey,
  parseKey,
  withoutPrivateKey
} from "./keyExpression.ts"
import { LONGEST_DESCRIPTOR } from "./WalletDocument.ts"

/** Rules and error texts: upstream `script/descriptor.cpp`, `ParseScript`. */

const MAX_KEYS = 20
const MAX_TAPSCRIPT_KEYS = 999
const MAX_BARE_KEYS = 3
const MAX_TREE_DEPTH = 128
const CHECKSUM_LENGTH = 8

class TextCursor {
  rest: string

  constructor(text: string) {
    this.rest = text
  }

  accept(character: string): boolean {
    if (!this.rest.startsWith(character)) return false
    this.rest = this.rest.slice(character.length)
    return true
  }

  /** Up to a comma or closing bracket outside of all brackets. Upstream `script/parsing.cpp`, `Expr`. */
  expression(): string {
    let level = 0
    let at = 0
    for (; at < this.rest.length; at++) {
      const character = this.rest[at]
      if (character === "(" || character === "{") level++
      else if (character === ")" || character === "}") {
        if (level === 0) break
        level--
      } else if (character === "," && level === 0) break
    }
    const taken = this.rest.slice(0, at)
    this.rest = this.rest.slice(at)
    return taken
  }
}

const withoutChecksum = (text: string, required: boolean): string => {
  if (text.length > LONGEST_DESCRIPTOR) throw new KeyFault("the descriptor is too long")
  const [payload = "", checksum, ...more] = text.split("#")
  if (more.length > 0) throw new KeyFault("Multiple '#' symbols")
  if (checksum === undefined && required) throw new KeyFault("Missing checksum")
  if (checksum !== undefined && checksum.length !== CHECKSUM_LENGTH) {
    throw new KeyFault(`Expected 8 character checksum, not ${checksum.length} characters`)
  }
  const computed = descriptorChecksum(payload)
  if (computed === undefined) throw new KeyFault("Invalid characters in payload")
  if (checksum !== undefined && checksum !== computed) {
    throw new KeyFault(`Provided checksum '${checksum}' does not match computed checksum '${computed}'`)
  }
  return payload
}

/** Functions restricted to some places, with upstream's errors; the others may be anywhere. */
const PLACES: Readonly<Record<string, { readonly places: ReadonlyArray<KeyPlace>; readonly error: string }>> = {
  combo: { places: ["top"], error: "Can only have combo() at top level" },
  multi: {
    places: ["top", "P2SH", "P2WSH"],
    error: "Can only have multi/sortedmulti at top level, in sh(), or in wsh()"
  },
  sortedmulti: {
    places: ["top", "P2SH", "P2WSH"],
    error: "Can only have multi/sortedmulti at top level, in sh(), or in wsh()"
  },
  multi_a: { places: ["P2TR"], error: "Can only have multi_a/sortedmulti_a inside tr()" },
  sortedmulti_a: { places: ["P2TR"], error: "Can only have multi_a/sortedmulti_a inside tr()" },
  wpkh: { places: ["top", "P2SH"], error: "Can only have wpkh() at top level or inside sh()" },
  sh: { places: ["top"], error: "Can only have sh() at top level" },
  wsh: { places: ["top", "P2SH"], error: "Can only have wsh() at top level or inside sh()" },
  addr: { places: ["top"], error: "Can only have addr() at top level" },
  tr: { places: ["top"], error: "Can only have tr at top level" },
  rawtr: { places: ["top"], error: "Can only have rawtr at top level" },
  raw: { places: ["top"], error: "Can only have raw() at top level" }
}

const keySize = (key: KeyExpression): number => key.kind === "single" ? key.publicKey.length : 33

class DescriptorParser {
  /** By position; several alternatives for alternative paths (BIP 389). */
  readonly keys: Array<ReadonlyArray<KeyExpression>> = []
  private readonly network: Network

  constructor(network: Network) {
    this.network = network
  }

  parse(cursor: TextCursor, place: KeyPlace): Descriptor {
    const text = cursor.expression()
    const [, name = "", inner = ""] = /^([a-z_]+)\((.*)\)$/s.exec(text) ?? []
    const rule = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined
    if (rule !== undefined && !rule.places.includes(place)) throw new KeyFault(rule.error)
    switch (name) {
      case "pk":
        return { name, key: this.key({ prefix: "pk(): ", text: inner, place }) }
      case "pkh":
        return place === "P2TR"
          ? this.miniscript(text, place)
          : { name, key: this.key({ prefix: "pkh(): ", text: inner, place }) }
      case "combo":
        return { name, key: this.key({ prefix: "combo(): ", text: inner, place }) }
      case "wpkh":
        return { name, key: this.key({ prefix: "wpkh(): ", text: inner, place: "P2WPKH" }) }
      case "multi":
      case "sortedmulti":
      case "multi_a":
      case "sortedmulti_a":
        return this.multisig(name, inner, place)
      case "sh":
        return { name, inner: this.inside(inner, "P2SH") }
      case "wsh":
        return { name, inner: this.inside(inner, "P2WSH") }
      case "addr":
        return this.address(inner)
      case "tr":
        return this.taproot(inner)
      case "rawtr":
        if (new TextCursor(inner).expression() !== inner) throw new KeyFault("rawtr(): only one key expected.")
        return { name, key: this.key({ prefix: "rawtr(): ", text: inner, place: "P2TR" }) }
      case "raw": {
        const script = inner === "" ? undefined : fromHex(inner)
        if (script === undefined) throw new KeyFault("Raw script is not hex")
        return { name, script }
      }
      default:
        return this.miniscript(text, place)
    }
  }

  private inside(text: string, place: KeyPlace): Descriptor {
    const cursor = new TextCursor(text)
    const found = this.parse(cursor, place)
    // Upstream has no text for this.
    if (cursor.rest !== "") throw new KeyFault("")
    return found
  }

  private key(
    { place, prefix, text }: { readonly prefix: string; readonly text: string; readonly place: KeyPlace }
  ): KeyExpression {
    try {
      const alternatives = parseKey(this.network, text, { place, position: this.keys.length })
      this.keys.push(alternatives)
      const [first] = alternatives
      if (first === undefined) throw new TypeError("a key has no path")
      return first
    } catch (cause) {
      throw cause instanceof KeyFault ? new KeyFault(prefix + cause.message) : cause
    }
  }

  /** Refuses different numbers of alternatives; a single one fits all. */
  private refuseMismatch(keys: ReadonlyArray<KeyExpression>, mismatch: string): void {
    const counts = keys.map(({ position }) => this.keys[position]?.length ?? 1)
    const most = Math.max(1, ...counts)
    if (counts.some((count) => count !== 1 && count !== most)) throw new KeyFault(mismatch)
  }

  private address(text: string): Descriptor {
    const parsed = decodeAddress(this.network, text)
    if ("error" in parsed) throw new KeyFault("Address is not valid")
    return { name: "addr", address: text, script: scriptOf(parsed.destination) }
  }

  private multisig(
    name: "multi" | "sortedmulti" | "multi_a" | "sortedmulti_a",
    text: string,
    place: KeyPlace
  ): Descriptor {
    const cursor = new TextCursor(text)
    const threshold = cursor.expression()
    const required = Number(threshold)
    if (!/^\d{1,10}$/.test(threshold) || required > 0xffffffff) {
      throw new KeyFault(`Multi threshold '${threshold}' is not valid`)
    }
    const keys: Array<KeyExpression> = []
    while (cursor.rest !== "") {
      if (!cursor.accept(",")) throw new KeyFault(`Multi: expected ',', got '${cursor.rest[0]}'`)
      keys.push(this.key({ prefix: "Multi: ", text: cursor.expression(), place }))
    }
    const { length } = keys
    const inTree = place === "P2TR"
    const most = inTree ? MAX_TAPSCRIPT_KEYS : MAX_KEYS
    if (length === 0 || length > most) {
      const kind = inTree ? "multi_a" : "multisig"
      throw new KeyFault(`Cannot have ${length} keys in ${kind}; must have between 1 and ${most} keys, inclusive`)
    }
    if (required < 1) throw new KeyFault(`Multisig threshold cannot be ${required}, must be at least 1`)
    if (required > length) {
      const given = `threshold is ${required} but only ${length} keys specified`
      throw new KeyFault(`Multisig threshold cannot be larger than the number of keys; ${given}`)
    }
    if (place === "top" && length > MAX_BARE_KEYS) {
      throw new KeyFault(`Cannot have ${length} pubkeys in bare multisig; only at most ${MAX_BARE_KEYS} pubkeys`)
    }
    const size = keys.reduce((sum, key) => sum + 1 + keySize(key), 3)
    if (place === "P2SH" && size > MAX_SCRIPT_ELEMENT_SIZE) {
      throw new KeyFault(`P2SH script is too large, ${size} bytes is larger than ${MAX_SCRIPT_ELEMENT_SIZE} bytes`)
    }
    this.refuseMismatch(keys, "multi(): Multipath derivation paths have mismatched lengths")
    return { name, required, keys }
  }

  private taproot(text: string): Descriptor {
    const cursor = new TextCursor(text)
    const key = this.key({ prefix: "tr(): ", text: cursor.expression(), place: "P2TR" })
    const leaves: Array<DescriptorLeaf> = []
    if (cursor.rest !== "") {
      if (!cursor.accept(",")) throw new KeyFault(`tr: expected ',', got '${cursor.rest[0]}'`)
      this.readTree(cursor, leaves)
      if (cursor.rest !== "") throw new KeyFault("tr(): expected ')' after script expression")
    }
    const count = ({ position }: KeyExpression): number => this.keys[position]?.length ?? 1
    const counts = leaves.map(({ inner }) => Math.max(1, ...keysOf(inner).map(count)))
    const own = count(key)
    const most = Math.max(own, ...counts)
    if (counts.some((each) => each !== 1 && each !== most)) {
      throw new KeyFault("tr(): Multipath subscripts have mismatched lengths")
    }
    if (own > 1 && own !== most) {
      throw new KeyFault("tr(): Multipath internal key mismatches multipath subscripts lengths")
    }
    return { name: "tr", key, leaves }
  }

  private readTree(cursor: TextCursor, leaves: Array<DescriptorLeaf>): void {
    /** For each open branch, whether its second side is being read. */
    const branches: Array<boolean> = []
    do {
      while (cursor.accept("{")) {
        branches.push(false)
        if (branches.length > MAX_TREE_DEPTH) {
          throw new KeyFault(`tr() supports at most ${MAX_TREE_DEPTH} nesting levels`)
        }
      }
      leaves.push({ depth: branches.length, inner: this.inside(cursor.expression(), "P2TR") })
      while (branches.at(-1) === true) {
        if (!cursor.accept("}")) throw new KeyFault("tr(): expected '}' after script expression")
        branches.pop()
      }
      if (branches.length > 0) {
        if (!cursor.accept(",")) throw new KeyFault("tr(): expected ',' after script expression")
        branches[branches.length - 1] = true
      }
    } while (branches.length > 0)
  }

  private miniscript(text: string, place: KeyPlace): Descriptor {
    const context = place === "P2WSH" ? "P2WSH" : "tapscript"
    const keys: Array<KeyExpression> = []
    const tree = parseMiniscript(text, {
      context,
      key: (each) => {
        const key = this.key({ prefix: "", text: each, place: place === "P2WSH" ? "P2WSH" : "P2TR" })
        keys.push(key)
        return keyMark(key.position)
      }
    })
    const analyzed = tree && analyzeMiniscript(tree, {
      context,
      identity: (mark) => this.identity(markedPosition(mark))
    })
    if (tree === undefined || analyzed === undefined) {
      throw new KeyFault(
        place === "P2SH" || place === "P2WSH"
          ? `A function is needed within ${place}`
          : `'${text}' is not a valid descriptor function`
      )
    }
    if (place !== "P2WSH" && place !== "P2TR") {
      throw new KeyFault("Miniscript expressions can only be used in wsh or tr.")
    }
    const { problem, text: short } = analyzed
    const descriptor: Descriptor = { name: "miniscript", context, tree, text: problem ?? short, keys }
    if (problem !== undefined) {
      throw new KeyFault(writtenDescriptor(descriptor, (key) => keyText(this.network, withoutPrivateKey(key))))
    }
    this.refuseMismatch(keys, "Miniscript: Multipath derivation paths have mismatched lengths")
    return descriptor
  }

  /** Equal for equal keys. */
  private identity(position: number): string {
    const key = this.keys[position]?.[0]
    if (key === undefined) throw new TypeError("no key at this position")
    // A key that cannot be derived is compared as written.
    if (needsPrivateKey(key) && !isPrivate(key)) return keyText(this.network, key)
    return toHex(keyDeriver(key)(0).publicKey)
  }
}

const parseAll = (network: Network, payload: string): ReadonlyArray<Descriptor> => {
  const parser = new DescriptorParser(network)
  const cursor = new TextCursor(payload)
  const first = parser.parse(cursor, "top")
  if (cursor.rest !== "") throw new KeyFault("")
  const count = Math.max(1, ...parser.keys.map(({ length }) => length))
  return Array.from({ length: count }, (_, at) =>
    at === 0 ? first : mapKeys(first, (key) => {
      const alternatives = parser.keys[key.position] ?? []
      return alternatives[at] ?? alternatives[0] ?? key
    }))
}

/** Several for alternative paths, external before internal (BIP 389). */
export const parseDescriptors = (
  network: Network,
  text: string,
  checksum: "required" | "optional" = "required"
): Either.Either<ReadonlyArray<Descriptor>, InvalidWalletRequest> =>
  faultless(() => parseAll(network, withoutChecksum(text, checksum === "required")))

/** Without alternative paths; the checksum is required. */
export const parseDescriptor = (
  network: Network,
  text: string
): Either.Either<Descriptor, InvalidWalletRequest> =>
  faultless(() => {
    const [first, ...others] = parseAll(network, withoutChecksum(text, true))
    if (first === undefined || others.length > 0) throw new KeyFault("Multipath descriptor not accepted")
    return first
  })

/** Upstream's warnings: locks that are shorter than they look. */
export const descriptorWarnings = (descriptor: Descriptor): ReadonlyArray<string> => {
  if ("tree" in descriptor) return unsafeLocks(descriptor.tree)
  if ("leaves" in descriptor) return descriptor.leaves.flatMap(({ inner }) => descriptorWarnings(inner))
  return "inner" in descriptor ? descriptorWarnings(descriptor.inner) : []
}
