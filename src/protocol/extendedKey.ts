import { secp256k1 } from "@noble/curves/secp256k1.js"
import { decodeBase58Check, encodeBase58Check } from "./base58.ts"
import type { Bytes } from "./bytes.ts"
import type { Network } from "./networks.ts"
import { isPrivateKey } from "./wif.ts"

// Extended keys as Base58Check text (BIP 32, "Serialization format"): version, depth, parent fingerprint, child number,
// chain code and key, 78 bytes. The wallet derives keys. No error here contains a key or its text.

export interface ExtendedKey {
  readonly kind: "public" | "private"
  /** Steps from the master key, 0 to 255. */
  readonly depth: number
  /** First four bytes of the parent public key's HASH160; zeros for a master key. */
  readonly parentFingerprint: Bytes
  /** Index among the parent's children, hardened from 2^31; 0 for a master key. */
  readonly childNumber: number
  readonly chainCode: Bytes
  /** A compressed public key of 33 bytes, or a private key of 32 bytes, big-endian. */
  readonly key: Bytes
}

export type ExtendedKeyError =
  | "not a Base58Check text of 78 bytes"
  /** Mainnet's versions are Bitcoin's, so the two cannot be distinguished. */
  | "not an extended key of this network"
  | "depth 0 with a parent fingerprint"
  | "depth 0 with a child number"
  | "private key without a zero byte before it"
  | "private key out of range"
  | "public key does not begin with 2 or 3"
  | "public key not on the curve"

const SERIALIZED_BYTES = 78

const DEPTH = 4
const FINGERPRINT = 5
const CHILD_NUMBER = 9
const CHAIN_CODE = 13
const KEY = 45

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const keyError = (kind: ExtendedKey["kind"], bytes: Bytes): ExtendedKeyError | undefined => {
  const prefix = bytes[0]
  if (kind === "private") {
    if (prefix !== 0) return "private key without a zero byte before it"
    return isPrivateKey(bytes.subarray(1)) ? undefined : "private key out of range"
  }
  if (prefix !== 2 && prefix !== 3) return "public key does not begin with 2 or 3"
  return secp256k1.utils.isValidPublicKey(bytes, true) ? undefined : "public key not on the curve"
}

/** BIP 32, test vector 5. */
const fieldError = (kind: ExtendedKey["kind"], bytes: Bytes): ExtendedKeyError | undefined => {
  if (bytes[DEPTH] === 0) {
    if (bytes.subarray(FINGERPRINT, CHILD_NUMBER).some((byte) => byte !== 0)) return "depth 0 with a parent fingerprint"
    if (bytes.subarray(CHILD_NUMBER, CHAIN_CODE).some((byte) => byte !== 0)) return "depth 0 with a child number"
  }
  return keyError(kind, bytes.subarray(KEY))
}

const kindOf = (network: Network, version: number): ExtendedKey["kind"] | undefined => {
  if (version === network.extendedPublic) return "public"
  if (version === network.extendedPrivate) return "private"
  return undefined
}

const fits = ({ chainCode, childNumber, depth, key, kind, parentFingerprint }: ExtendedKey): boolean =>
  Number.isInteger(depth) && depth >= 0 && depth <= 0xff &&
  Number.isInteger(childNumber) && childNumber >= 0 && childNumber <= 0xffffffff &&
  parentFingerprint.length === CHILD_NUMBER - FINGERPRINT &&
  chainCode.length === KEY - CHAIN_CODE &&
  key.length === (kind === "public" ? SERIALIZED_BYTES - KEY : SERIALIZED_BYTES - KEY - 1)

/** Throws `RangeError` for invalid fields. */
export const encodeExtendedKey = (network: Network, extendedKey: ExtendedKey): string => {
  const { chainCode, childNumber, depth, key, kind, parentFingerprint } = extendedKey
  if (!fits(extendedKey)) throw new RangeError("a field of the extended key has a wrong size")
  const bytes = new Uint8Array(SERIALIZED_BYTES)
  const view = viewOf(bytes)
  view.setUint32(0, kind === "public" ? network.extendedPublic : network.extendedPrivate)
  view.setUint8(DEPTH, depth)
  bytes.set(parentFingerprint, FINGERPRINT)
  view.setUint32(CHILD_NUMBER, childNumber)
  bytes.set(chainCode, CHAIN_CODE)
  bytes.set(key, SERIALIZED_BYTES - key.length)
  const error = fieldError(kind, bytes)
  if (error !== undefined) throw new RangeError(error)
  return encodeBase58Check(bytes)
}

/** Ignores white space around the key. */
export const parseExtendedKey = (
  network: Network,
  text: string
): { readonly extendedKey: ExtendedKey } | { readonly error: ExtendedKeyError } => {
  const bytes = decodeBase58Check(text, SERIALIZED_BYTES)
  if (bytes === undefined || bytes.length !== SERIALIZED_BYTES) return { error: "not a Base58Check text of 78 bytes" }
  const view = viewOf(bytes)
  const kind = kindOf(network, view.getUint32(0))
  if (kind === undefined) return { error: "not an extended key of this network" }
  const error = fieldError(kind, bytes)
  if (error !== undefined) return { error }
  return {
    extendedKey: {
      kind,
      depth: view.getUint8(DEPTH),
      parentFingerprint: bytes.subarray(FINGERPRINT, CHILD_NUMBER),
      childNumber: view.getUint32(CHILD_NUMBER),
      chainCode: bytes.subarray(CHAIN_CODE, KEY),
      key: bytes.subarray(kind === "public" ? KEY : KEY + 1)
    }
  }
}
