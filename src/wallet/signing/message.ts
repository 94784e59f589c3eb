import { secp256k1 } from "@noble/curves/secp256k1.js"
import { decodeAddress } from "../../protocol/address.ts"
import { decodeBase64, encodeBase64 } from "../../protocol/base64.ts"
import { type Bytes, concat, equal } from "../../protocol/bytes.ts"
import { hash160, hash256 } from "../../protocol/hash.ts"
import type { Network } from "../../protocol/networks.ts"
import { Writer } from "../../protocol/Writer.ts"
import type { SigningKey } from "./SigningProvider.ts"

/** Messages signed by a P2PKH key. Source: upstream `common/signmessage.cpp`. */

const MAGIC = new TextEncoder().encode("Namecoin Signed Message:\n")

/** First byte of a signature, plus the recovery id, plus 4 for a compressed public key. */
const HEAD = 27
const COMPRESSED = 4

const SIGNATURE_SIZE = 65

/** The hash of a prefix that no transaction has, and the message as UTF-8. */
export const messageHash = (message: string): Uint8Array => {
  const bytes = new TextEncoder().encode(message)
  return hash256(new Writer(bytes.length + 64).varBytes(MAGIC).varBytes(bytes).written())
}

/** Returns the base64 of 65 bytes. */
export const signMessage = (message: string, { compressed, privateKey }: SigningKey): string => {
  const recovered = secp256k1.sign(messageHash(message), privateKey, { prehash: false, format: "recovered" })
  const head = HEAD + (recovered[0] ?? 0) + (compressed ? COMPRESSED : 0)
  return encodeBase64(concat(Uint8Array.of(head), recovered.subarray(1)))
}

const recoverKey = (message: string, signature: Bytes): Uint8Array | undefined => {
  if (signature.length !== SIGNATURE_SIZE) return undefined
  const head = ((signature[0] ?? 0) - HEAD) & 0xff
  try {
    const recovered = concat(Uint8Array.of(head & 3), signature.subarray(1))
    const key = secp256k1.recoverPublicKey(recovered, messageHash(message), { prehash: false })
    return secp256k1.Point.fromBytes(key).toBytes((head & COMPRESSED) !== 0)
  } catch {
    // r and s do not give a point.
    return undefined
  }
}

/** `forged`: an invalid signature, or one by another key. */
export type MessageVerdict = "valid" | "forged" | "invalid address" | "address without key" | "malformed signature"

export const verifyMessage = (
  network: Network,
  { address, message, signature }: { readonly address: string; readonly signature: string; readonly message: string }
): MessageVerdict => {
  const parsed = decodeAddress(network, address)
  if ("error" in parsed) return "invalid address"
  if (parsed.destination.kind !== "pubkeyhash") return "address without key"
  const bytes = decodeBase64(signature)
  if (bytes === undefined) return "malformed signature"
  const pubkey = recoverKey(message, bytes)
  return pubkey !== undefined && equal(hash160(pubkey), parsed.destination.hash) ? "valid" : "forged"
}
