import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import type { Bytes } from "../../protocol/bytes.ts"
import { tapTweak } from "../../protocol/taproot.ts"

/**
 * Deterministic signatures: the same key and hash always give the same signature, so that no nonce signs two hashes
 * (RFC 6979; BIP 340 with zeros for the auxiliary randomness). These functions do not throw for input from strangers;
 * keys are checked when they are parsed.
 */

const { Point } = secp256k1
const { Fn } = Point

/** The extra entropy of a further attempt: the number of the attempt, little endian. */
const entropy = (attempt: number): Uint8Array => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, attempt, true)
  return bytes
}

/**
 * Signs a hash of 32 bytes with ECDSA; DER without a hash type. It tries nonces until r is below 2^255, so that
 * signatures have at most 70 bytes and a predictable size. s is low. Source: upstream `key.cpp`, `CKey::Sign`.
 */
export const signEcdsa = (hash: Bytes, privateKey: Bytes): Uint8Array => {
  for (let attempt = 0;; attempt++) {
    const options = attempt === 0 ? {} : { extraEntropy: entropy(attempt) }
    const compact = secp256k1.sign(hash, privateKey, { ...options, prehash: false, lowS: true, format: "compact" })
    if ((compact[0] ?? 0) < 0x80) return secp256k1.Signature.fromBytes(compact, "compact").toBytes("der")
  }
}

/**
 * The private key of a taproot output: the internal private key, tweaked by the Merkle root of the script tree, which
 * is empty without a tree (BIP 341).
 */
export const tweakedKey = (privateKey: Bytes, merkleRoot: Bytes): Uint8Array => {
  const scalar = Fn.fromBytes(privateKey)
  const point = Point.BASE.multiply(scalar).toBytes(true)
  const even = point[0] === 0x02 ? scalar : Fn.neg(scalar)
  const tweak = Fn.fromBytes(tapTweak({ internalKey: point.subarray(1), merkleRoot }))
  return Fn.toBytes(Fn.add(even, tweak))
}

/** Signs 32 bytes by BIP 340. Returns 64 bytes. */
export const signSchnorr = (hash: Bytes, privateKey: Bytes): Uint8Array =>
  schnorr.sign(hash, privateKey, new Uint8Array(32))
