import * as Either from "effect/Either"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { type Bytes, fromHex, toHex } from "../../protocol/bytes.ts"
import { descriptorChecksum } from "../../protocol/descriptor/descriptor.ts"
import type { Network } from "../../protocol/networks.ts"
import { InvalidWalletRequest } from "../errors.ts"
import {
  isPrivate,
  isRanged,
  type KeyExpression,
  KeyFault,
  type KeyPlace,
  keyText,
  parseKey,
  publicForm
} from "./keyExpression.ts"

/**
 * Output descriptors with derivation, as wallets import them (BIP 380 to 386), without miniscript and script trees.
 * Source of rules and error texts: upstream `script/descriptor.cpp`.
 */
export type Descriptor =
  | {
    readonly name: "pk" | "pkh" | "wpkh" | "combo" | "tr" | "rawtr"
    readonly key: KeyExpression
  }
  | {
    readonly name: "multi" | "sortedmulti"
    readonly required: number
    readonly keys: ReadonlyArray<KeyExpression>
  }
  | { readonly name: "sh" | "wsh"; readonly inner: Descriptor }
  | { readonly name: "addr"; readonly address: string; readonly script: Bytes }
  | { readonly name: "raw"; readonly script: Bytes }

const MAX_KEYS = 20
const MAX_BARE_KEYS = 3
const MAX_P2SH_SCRIPT = 520
const CHECKSUM_LENGTH = 8
export const LONGEST_DESCRIPTOR = 10_000

/** The allowed places of each function, and upstream's error for any other place. */
const PLACES: Readonly<Record<string, { readonly places: ReadonlyArray<KeyPlace>; readonly error: string }>> = {
  addr: { places: ["top"], error: "Can only have addr() at top level" },
  raw: { places: ["top"], error: "Can only have raw() at top level" },
  combo: { places: ["top"], error: "Can only have combo() at top level" },
  pk: { places: ["top", "P2SH", "P2WSH"], error: "" },
  pkh: { places: ["top", "P2SH", "P2WSH"], error: "" },
  wpkh: { places: ["top", "P2SH"], error: "Can only have wpkh() at top level or inside sh()" },
  multi: { places: ["top", "P2SH", "P2WSH"], error: "" },
  sortedmulti: { places: ["top", "P2SH", "P2WSH"], error: "" },
  sh: { places: ["top"], error: "Can only have sh() at top level" },
  wsh: { places: ["top", "P2SH"], error: "Can only have wsh() at top level or inside sh()" },
  tr: { places: ["top"], error: "Can only have tr at top level" },
  rawtr: { places: ["top"], error: "Can only have rawtr at top level" }
}

/** Checks and removes the checksum. */
const withoutChecksum = (text: string): string => {
  if (text.length > LONGEST_DESCRIPTOR) throw new KeyFault("the descriptor is too long")
  const [payload = "", checksum, ...more] = text.split("#")
  if (more.length > 0) throw new KeyFault("Multiple '#' symbols")
  if (checksum === undefined) throw new KeyFault("Missing checksum")
  if (checksum.length !== CHECKSUM_LENGTH) {
    throw new KeyFault(`Expected 8 character checksum, not ${checksum.length} characters`)
  }
  const computed = descriptorChecksum(payload)
  if (computed === undefined) throw new KeyFault("Invalid characters in payload")
  if (checksum !== computed) {
    throw new KeyFault(`Provided checksum '${checksum}' does not match computed checksum '${computed}'`)
  }
  return payload
}

class DescriptorParser {
  private keys = 0
  private readonly network: Network

  constructor(network: Network) {
    this.network = network
  }

  parse(text: string, place: KeyPlace): Descriptor {
    const [, name = "", inner = ""] = /^([a-z]+)\((.*)\)$/s.exec(text) ?? []
    const rule = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined
    if (rule === undefined) {
      // The text may contain a private key: the error shows only the word before the parenthesis.
      const word = /^[a-z0-9_]{0,20}/.exec(text)?.[0] ?? ""
      throw new KeyFault(
        place === "top" ? `'${word}' is not a valid descriptor function` : `A function is needed within ${place}`
      )
    }
    if (!rule.places.includes(place)) throw new KeyFault(rule.error)
    switch (name) {
      case "addr":
        return this.address(inner)
      case "raw": {
        const script = inner === "" ? undefined : fromHex(inner)
        if (script === undefined) throw new KeyFault("Raw script is not hex")
        return { name, script }
      }
      case "multi":
      case "sortedmulti":
        return this.multisig(name, inner, place)
      case "sh":
        return this.scriptHash(inner)
      case "wsh":
        return { name, inner: this.parse(inner, "P2WSH") }
      case "tr":
      case "rawtr":
        if (inner.includes(",")) throw new KeyFault(`${name}(): script trees are not supported`)
        return { name, key: this.key({ name: `${name}()`, text: inner, place: "P2TR" }) }
      case "wpkh":
        return { name, key: this.key({ name: "wpkh()", text: inner, place: "P2WPKH" }) }
      case "pk":
      case "pkh":
      case "combo":
        return { name, key: this.key({ name: `${name}()`, text: inner, place }) }
      default:
        throw new TypeError(`no rule for ${name}`)
    }
  }

