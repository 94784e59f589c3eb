import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import { Sighash } from "../../consensus/sighash.ts"
import { isMoney } from "../../protocol/amount.ts"
import { type Bytes, concat } from "../../protocol/bytes.ts"
import { tapTweak } from "../../protocol/taproot.ts"
import { LOCKTIME_THRESHOLD } from "../../protocol/transaction.ts"
import type { SigningContext } from "./SigningContext.ts"
import { findByX, type SigningProvider } from "./SigningProvider.ts"

/**
 * Deterministic signatures, so that no nonce signs two hashes (RFC 6979; BIP 340 with zero auxiliary randomness). Input
 * from strangers never throws; keys are checked when parsed.
 */

const { Point } = secp256k1
const { Fn } = Point

const entropy = (attempt: number): Uint8Array => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, attempt, true)
  return bytes
}

/**
 * DER of at most 70 bytes without a hash type: r is below 2^255, s is low. Source: upstream `key.cpp`, `CKey::Sign`.
 */
export const signEcdsa = (hash: Bytes, privateKey: Bytes): Uint8Array => {
  for (let attempt = 0;; attempt++) {
    const options = attempt === 0 ? {} : { extraEntropy: entropy(attempt) }
    const compact = secp256k1.sign(hash, privateKey, { ...options, prehash: false, lowS: true, format: "compact" })
    if ((compact[0] ?? 0) < 0x80) return secp256k1.Signature.fromBytes(compact, "compact").toBytes("der")
  }
}

/** The internal private key tweaked by the Merkle root of the script tree, empty without a tree (BIP 341). */
export const tweakedKey = (privateKey: Bytes, merkleRoot: Bytes): Uint8Array => {
  const scalar = Fn.fromBytes(privateKey)
  const point = Point.BASE.multiply(scalar).toBytes(true)
  const even = point[0] === 0x02 ? scalar : Fn.neg(scalar)
  const tweak = Fn.fromBytes(tapTweak({ internalKey: point.subarray(1), merkleRoot }))
  return Fn.toBytes(Fn.add(even, tweak))
}

/** BIP 340; 64 bytes. */
const signSchnorr = (hash: Bytes, privateKey: Bytes): Uint8Array => schnorr.sign(hash, privateKey, new Uint8Array(32))

export interface SignatureCreator {
  /**
   * With hash type, by the key with this HASH160. The script code is the executed script; outside witnesses it is
   * complete, including a name prefix (reference/protocol.md 5.2).
   */
  readonly ecdsa: (keyHash: Bytes, scriptCode: Bytes, inWitness: boolean) => Bytes | undefined
  /** By an x-only key, for a leaf or the output. `tweak` is the Merkle root that tweaks the key. */
  readonly schnorr: (xonly: Bytes, leafHash: Bytes | undefined, tweak: Bytes | undefined) => Bytes | undefined
  readonly verify: (scriptSig: Bytes, witness: ReadonlyArray<Bytes>) => boolean
  /** BIP 65. */
  readonly allowsAfter: (lockTime: number) => boolean
  /** BIP 112. */
  readonly allowsOlder: (sequence: number) => boolean
}

const SEQUENCE_FINAL = 0xffffffff
const SEQUENCE_DISABLED = 0x80000000
const SEQUENCE_TIME_FLAG = 0x400000
const SEQUENCE_MASK = 0xffff

/** `hashType` 0 is the default: ALL outside taproot. */
export const keyCreator = (
  context: SigningContext,
  index: number,
  { hashType, provider }: { readonly provider: SigningProvider; readonly hashType: number }
): SignatureCreator => {
  const { lockTime, version } = context.transaction
  const { sequence } = context.input(index)
  const ecdsaType = hashType === Sighash.DEFAULT ? Sighash.ALL : hashType
  return {
    ecdsa: (keyHash, scriptCode, inWitness) => {
      const key = provider.key(keyHash)
      if (key === undefined) return undefined
      if (inWitness && (!key.compressed || !isMoney(context.coin(index).value))) return undefined
      const hash = inWitness
        ? context.witnessV0(index, scriptCode, ecdsaType)
        : context.legacy(index, scriptCode, ecdsaType)
      return concat(signEcdsa(hash, key.privateKey), Uint8Array.of(ecdsaType))
    },
    schnorr: (xonly, leafHash, tweak) => {
      const key = findByX(xonly, provider.key)
      if (key === undefined || !context.allKnown) return undefined
      const hash = context.taproot(index, { annexHash: undefined, leafHash, codeSeparator: 0xffffffff }, hashType)
      if (hash === undefined) return undefined
      const signature = signSchnorr(hash, tweak === undefined ? key.privateKey : tweakedKey(key.privateKey, tweak))
      return hashType === Sighash.DEFAULT ? signature : concat(signature, Uint8Array.of(hashType))
    },
    verify: (scriptSig, witness) => context.verify(index, scriptSig, witness) === undefined,
    allowsAfter: (wanted) =>
      (wanted < LOCKTIME_THRESHOLD) === (lockTime < LOCKTIME_THRESHOLD) && wanted <= lockTime &&
      sequence !== SEQUENCE_FINAL,
    allowsOlder: (wanted) => {
      if (version < 2 || sequence >= SEQUENCE_DISABLED) return false
      const sameKind = (wanted & SEQUENCE_TIME_FLAG) === (sequence & SEQUENCE_TIME_FLAG)
      return sameKind && (wanted & SEQUENCE_MASK) <= (sequence & SEQUENCE_MASK)
    }
  }
}

const SCALAR_SIZE = 32

/** The maximum of `signEcdsa`: 70 bytes of DER and the hash type. */
const DUMMY_ECDSA: Bytes = concat(
  Uint8Array.of(0x30, 2 * SCALAR_SIZE + 4, 0x02, SCALAR_SIZE, 0x01),
  new Uint8Array(SCALAR_SIZE - 1),
  Uint8Array.of(0x02, SCALAR_SIZE, 0x01),
  new Uint8Array(SCALAR_SIZE - 1),
  Uint8Array.of(Sighash.ALL)
)

/** The longest signature. Its signer does not grind r, so a zero precedes r. */
const LONGEST_ECDSA: Bytes = concat(
  Uint8Array.of(0x30, 2 * SCALAR_SIZE + 5, 0x02, SCALAR_SIZE + 1, 0, 0x80),
  new Uint8Array(SCALAR_SIZE - 1),
  Uint8Array.of(0x02, SCALAR_SIZE, 0x01),
  new Uint8Array(SCALAR_SIZE - 1),
  Uint8Array.of(Sighash.ALL)
)

const DUMMY_SCHNORR: Bytes = new Uint8Array(64)

/** For size estimates: every key signs, and every input is spendable. */
export const DUMMY_CREATOR: SignatureCreator = {
  ecdsa: () => DUMMY_ECDSA,
  schnorr: () => DUMMY_SCHNORR,
  verify: () => true,
  allowsAfter: () => true,
  allowsOlder: () => true
}

/** For inputs that another program signs. */
export const LONGEST_CREATOR: SignatureCreator = { ...DUMMY_CREATOR, ecdsa: () => LONGEST_ECDSA }
