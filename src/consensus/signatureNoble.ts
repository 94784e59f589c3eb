import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import { type Bytes, equal } from "../protocol/bytes.ts"
import { evenKey } from "../protocol/taproot.ts"

/** 32 bytes each. */
export interface TweakedKey {
  readonly output: Bytes
  /** Whether the y of the output is odd. */
  readonly odd: boolean
  readonly internal: Bytes
  readonly tweak: Bytes
}

/** The operations of a curve implementation. They never throw: malformed input is invalid. Callers check lengths. */
export interface SignatureChecks {
  /** Takes r and s as scalars with a low s, and a key of 33 or 65 bytes (compressed, uncompressed or hybrid). */
  readonly ecdsa: (compact: Bytes, hash: Bytes, pubkey: Bytes) => boolean
  /** BIP 340: 64, 32 and 32 bytes. */
  readonly schnorr: (signature: Bytes, message: Bytes, pubkey: Bytes) => boolean
  /** Whether the even point with the x of `internal`, plus `tweak` times the generator, has `output`'s x and parity. */
  readonly tweak: (key: TweakedKey) => boolean
}

const { Point } = secp256k1

/** The uncompressed form of a hybrid key; `undefined` if its first byte does not match the parity of y. */
const fromHybrid = (pubkey: Bytes): Uint8Array | undefined => {
  if (((pubkey[0] ?? 0) & 1) !== ((pubkey[64] ?? 0) & 1)) return undefined
  const key = Uint8Array.from(pubkey)
  key[0] = 0x04
  return key
}

const isHybrid = (pubkey: Bytes): boolean => pubkey[0] === 0x06 || pubkey[0] === 0x07

/** The reference: @noble/curves. */
export const nobleChecks: SignatureChecks = {
  ecdsa: (compact, hash, pubkey) => {
    const key = isHybrid(pubkey) ? fromHybrid(pubkey) : pubkey
    // Noble would hash the message again by default.
    return key !== undefined && secp256k1.verify(compact, hash, key, { prehash: false, lowS: false })
  },

  schnorr: (signature, message, pubkey) => schnorr.verify(signature, message, pubkey),

  tweak: ({ internal, odd, output, tweak }) => {
    try {
      const scalar = Point.Fn.fromBytes(tweak)
      const sum = Point.fromBytes(evenKey(internal)).add(Point.BASE.multiplyUnsafe(scalar))
      if (sum.is0()) return false
      const key = sum.toBytes(true)
      return key[0] === (odd ? 0x03 : 0x02) && equal(key.subarray(1), output)
    } catch {
      // The tweak is not below the order, or x belongs to no point.
      return false
    }
  }
}
