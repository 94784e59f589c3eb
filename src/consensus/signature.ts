import type { Bytes } from "../protocol/bytes.ts"
import { tapTweak } from "../protocol/taproot.ts"
import { isScalar, normalizeS, parseDerLax } from "./der.ts"
import { loadNativeCurve, nativeChecks } from "./signatureNative.ts"
import { nobleChecks, type SignatureChecks, type TweakedKey } from "./signatureNoble.ts"

// Signature checks on secp256k1: by libsecp256k1 if a native build loads, else by @noble/curves. Tests compare the two.
// Nothing here throws: malformed input is invalid.

/** Loaded by the first check, so that a client of a daemon loads no native code. */
let loaded: SignatureChecks | undefined

const loadChecks = (): SignatureChecks => {
  const nativeCurve = loadNativeCurve()
  return nativeCurve === undefined ? nobleChecks : nativeChecks(nativeCurve)
}

const checks = (): SignatureChecks => loaded ??= loadChecks()

export const signatureBackend = (): "libsecp256k1" | "noble" => checks() === nobleChecks ? "noble" : "libsecp256k1"

/** Whether the first byte and the length of a public key match. Hybrid keys are allowed. */
const hasKeyForm = (pubkey: Bytes): boolean => {
  const header = pubkey[0]
  if (header === 0x02 || header === 0x03) return pubkey.length === 33
  return (header === 0x04 || header === 0x06 || header === 0x07) && pubkey.length === 65
}

/** r and s of the signature being checked, shared because no check outlives its call. */
const compact = new Uint8Array(64)

export const verifyEcdsaBy = (by: SignatureChecks) => (signature: Bytes, hash: Bytes, pubkey: Bytes): boolean => {
  if (!hasKeyForm(pubkey) || !parseDerLax(signature, compact)) return false
  if (!isScalar(compact, 0) || !isScalar(compact, 32)) return false
  normalizeS(compact)
  return by.ecdsa(compact, hash, pubkey)
}

/**
 * The hash has 32 bytes; the signature has no hash type. Consensus: accepts any encoding that `parseDerLax` reads, and
 * a high s; callers check strict rules before. Source: upstream `pubkey.cpp`, `CPubKey::Verify`.
 */
export const verifyEcdsa = (signature: Bytes, hash: Bytes, pubkey: Bytes): boolean =>
  verifyEcdsaBy(checks())(signature, hash, pubkey)

/** Whether a 64-byte Schnorr signature over a 32-byte message is valid for the key with this x (BIP 340). */
export const verifySchnorr = (signature: Bytes, message: Bytes, pubkey: Bytes): boolean =>
  checks().schnorr(signature, message, pubkey)

/** BIP 341: the 32-byte x of output and internal key, the root of the tree, and whether the y of the output is odd. */
export const checkTapTweak = (
  { internal, merkleRoot, odd, output }: Omit<TweakedKey, "tweak"> & { readonly merkleRoot: Bytes }
): boolean => checks().tweak({ output, odd, internal, tweak: tapTweak({ internalKey: internal, merkleRoot }) })