  private key(
    { name, place, text }: { readonly name: string; readonly text: string; readonly place: KeyPlace }
  ): KeyExpression {
    try {
      return parseKey(this.network, text, { place, position: this.keys++ })
    } catch (cause) {
      throw cause instanceof KeyFault ? new KeyFault(`${name}: ${cause.message}`) : cause
    }
  }

  private address(text: string): Descriptor {
    const parsed = decodeAddress(this.network, text)
    if ("error" in parsed) throw new KeyFault("Address is not valid")
    return { name: "addr", address: text, script: scriptOf(parsed.destination) }
  }

  private scriptHash(text: string): Descriptor {
    const inner = this.parse(text, "P2SH")
    if (inner.name === "multi" || inner.name === "sortedmulti") {
      const size = inner.keys.reduce((sum, key) => sum + 1 + keySize(key), 3)
      if (size > MAX_P2SH_SCRIPT) {
        throw new KeyFault(`P2SH script is too large, ${size} bytes is larger than ${MAX_P2SH_SCRIPT} bytes`)
      }
    }
    return { name: "sh", inner }
  }

  private multisig(name: "multi" | "sortedmulti", text: string, place: KeyPlace): Descriptor {
    const [threshold = "", ...texts] = text.split(",")
    if (!/^\d{1,9}$/.test(threshold)) throw new KeyFault("Multi threshold is not valid")
    const required = Number(threshold)
    if (texts.length === 0 || texts.length > MAX_KEYS) {
      throw new KeyFault(
        `Cannot have ${texts.length} keys in multisig; must have between 1 and ${MAX_KEYS} keys, inclusive`
      )
    }
    const keys = texts.map((each) => this.key({ name: "Multi", text: each, place }))
    if (required < 1) throw new KeyFault(`Multisig threshold cannot be ${required}, must be at least 1`)
    if (required > keys.length) {
      const given = `threshold is ${required} but only ${keys.length} keys specified`
      throw new KeyFault(`Multisig threshold cannot be larger than the number of keys; ${given}`)
    }
    if (place === "top" && keys.length > MAX_BARE_KEYS) {
      throw new KeyFault(`Cannot have ${keys.length} pubkeys in bare multisig; only at most ${MAX_BARE_KEYS} pubkeys`)
    }
    return { name, required, keys }
  }
}

const keySize = (key: KeyExpression): number => key.kind === "single" ? key.publicKey.length : 33

/** The keys of a descriptor, in the order of its text. */
export const keysOf = (descriptor: Descriptor): ReadonlyArray<KeyExpression> => {
  if ("key" in descriptor) return [descriptor.key]
  if ("keys" in descriptor) return descriptor.keys
  return "inner" in descriptor ? keysOf(descriptor.inner) : []
}

/** The same descriptor with its keys mapped. */
export const mapKeys = (descriptor: Descriptor, change: (key: KeyExpression) => KeyExpression): Descriptor => {
  if ("key" in descriptor) return { ...descriptor, key: change(descriptor.key) }
  if ("keys" in descriptor) return { ...descriptor, keys: descriptor.keys.map(change) }
  return "inner" in descriptor ? { ...descriptor, inner: mapKeys(descriptor.inner, change) } : descriptor
}

/** The descriptor without private keys. Throws a `KeyFault` if its addresses cannot be derived without them. */
export const publicDescriptor = (descriptor: Descriptor): Descriptor => mapKeys(descriptor, publicForm)

export const isRangedDescriptor = (descriptor: Descriptor): boolean => keysOf(descriptor).some(isRanged)

export const privatePositions = (descriptor: Descriptor): ReadonlyArray<number> =>
  keysOf(descriptor).filter(isPrivate).map(({ position }) => position)

const bare = (network: Network, descriptor: Descriptor): string => {
  const { name } = descriptor
  if ("key" in descriptor) return `${name}(${keyText(network, descriptor.key)})`
  if ("keys" in descriptor) {
    return `${name}(${[descriptor.required, ...descriptor.keys.map((key) => keyText(network, key))].join(",")})`
  }
  if ("inner" in descriptor) return `${name}(${bare(network, descriptor.inner)})`
  return `${name}(${"address" in descriptor ? descriptor.address : toHex(descriptor.script)})`
}

export const withChecksum = (text: string): string => `${text}#${descriptorChecksum(text) ?? ""}`

/** The text of a descriptor with its checksum, and with its private keys if it has any. */
export const descriptorText = (network: Network, descriptor: Descriptor): string =>
  withChecksum(bare(network, descriptor))

/** Runs a function and returns its `KeyFault` as an error. */
export const faultless = <A>(run: () => A): Either.Either<A, InvalidWalletRequest> => {
  try {
    return Either.right(run())
  } catch (cause) {
    if (cause instanceof KeyFault) {
      const code = /checksum/i.test(cause.message) ? "checksum" : "descriptor"
      return Either.left(new InvalidWalletRequest({ code, reason: cause.message }))
    }
    throw cause
  }
}

/** Parses a descriptor of a network. The checksum is required. */
export const parseDescriptor = (
  network: Network,
  text: string
): Either.Either<Descriptor, InvalidWalletRequest> =>
  faultless(() => new DescriptorParser(network).parse(withoutChecksum(text), "top"))
