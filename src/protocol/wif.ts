import { decodeBase58Check, encodeBase58Check } from "./base58.ts"
import { type Bytes, compare, concat, EMPTY } from "./bytes.ts"
import type { Network } from "./networks.ts"

// Wallet import format: a private key as Base58Check text after the network's version byte, with a flag at the end if
// its public key is compressed. No error here contains a key or its text.

/** A private key, 32 bytes big-endian, and the form of its public key. */
export interface ImportedKey {
  readonly privateKey: Bytes
  readonly compressed: boolean
}

export type WifError =
  /** A wrong character, a wrong checksum, or far too long. */
  | "not a Base58Check text"
  /** Base58Check of other data, such as an address, or an unknown flag at the end. */
  | "not a private key"
  | "not a private key of this network"
  /** Zero, or not below the order of the curve. */
  | "private key out of range"

const KEY_BYTES = 32

/** The flag after a key whose public key is compressed. */
const COMPRESSED = 1

/** The order n of secp256k1, big-endian (SEC 2). */
// dprint-ignore
const CURVE_ORDER = Uint8Array.of(
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
  0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41
)

export const isPrivateKey = (bytes: Bytes): boolean =>
  bytes.length === KEY_BYTES && compare(bytes, CURVE_ORDER) < 0 && bytes.some((byte) => byte !== 0)

/** Throws `RangeError` for an invalid key. */
export const encodeWif = (network: Network, { compressed, privateKey }: ImportedKey): string => {
  if (!isPrivateKey(privateKey)) throw new RangeError("not a private key of secp256k1")
  const flag = compressed ? Uint8Array.of(COMPRESSED) : EMPTY
  return encodeBase58Check(concat(Uint8Array.of(network.base58.wif), privateKey, flag))
}

/** Ignores white space around the key. Source: namecoin-core `key_io.cpp`, `DecodeSecret`, which gives no reasons. */
export const parseWif = (network: Network, text: string): ImportedKey | { readonly error: WifError } => {
  const payload = decodeBase58Check(text, 1 + KEY_BYTES + 1)
  if (payload === undefined) return { error: "not a Base58Check text" }
  const compressed = payload.length === 1 + KEY_BYTES + 1
  if (compressed ? payload[1 + KEY_BYTES] !== COMPRESSED : payload.length !== 1 + KEY_BYTES) {
    return { error: "not a private key" }
  }
  if (payload[0] !== network.base58.wif) return { error: "not a private key of this network" }
  const privateKey = payload.subarray(1, 1 + KEY_BYTES)
  if (!isPrivateKey(privateKey)) return { error: "private key out of range" }
  return { privateKey, compressed }
}
