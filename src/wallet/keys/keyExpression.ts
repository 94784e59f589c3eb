import { secp256k1 } from "@noble/curves/secp256k1.js"
import { type Bytes, concat, fromHex, isHex, toHex } from "../../protocol/bytes.ts"
import { encodeExtendedKey, type ExtendedKey, parseExtendedKey } from "../../protocol/extendedKey.ts"
import type { Network } from "../../protocol/networks.ts"
import type { KeyOrigin } from "../../protocol/psbt/Psbt.ts"
import { encodeWif, parseWif } from "../../protocol/wif.ts"
import type { SigningKey } from "../signing/SigningProvider.ts"
import { childPublicKey, derivePath, fingerprintOf, HARDENED, neutered, pathText, publicKeyOfExtended } from "./hd.ts"

/** The keys of output descriptors (BIP 380): parsed, printed and derived. No error contains a possible private key. */

/** Why a descriptor is invalid. The parser of the whole descriptor catches it. */
export class KeyFault extends Error {}

export type KeyPlace = "top" | "P2SH" | "P2WSH" | "P2WPKH" | "P2TR"

interface Common {
  /** The origin of the key as written, before its own path. */
  readonly origin: KeyOrigin | undefined
  /** The position of the key among the keys of the descriptor. */
  readonly position: number
}

