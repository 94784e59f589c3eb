import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import { FastCheck } from "effect"
import { type Bytes, concat } from "../../src/protocol/bytes.ts"

/** Secret keys: any number below the order of the curve, and those at its ends. */
export const secretKeys: FastCheck.Arbitrary<Uint8Array> = FastCheck.bigInt({
  min: 1n,
  max: secp256k1.Point.Fn.ORDER - 1n
}).map((number) => secp256k1.Point.Fn.toBytes(number))

/** 32 bytes of any content. */
export const hashes: FastCheck.Arbitrary<Uint8Array> = FastCheck.uint8Array({ minLength: 32, maxLength: 32 })

export const pubkeyOf = (secret: Bytes, compressed = true): Uint8Array => secp256k1.getPublicKey(secret, compressed)

/** An uncompressed key whose first byte holds the parity of its y. */
export const hybridOf = (secret: Bytes): Uint8Array => {
  const key = pubkeyOf(secret, false)
  key[0] = 0x06 | ((key[64] ?? 0) & 1)
  return key
}

/** A DER signature with a low s, without a hash type. */
export const signDer = (hash: Bytes, secret: Bytes): Uint8Array =>
  secp256k1.sign(hash, secret, { prehash: false, format: "der" })

/** An ECDSA signature with its hash type, as scripts take it. */
export const signEcdsa = (hash: Bytes, secret: Bytes, hashType = 1): Uint8Array =>
  concat(signDer(hash, secret), Uint8Array.of(hashType))

/** A BIP 340 signature. */
export const signSchnorr = (hash: Bytes, secret: Bytes): Uint8Array => schnorr.sign(hash, secret, new Uint8Array(32))

/** The x of a secret's public key. */
export const xOf = (secret: Bytes): Uint8Array => schnorr.getPublicKey(secret)

/** A number in DER, in its shortest form. */
export const derInteger = (number: Bytes): Uint8Array => {
  let start = 0
  while (start < number.length - 1 && number[start] === 0) start++
  const digits = number.subarray(start)
  const padded = (digits[0] ?? 0) >= 0x80 ? concat(Uint8Array.of(0), digits) : digits
  return concat(Uint8Array.of(0x02, padded.length), padded)
}

/** A DER signature from r and s, of 32 bytes each. */
export const derOf = (compact: Bytes): Uint8Array => {
  const body = concat(derInteger(compact.subarray(0, 32)), derInteger(compact.subarray(32)))
  return concat(Uint8Array.of(0x30, body.length), body)
}
