import { secp256k1 } from "@noble/curves/secp256k1.js"
import { type Bytes, concat, fromHex, isHex, toHex } from "../../protocol/bytes.ts"
import { encodeExtendedKey, type ExtendedKey, parseExtendedKey } from "../../protocol/extendedKey.ts"
import type { Network } from "../../protocol/networks.ts"
import type { KeyOrigin } from "../../protocol/psbt/Psbt.ts"
import { encodeWif, parseWif } from "../../protocol/wif.ts"
import type { SigningKey } from "../signing/SigningProvider.ts"
import {
  childPublicKey,
  derivePath,
  fingerprintOf,
  HARDENED,
  hardenedChildren,
  neutered,
  pathText,
  publicKeyOfExtended
} from "./hd.ts"

/** The keys of output descriptors (BIP 380). No error contains what may be a private key: see `maskedKeys`. */

/** What may be a private key, even mistyped: longer than all words of descriptors. */
const MAY_BE_PRIVATE = /(?<![0-9A-Za-z])(?![xt]pub)(?![0-9a-fA-F]+(?![0-9A-Za-z]))[0-9A-Za-z]{20,}/g

/** Masks private keys in a caller's text, for errors and logs. */
export const maskedKeys = (text: string): string => text.replace(MAY_BE_PRIVATE, "…")

/** Caught by the parser of the whole descriptor. */
export class KeyFault extends Error {}

export type KeyPlace = "top" | "P2SH" | "P2WSH" | "P2WPKH" | "P2TR"

interface Common {
  /** As written, before its own path. */
  readonly origin: KeyOrigin | undefined
  /** Hardened steps are written with `'` instead of `h`. */
  readonly apostrophe: boolean
  /** Among the keys of the descriptor. */
  readonly position: number
}

export interface SingleKey extends Common {
  readonly kind: "single"
  readonly publicKey: Bytes
  /** The public form is the 32 bytes of the x coordinate. */
  readonly xonly: boolean
  readonly privateKey: SigningKey | undefined
}

export interface DerivedFrom extends Common {
  readonly kind: "extended"
  readonly key: ExtendedKey
  readonly path: ReadonlyArray<number>
  readonly wildcard: "none" | "plain" | "hardened"
}

export type KeyExpression = SingleKey | DerivedFrom

export interface DerivedKey {
  readonly publicKey: Bytes
  readonly origin: KeyOrigin
  readonly position: number
}

/** Steps per path, and alternatives per step. Upstream has no limit. */
const MAX_PATH_STEPS = 255

interface Paths {
  readonly paths: ReadonlyArray<ReadonlyArray<number>>
  readonly apostrophe: boolean
}

