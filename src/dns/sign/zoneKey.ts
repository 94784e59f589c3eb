import { createECDH, createHash, createPrivateKey, type KeyObject } from "node:crypto"
import { randomBytes } from "../../base/entropy.ts"
import { type Bytes, concat, fromBinaryString } from "../../protocol/bytes.ts"
import type { DnsRecord, ServerRecord } from "../records.ts"
import type { WireName } from "../wire/name.ts"
import { canonicalData } from "../wire/recordData.ts"

export type DnskeyRecord = Extract<ServerRecord, { readonly type: "DNSKEY" }>

export type DsRecord = Extract<DnsRecord, { readonly type: "DS" }>

/** ECDSA with P-256 and SHA-256 (RFC 6605), which every validator knows. */
export const ALGORITHM = 13

/** The digest of DS records: SHA-256 (RFC 4509). */
const DIGEST_SHA256 = 2

/** A key of the zone that is also its entry point (RFC 4034, section 2.1.1), and the bit that revokes it (RFC 5011). */
const ZONE_AND_ENTRY_POINT = 257
const REVOKE = 128

const CURVE = "prime256v1"

const PRIVATE_BYTES = 32

/** A key that signs the zone: one for all (CSK), the keys and the records. */
export interface ZoneKey {
  readonly created: number
  readonly private: KeyObject
  /** The point, 64 bytes. */
  readonly public: Bytes
}

/** The key of a secret of 32 bytes; `undefined` if it is not one of the curve. */
export const zoneKeyOf = (secret: Bytes, created: number): ZoneKey | undefined => {
  if (secret.length !== PRIVATE_BYTES) return undefined
  const curve = createECDH(CURVE)
  try {
    curve.setPrivateKey(secret)
  } catch {
    return undefined
  }
  const point = Uint8Array.from(curve.getPublicKey().subarray(1))
  const text = (bytes: Bytes): string => Buffer.from(bytes).toString("base64url")
  const jwk = { kty: "EC", crv: "P-256", d: text(secret), x: text(point.subarray(0, 32)), y: text(point.subarray(32)) }
  return { created, private: createPrivateKey({ key: jwk, format: "jwk" }), public: point }
}

/** A new secret, from the system's random numbers. One draw of 2^32 is not a key of the curve. */
export const newKeySecret = (): Uint8Array => {
  for (;;) {
    const secret = randomBytes(PRIVATE_BYTES)
    if (zoneKeyOf(secret, 0) !== undefined) return secret
  }
}

export const dnskeyOf = ({ public: key }: ZoneKey, isRevoked = false): DnskeyRecord => ({
  type: "DNSKEY",
  flags: ZONE_AND_ENTRY_POINT + (isRevoked ? REVOKE : 0),
  algorithm: ALGORITHM,
  key
})

/** RFC 4034, appendix B: a sum that tells most keys apart. A revoked key has another. */
export const keyTag = (key: DnskeyRecord): number => {
  let sum = 0
  for (const [i, byte] of canonicalData(key).entries()) sum += i % 2 === 0 ? byte << 8 : byte
  return sum + (sum >>> 16) & 0xffff
}

/** The DS record by which a validator knows the key (RFC 4034, section 5.1.4). */
export const dsOf = (owner: WireName, key: DnskeyRecord): DsRecord => ({
  type: "DS",
  keyTag: keyTag(key),
  algorithm: key.algorithm,
  digestType: DIGEST_SHA256,
  digest: Uint8Array.from(createHash("sha256").update(concat(fromBinaryString(owner), canonicalData(key))).digest())
})
