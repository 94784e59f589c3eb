import type { Bytes } from "../protocol/bytes.ts"
import { taggedHash } from "../protocol/hash.ts"
import { isScalar, normalizeS, parseDerLax } from "./der.ts"
import { loadNativeCurve, nativeChecks } from "./signatureNative.ts"
import { nobleChecks, type SignatureChecks } from "./signatureNoble.ts"

/**
 * Signature checks on secp256k1: with libsecp256k1 if its native build can be loaded, otherwise with @noble/curves.
 * Tests verify that both agree. Nothing here throws: malformed input is not valid.
 */

const nativeCurve = loadNativeCurve()

const checks: SignatureChecks = nativeCurve === undefined ? nobleChecks : nativeChecks(nativeCurve)

export const signatureBackend: "libsecp256k1" | "noble" = nativeCurve === undefined ? "noble" : "libsecp256k1"

/** Whether the first byte and the length of a public key match. Hybrid keys are accepted. */
const hasKeyForm = (pubkey: Bytes): boolean => {
  const header = pubkey[0]
  if (header === 0x02 || header === 0x03) return pubkey.length === 33
  return (header === 0x04 || header === 0x06 || header === 0x07) && pubkey.length === 65
}

/** r and s of the signature in the current check. One buffer is enough: its content is used within one call only. */
const compact = new Uint8Array(64)

/** As `verifyEcdsa`, with a given implementation. */
export const verifyEcdsaBy = (by: SignatureChecks, signature: Bytes, hash: Bytes, pubkey: Bytes): boolean => {
  if (!hasKeyForm(pubkey) || !parseDerLax(signature, compact)) return false
  if (!isScalar(compact, 0) || !isScalar(compact, 32)) return false
  normalizeS(compact)
  return by.ecdsa(compact, hash, pubkey)
}

/**
 * Whether an ECDSA signature (without its hash type) over a hash of 32 bytes is valid for the key. Consensus: accepts
 * any encoding that `parseDerLax` accepts, and a high s. The caller checks the strict rules before.
 * Source: upstream `pubkey.cpp`, `CPubKey::Verify`.
 */
export const verifyEcdsa = (signature: Bytes, hash: Bytes, pubkey: Bytes): boolean =>
  verifyEcdsaBy(checks, signature, hash, pubkey)

/**
 * Whether a Schnorr signature of 64 bytes over a message of 32 bytes is valid for the key with this x of 32 bytes (BIP
 * 340).
 */
export const verifySchnorr = (signature: Bytes, message: Bytes, pubkey: Bytes): boolean =>
  checks.schnorr(signature, message, pubkey)

/** The scalar that commits an internal key to a tree of scripts (BIP 341). 32 bytes. */
export const tapTweak = (internal: Bytes, merkleRoot: Bytes): Uint8Array => taggedHash("TapTweak", internal, merkleRoot)

/**
 * Whether a taproot output commits to a tree of scripts (BIP 341). `output` and `internal` are x coordinates of 32
 * bytes, `odd` is the parity of the output's y.
 */
export const checkTapTweak = (output: Bytes, odd: boolean, internal: Bytes, merkleRoot: Bytes): boolean =>
  checks.tweak(output, odd, internal, tapTweak(internal, merkleRoot))