const parseStep = (text: string): number => {
  const [, digits = "", hardened = ""] = /^(.*?)(['h]?)$/s.exec(text) ?? []
  if (!/^\d{1,10}$/.test(digits) || Number(digits) > 0xffffffff) {
    throw new KeyFault(`Key path value '${digits}' is not a valid uint32`)
  }
  const value = Number(digits)
  if (value >= HARDENED) throw new KeyFault(`Key path value ${value} is out of range`)
  return hardened === "" ? value : value + HARDENED
}

const isMultipath = (step: string): boolean => step.startsWith("<") && step.endsWith(">")

const parseAlternatives = (step: string): ReadonlyArray<number> => {
  const texts = step.slice(1, -1).split(";")
  if (texts.length < 2) throw new KeyFault("Multipath key path specifiers must have at least two items")
  if (texts.length > MAX_PATH_STEPS) throw new KeyFault("Key path is too long")
  const values: Array<number> = []
  for (const text of texts) {
    const value = parseStep(text)
    if (values.includes(value)) throw new KeyFault(`Duplicated key path value ${value} in multipath specifier`)
    values.push(value)
  }
  return values
}

/** One step may list alternatives (BIP 389), for several paths. */
const parsePaths = (
  steps: ReadonlyArray<string>,
  { apostrophe, multipath }: { readonly multipath: boolean; readonly apostrophe: boolean }
): Paths => {
  if (steps.length > MAX_PATH_STEPS) throw new KeyFault("Key path is too long")
  let paths: ReadonlyArray<ReadonlyArray<number>> = [[]]
  for (const step of steps) {
    if (!isMultipath(step)) {
      const value = parseStep(step)
      paths = paths.map((path) => [...path, value])
      continue
    }
    if (!multipath) {
      throw new KeyFault(`Key path value '${step}' specifies multipath in a section where multipath is not allowed`)
    }
    if (paths.length > 1) throw new KeyFault("Multiple multipath key path specifiers found")
    const [before = []] = paths
    paths = parseAlternatives(step).map((value) => [...before, value])
  }
  const [, last = apostrophe ? "'" : "h"] = /(['h])[^'h]*$/.exec(steps.join("/")) ?? []
  return { paths, apostrophe: last === "'" }
}

interface ParsedOrigin {
  readonly origin: KeyOrigin | undefined
  readonly apostrophe: boolean
  readonly key: string
}

/** Such as `[d34db33f/44h/0h]`. */
const parseOrigin = (text: string): ParsedOrigin => {
  const [before = "", key, ...more] = text.split("]")
  if (more.length > 0) throw new KeyFault("Multiple ']' characters found for a single pubkey")
  if (key === undefined) return { origin: undefined, apostrophe: false, key: text }
  if (!before.startsWith("[")) {
    // Upstream's text, with its single apostrophe before the bracket.
    throw new KeyFault(`Key origin start '[ character expected but not found, got '${before[0] ?? "]"}' instead`)
  }
  const [fingerprint = "", ...steps] = before.slice(1).split("/")
  if (fingerprint.length !== 8) {
    throw new KeyFault(`Fingerprint is not 4 bytes (${fingerprint.length} characters instead of 8 characters)`)
  }
  const bytes = isHex(fingerprint) ? fromHex(fingerprint) : undefined
  if (bytes === undefined) throw new KeyFault(`Fingerprint '${fingerprint}' is not hex`)
  const { apostrophe, paths: [path = []] } = parsePaths(steps, { multipath: false, apostrophe: false })
  return { origin: { fingerprint: bytes, path }, apostrophe, key }
}

const parseWildcard = (step: string | undefined): DerivedFrom["wildcard"] =>
  step === "*" ? "plain" : step === "*'" || step === "*h" ? "hardened" : "none"

const UNCOMPRESSED_SIZE = 65

const parseHexKey = (text: string, bytes: Bytes, place: KeyPlace): Pick<SingleKey, "publicKey" | "xonly"> => {
  // Prefixes only at this length: an x-only key may begin with these bytes.
  if (bytes.length === UNCOMPRESSED_SIZE && (bytes[0] === 0x06 || bytes[0] === 0x07)) {
    throw new KeyFault("Hybrid public keys are not allowed")
  }
  const xonly = place === "P2TR" && bytes.length === 32
  const publicKey = xonly ? concat(Uint8Array.of(0x02), bytes) : bytes
  if (!secp256k1.utils.isValidPublicKey(publicKey)) throw new KeyFault(`Pubkey '${text}' is invalid`)
  return { publicKey, xonly }
}

const parseSingle = (
  network: Network,
  text: string,
  { common, place }: { readonly place: KeyPlace; readonly common: Common }
): SingleKey => {
  const bytes = fromHex(text)
  if (bytes !== undefined) {
    return { kind: "single", ...common, ...parseHexKey(text, bytes, place), privateKey: undefined }
  }
  const imported = parseWif(network, text)
  if ("error" in imported) throw new KeyFault(`key '${text}' is not valid`)
  const publicKey = secp256k1.getPublicKey(imported.privateKey, imported.compressed)
  return { kind: "single", ...common, publicKey, xonly: place === "P2TR", privateKey: imported }
}

const parseExtended = (
  network: Network,
  text: string,
  common: Common
): ReadonlyArray<DerivedFrom> | undefined => {
  const [first = "", ...steps] = text.split("/")
  const parsed = parseExtendedKey(network, first)
  if ("error" in parsed) {
    if (steps.length > 0) throw new KeyFault(`key '${first}' is not valid`)
    return undefined
  }
  const wildcard = parseWildcard(steps.at(-1))
  const written = wildcard === "hardened" ? steps.at(-1) === "*'" : common.apostrophe
  const { apostrophe, paths } = parsePaths(wildcard === "none" ? steps : steps.slice(0, -1), {
    multipath: true,
    apostrophe: written
  })
  return paths.map((path) => ({
    kind: "extended",
    ...common,
    apostrophe,
    key: parsed.extendedKey,
    path,
    wildcard
  }))
}

/** Hexadecimal, WIF, or extended with a path; several keys for alternative paths (BIP 389). */
export const parseKey = (
  network: Network,
  text: string,
  { place, position }: { readonly place: KeyPlace; readonly position: number }
): ReadonlyArray<KeyExpression> => {
  const { apostrophe, key, origin } = parseOrigin(text)
  const [first = ""] = key.split("/")
  if (first === "") throw new KeyFault("No key provided")
  if (/^\s|\s$/.test(first)) throw new KeyFault(`Key '${first}' is invalid due to whitespace`)
  const common = { origin, apostrophe, position }
  const extended = parseExtended(network, key, common)
  if (extended !== undefined) return extended
  const parsed = parseSingle(network, key, { place, common })
  if (parsed.publicKey.length === 65 && place !== "top" && place !== "P2SH") {
    throw new KeyFault("Uncompressed keys are not allowed")
  }
  return [parsed]
}

export const isRanged = (key: KeyExpression): boolean => key.kind === "extended" && key.wildcard !== "none"

/** `/*h`. */
export const isHardenedRange = (key: KeyExpression): key is DerivedFrom =>
  key.kind === "extended" && key.wildcard === "hardened"

export const isPrivate = (key: KeyExpression): boolean =>
  key.kind === "single" ? key.privateKey !== undefined : key.key.kind === "private"

const originText = (origin: KeyOrigin | undefined, mark: "h" | "'" = "h"): string =>
  origin === undefined ? "" : `[${toHex(origin.fingerprint)}${pathText(origin.path, mark)}]`

export const needsPrivateKey = (key: KeyExpression): boolean =>
  key.kind === "extended" && (key.wildcard === "hardened" || key.path.some((step) => step >= HARDENED))

/** Otherwise as written. Upstream `PubkeyProvider::ToString`. */
export const withoutPrivateKey = (key: KeyExpression): KeyExpression =>
  key.kind === "single" ? { ...key, privateKey: undefined } : { ...key, key: neutered(key.key) }

/**
 * Moves hardened steps into the origin, so that the rest needs only the public key, unless the range is hardened.
 * Upstream `BIP32PubkeyProvider::ToNormalizedString`.
 */
export const publicForm = (expression: KeyExpression): KeyExpression => {
  const normal = { ...expression, apostrophe: false }
  if (normal.kind === "single") return { ...normal, privateKey: undefined }
  const { key, origin, path, wildcard } = normal
  if (key.kind === "public" && needsPrivateKey(normal)) {
    throw new KeyFault(
      "Cannot expand descriptor. Probably because of hardened derivations without private keys provided"
    )
  }
  if (wildcard === "hardened") return { ...normal, key: neutered(key) }
  const split = path.findLastIndex((step) => step >= HARDENED) + 1
  if (split === 0) return { ...normal, key: neutered(key) }
  const taken = path.slice(0, split)
  return {
    ...normal,
    key: neutered(derivePath(key, taken)),
    origin: {
      fingerprint: origin?.fingerprint ?? fingerprintOf(publicKeyOfExtended(key)),
      path: [...origin?.path ?? [], ...taken]
    },
    path: path.slice(split)
  }
}

export const keyText = (network: Network, expression: KeyExpression): string => {
  const mark = expression.apostrophe ? "'" : "h"
  if (expression.kind === "single") {
    const { origin, privateKey, publicKey, xonly } = expression
    const text = privateKey === undefined
      ? toHex(xonly ? publicKey.subarray(1) : publicKey)
      : encodeWif(network, privateKey)
    return originText(origin, mark) + text
  }
  const { key, origin, path, wildcard } = expression
  const child = wildcard === "none" ? "" : wildcard === "plain" ? "/*" : `/*${mark}`
  return originText(origin, mark) + encodeExtendedKey(network, key) + pathText(path, mark) + child
}

/** As upstream infers it: x-only in taproot. */
export const derivedKeyText = ({ origin, publicKey }: DerivedKey, xonly: boolean): string =>
  originText(origin) + toHex(xonly && publicKey.length === 33 ? publicKey.subarray(1) : publicKey)

export const publicDeriver = (expression: KeyExpression): (index: number) => DerivedKey => {
  const { position } = expression
  if (expression.kind === "single") {
    const { publicKey } = expression
    const origin = expression.origin ?? { fingerprint: fingerprintOf(publicKey), path: [] }
    return () => ({ publicKey, origin, position })
  }
  const { key, origin, path, wildcard } = expression
  const parent = neutered(derivePath(key, path))
  const fingerprint = origin?.fingerprint ?? fingerprintOf(publicKeyOfExtended(key))
  const before = [...origin?.path ?? [], ...path]
  if (wildcard === "none") {
    const fixed = { publicKey: parent.key, origin: { fingerprint, path: before }, position }
    return () => fixed
  }
  return (index) => ({
    publicKey: childPublicKey(parent, index),
    origin: { fingerprint, path: [...before, index] },
    position
  })
}

/** For a hardened range. */
export const storedDeriver = (
  { key, origin, path, position }: DerivedFrom,
  at: (index: number) => Bytes
): (index: number) => DerivedKey => {
  const fingerprint = origin?.fingerprint ?? fingerprintOf(publicKeyOfExtended(key))
  const before = [...origin?.path ?? [], ...path]
  return (index) => ({
    publicKey: at(index),
    origin: { fingerprint, path: [...before, HARDENED + index] },
    position
  })
}

/** Hardened steps need the private key, and throw a `KeyFault` without. */
export const keyDeriver = (expression: KeyExpression): (index: number) => DerivedKey => {
  if (expression.kind === "single" || !needsPrivateKey(expression)) return publicDeriver(expression)
  const { key, origin, path, wildcard } = expression
  if (key.kind === "public") throw new KeyFault("Cannot derive script without private keys")
  const parent = derivePath(key, path)
  const fingerprint = origin?.fingerprint ?? fingerprintOf(publicKeyOfExtended(key))
  const before = [...origin?.path ?? [], ...path]
  if (wildcard === "hardened") return storedDeriver(expression, hardenedChildren(parent))
  return publicDeriver({
    ...expression,
    key: neutered(parent),
    path: [],
    origin: { fingerprint, path: before }
  })
}

export const privateKeyAt = (expression: KeyExpression, index: number): SigningKey | undefined => {
  if (expression.kind === "single") return expression.privateKey
  if (expression.key.kind !== "private") return undefined
  const step = expression.wildcard === "hardened" ? HARDENED + index : index
  const path = expression.wildcard === "none" ? expression.path : [...expression.path, step]
  return { privateKey: derivePath(expression.key, path).key, compressed: true }
}
