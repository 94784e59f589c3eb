import type { AddressFormat } from "./addressFormat.ts"
import { decodeBase58, decodeBase58Check, encodeBase58Check } from "./base58.ts"
import { decodeBech32, encodeSegwit, isProgramLength, segwitOf } from "./bech32.ts"
import { locateErrors } from "./bech32Errors.ts"
import { type Bytes, concat } from "./bytes.ts"

// Output scripts with an address, and the text of the address. The caller strips the name prefix of a name output first
// (reference/protocol.md 4.2).

/** The recipient of an output, as far as an address can express it. */
export type Destination =
  | { readonly kind: "pubkeyhash"; readonly hash: Bytes }
  | { readonly kind: "scripthash"; readonly hash: Bytes }
  | { readonly kind: "witness"; readonly version: number; readonly program: Bytes }

/** In the reference node's words. */
export interface AddressError {
  readonly error: string
  /** Positions in bytes of UTF-8. Only for bech32. */
  readonly locations: ReadonlyArray<number>
}

const HASH_BYTES = 20

const OP_1 = 0x51
const OP_16 = 0x60

/** OP_DUP OP_HASH160 and the push of 20 bytes before the hash; OP_EQUALVERIFY OP_CHECKSIG after it. */
const P2PKH_HEAD = Uint8Array.of(0x76, 0xa9, HASH_BYTES)
const P2PKH_TAIL = Uint8Array.of(0x88, 0xac)

/** OP_HASH160 and the push of 20 bytes before the hash; OP_EQUAL after it. */
const P2SH_HEAD = Uint8Array.of(0xa9, HASH_BYTES)
const P2SH_TAIL = Uint8Array.of(0x87)

const hashWithin = (script: Bytes, head: Bytes, tail: Bytes): Bytes | undefined => {
  if (script.length !== head.length + HASH_BYTES + tail.length) return undefined
  for (let i = 0; i < head.length; i++) if (script[i] !== head[i]) return undefined
  const end = head.length + HASH_BYTES
  for (let i = 0; i < tail.length; i++) if (script[end + i] !== tail[i]) return undefined
  return script.subarray(head.length, end)
}

/** A version opcode and one direct push to the end (BIP 141). Version 0 only has certain lengths. */
const witnessOf = (script: Bytes): Destination | undefined => {
  const opcode = script[0] ?? -1
  if (opcode !== 0 && (opcode < OP_1 || opcode > OP_16)) return undefined
  const version = opcode === 0 ? 0 : opcode - OP_1 + 1
  const length = script.length - 2
  if (script[1] !== length || !isProgramLength({ version, length })) return undefined
  return { kind: "witness", version, program: script.subarray(2) }
}

/**
 * A view of the script; `undefined` for other scripts, including bare public keys. Source: namecoin-core
 * `addresstype.cpp`, `ExtractDestination`.
 */
export const destinationOf = (script: Bytes): Destination | undefined => {
  const keyHash = hashWithin(script, P2PKH_HEAD, P2PKH_TAIL)
  if (keyHash !== undefined) return { kind: "pubkeyhash", hash: keyHash }
  const scriptHash = hashWithin(script, P2SH_HEAD, P2SH_TAIL)
  if (scriptHash !== undefined) return { kind: "scripthash", hash: scriptHash }
  return witnessOf(script)
}

export const scriptOf = (destination: Destination): Uint8Array => {
  switch (destination.kind) {
    case "pubkeyhash":
      return concat(P2PKH_HEAD, destination.hash, P2PKH_TAIL)
    case "scripthash":
      return concat(P2SH_HEAD, destination.hash, P2SH_TAIL)
    case "witness": {
      const { program, version } = destination
      return concat(Uint8Array.of(version === 0 ? 0 : OP_1 + version - 1, program.length), program)
    }
  }
}

export const encodeAddress = (network: AddressFormat, destination: Destination): string => {
  switch (destination.kind) {
    case "pubkeyhash":
      return encodeBase58Check(concat(Uint8Array.of(network.base58.p2pkh), destination.hash))
    case "scripthash":
      return encodeBase58Check(concat(Uint8Array.of(network.base58.p2sh), destination.hash))
    case "witness":
      return encodeSegwit(network.bech32Hrp, destination.version, destination.program)
  }
}

export const addressOf = (network: AddressFormat, script: Bytes): string | undefined => {
  const destination = destinationOf(script)
  return destination === undefined ? undefined : encodeAddress(network, destination)
}

const fails = (error: string): AddressError => ({ error, locations: [] })

const parseBase58Payload = (
  network: AddressFormat,
  payload: Bytes
): { readonly destination: Destination } | AddressError => {
  const { p2pkh, p2sh } = network.base58
  const version = payload[0]
  if (version !== p2pkh && version !== p2sh) return fails("Invalid or unsupported Base58-encoded address.")
  if (payload.length !== 1 + HASH_BYTES) return fails("Invalid length for Base58 address (P2PKH or P2SH)")
  return { destination: { kind: version === p2pkh ? "pubkeyhash" : "scripthash", hash: payload.subarray(1) } }
}

const parseSegwit = (network: AddressFormat, text: string): { readonly destination: Destination } | AddressError => {
  const decoded = decodeBech32(text)
  if (decoded === undefined) return locateErrors(text)
  const { bech32Hrp } = network
  if (decoded.values.length > 0 && decoded.hrp !== bech32Hrp) {
    const prefixes = `expected ${bech32Hrp}, got ${decoded.hrp}`
    return fails(`Invalid or unsupported prefix for Segwit (Bech32) address (${prefixes}).`)
  }
  const segwit = segwitOf(decoded)
  if ("error" in segwit) return fails(segwit.error)
  return { destination: { kind: "witness", version: segwit.version, program: segwit.program } }
}

/** Up to this length, the error assumes that a text with an invalid checksum is meant as Base58. */
const MAX_MISTYPED_BYTES = 100

/**
 * Tries Base58Check first: mainnet has legacy addresses that begin with `NC`, like its segwit prefix
 * (reference/protocol.md 1.4). Source of rules and words: namecoin-core `key_io.cpp`, `DecodeDestination`.
 */
export const decodeAddress = (
  network: AddressFormat,
  text: string
): { readonly destination: Destination } | AddressError => {
  const payload = decodeBase58Check(text, 1 + HASH_BYTES)
  if (payload !== undefined) return parseBase58Payload(network, payload)
  const { bech32Hrp } = network
  if (text.slice(0, bech32Hrp.length).toLowerCase() === bech32Hrp) return parseSegwit(network, text)
  return fails(
    decodeBase58(text, MAX_MISTYPED_BYTES) === undefined
      ? "Invalid or unsupported Segwit (Bech32) or Base58 encoding."
      : "Invalid checksum or length of Base58 address (P2PKH or P2SH)"
  )
}