export interface SingleKey extends Common {
  readonly kind: "single"
  readonly publicKey: Bytes
  /** Whether the public form is the 32 bytes of the x coordinate. */
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

/** A key of a script, and its origin. */
export interface DerivedKey {
  readonly publicKey: Bytes
  readonly origin: KeyOrigin
  /** Position of its expression in the descriptor. */
  readonly position: number
}

const MAX_PATH_STEPS = 255

const parseStep = (text: string): number => {
  const [, digits, hardened] = /^(\d{1,10})(['hH]?)$/.exec(text) ?? []
  if (digits === undefined) throw new KeyFault(`Key path value '${text.slice(0, 20)}' is not a valid uint32`)
  const value = Number(digits)
  if (value >= HARDENED) throw new KeyFault(`Key path value ${value} is out of range`)
  return hardened === "" ? value : value + HARDENED
}

const parseSteps = (steps: ReadonlyArray<string>): ReadonlyArray<number> => {
  if (steps.length > MAX_PATH_STEPS) throw new KeyFault("Key path is too long")
  return steps.map(parseStep)
}

/** Splits off the origin: `[d34db33f/44h/0h]`. */
const parseOrigin = (text: string): { readonly origin: KeyOrigin | undefined; readonly key: string } => {
  if (!text.startsWith("[")) {
    if (text.includes("]")) throw new KeyFault("Key origin start '[' character expected but not found")
    return { origin: undefined, key: text }
  }
  const [inner = "", key, ...more] = text.slice(1).split("]")
  if (key === undefined || more.length > 0) throw new KeyFault("Multiple ']' characters found for a single pubkey")
  const [fingerprint = "", ...steps] = inner.split("/")
  if (fingerprint.length !== 8) {
    throw new KeyFault(`Fingerprint is not 4 bytes (${fingerprint.length} characters instead of 8 characters)`)
  }
  const bytes = isHex(fingerprint) ? fromHex(fingerprint) : undefined
  if (bytes === undefined) throw new KeyFault(`Fingerprint '${fingerprint}' is not hex`)
  return { origin: { fingerprint: bytes, path: parseSteps(steps) }, key }
}

const parseWildcard = (step: string | undefined): DerivedFrom["wildcard"] =>
  step === "*" ? "plain" : step === "*'" || step === "*h" || step === "*H" ? "hardened" : "none"

const parseHexKey = (text: string, bytes: Bytes, place: KeyPlace): Pick<SingleKey, "publicKey" | "xonly"> => {
  if (bytes[0] === 0x06 || bytes[0] === 0x07) throw new KeyFault("Hybrid public keys are not allowed")
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
  if ("error" in imported) throw new KeyFault("key is not valid")
  const publicKey = secp256k1.getPublicKey(imported.privateKey, imported.compressed)
  return { kind: "single", ...common, publicKey, xonly: place === "P2TR", privateKey: imported }
}

const parseExtended = (network: Network, text: string, common: Common): DerivedFrom | undefined => {
  const [first = "", ...steps] = text.split("/")
  const parsed = parseExtendedKey(network, first)
  if ("error" in parsed) {
    if (steps.length > 0) throw new KeyFault("key is not valid")
    return undefined
  }
  if (steps.some((step) => step.startsWith("<"))) {
    throw new KeyFault("several paths in one descriptor are not supported: give one descriptor for each")
  }
  const wildcard = parseWildcard(steps.at(-1))
  const path = parseSteps(wildcard === "none" ? steps : steps.slice(0, -1))
  const { extendedKey: key } = parsed
  if (key.kind === "public" && (wildcard === "hardened" || path.some((step) => step >= HARDENED))) {
    throw new KeyFault("Cannot derive hardened child keys of an extended public key")
  }
  return { kind: "extended", ...common, key, path, wildcard }
}

/** Parses a key: hexadecimal, WIF, or extended with a path. */
export const parseKey = (
  network: Network,
  text: string,
  { place, position }: { readonly place: KeyPlace; readonly position: number }
): KeyExpression => {
  const { key, origin } = parseOrigin(text)
  if (key === "") throw new KeyFault("No key provided")
  if (/^\s|\s$/.test(key)) {
    // Only a public key is shown: other text may be a private one.
    const shown = isHex(key.trim()) && key.trim().length > 64 ? `Key '${key}'` : "Key"
    throw new KeyFault(`${shown} is invalid due to whitespace`)
  }
  const common = { origin, position }
  const parsed = parseExtended(network, key, common) ?? parseSingle(network, key, { place, common })
  if (parsed.kind === "single" && parsed.publicKey.length === 65 && place !== "top" && place !== "P2SH") {
    throw new KeyFault("Uncompressed keys are not allowed")
  }
  return parsed
}

export const isRanged = (key: KeyExpression): boolean => key.kind === "extended" && key.wildcard !== "none"

export const isPrivate = (key: KeyExpression): boolean =>
  key.kind === "single" ? key.privateKey !== undefined : key.key.kind === "private"

const originText = (origin: KeyOrigin | undefined): string =>
  origin === undefined ? "" : `[${toHex(origin.fingerprint)}${pathText(origin.path)}]`

const WILDCARDS = { none: "", plain: "/*", hardened: "/*h" }

/**
 * The key without its private part. Hardened steps are derived from the private key and moved into the origin, so that
 * the other steps need only the public key. Upstream `BIP32PubkeyProvider::ToNormalizedString`.
 */
export const publicForm = (expression: KeyExpression): KeyExpression => {
  if (expression.kind === "single") return { ...expression, privateKey: undefined }
  const { key, origin, path, wildcard } = expression
  if (wildcard === "hardened") {
    throw new KeyFault("a range of hardened keys needs the private key for each address and is not supported")
  }
  const split = path.findLastIndex((step) => step >= HARDENED) + 1
  if (split === 0) return { ...expression, key: neutered(key) }
  const taken = path.slice(0, split)
  return {
    ...expression,
    key: neutered(derivePath(key, taken)),
    origin: {
      fingerprint: origin?.fingerprint ?? fingerprintOf(publicKeyOfExtended(key)),
      path: [...origin?.path ?? [], ...taken]
    },
    path: path.slice(split)
  }
}

/** The text of a key, private if the key is. */
export const keyText = (network: Network, expression: KeyExpression): string => {
  if (expression.kind === "single") {
    const { origin, privateKey, publicKey, xonly } = expression
    const text = privateKey === undefined
      ? toHex(xonly ? publicKey.subarray(1) : publicKey)
      : encodeWif(network, privateKey)
    return originText(origin) + text
  }
  const { key, origin, path, wildcard } = expression
  return originText(origin) + encodeExtendedKey(network, key) + pathText(path) + WILDCARDS[wildcard]
}

/** The text of the key of one script, as upstream infers it: x-only in taproot. */
export const derivedKeyText = ({ origin, publicKey }: DerivedKey, xonly: boolean): string =>
  originText(origin) + toHex(xonly && publicKey.length === 33 ? publicKey.subarray(1) : publicKey)

/** Derives the public keys of an expression without private parts. */
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

/** The private key of an expression at an index, if it has one. */
export const privateKeyAt = (expression: KeyExpression, index: number): SigningKey | undefined => {
  if (expression.kind === "single") return expression.privateKey
  if (expression.key.kind !== "private") return undefined
  const path = expression.wildcard === "none" ? expression.path : [...expression.path, index]
  return { privateKey: derivePath(expression.key, path).key, compressed: true }
}
