import { secp256k1 } from "@noble/curves/secp256k1.js"
import { HDKey, type Versions } from "@scure/bip32"
import { createHmac } from "node:crypto"
import { loadNativeCurve } from "../../consensus/signatureNative.ts"
import { type Bytes, concat } from "../../protocol/bytes.ts"
import type { ExtendedKey } from "../../protocol/extendedKey.ts"
import { hash160 } from "../../protocol/hash.ts"
import type { Network } from "../../protocol/networks.ts"
import { orNothing } from "../../protocol/orNothing.ts"
import { evenKey, tapTweak } from "../../protocol/taproot.ts"
import type { Purpose } from "./WalletDocument.ts"
import type { AddressType } from "./WalletKeys.ts"

/** BIP 32, and the paths of a wallet's own keys (BIP 44, 49, 84, 86; reference/protocol.md 9.1). */

export const HARDENED = 0x80000000

export const PURPOSE_OF: Readonly<Record<AddressType, Purpose>> = {
  legacy: 44,
  "p2sh-segwit": 49,
  bech32: 84,
  bech32m: 86
}

export const TYPE_OF: Readonly<Record<Purpose, AddressType>> = {
  44: "legacy",
  49: "p2sh-segwit",
  84: "bech32",
  86: "bech32m"
}

export const accountPath = (network: Network, purpose: Purpose): ReadonlyArray<number> => [
  HARDENED + purpose,
  HARDENED + network.coinType,
  HARDENED
]

/** Such as `/44h/7h/0h`. */
export const pathText = (path: ReadonlyArray<number>, hardened: "h" | "'" = "h"): string =>
  path.map((step) => step >= HARDENED ? `/${step - HARDENED}${hardened}` : `/${step}`).join("")

const MAX_DEPTH = 255

const versionsOf = (network: Network): Versions => ({
  private: network.extendedPrivate,
  public: network.extendedPublic
})

const FINGERPRINT_BYTES = 4

const fingerprintBytes = (fingerprint: number): Uint8Array => {
  const bytes = new Uint8Array(FINGERPRINT_BYTES)
  new DataView(bytes.buffer).setUint32(0, fingerprint)
  return bytes
}

const fingerprintNumber = (bytes: Bytes): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)

const toHdKey = (key: ExtendedKey): HDKey =>
  new HDKey({
    depth: key.depth,
    index: key.childNumber,
    parentFingerprint: fingerprintNumber(key.parentFingerprint),
    chainCode: key.chainCode,
    ...(key.kind === "private" ? { privateKey: key.key } : { publicKey: key.key })
  })

const fromHdKey = (key: HDKey): ExtendedKey => {
  const { chainCode, privateKey, publicKey } = key
  const bytes = privateKey ?? publicKey
  if (chainCode === null || bytes === null) throw new TypeError("a derived key is not whole")
  return {
    kind: privateKey === null ? "public" : "private",
    depth: key.depth,
    parentFingerprint: fingerprintBytes(key.parentFingerprint),
    childNumber: key.index,
    chainCode,
    key: bytes
  }
}

/** The master key of a seed of 16 to 64 bytes. */
export const masterKey = (network: Network, seed: Bytes): ExtendedKey => {
  const master = HDKey.fromMasterSeed(seed, versionsOf(network))
  return fromHdKey(master)
}

export const publicKeyOfExtended = (key: ExtendedKey): Bytes =>
  key.kind === "public" ? key.key : secp256k1.getPublicKey(key.key, true)

export const neutered = (key: ExtendedKey): ExtendedKey =>
  key.kind === "public" ? key : { ...key, kind: "public", key: publicKeyOfExtended(key) }

export const fingerprintOf = (publicKey: Bytes): Uint8Array => hash160(publicKey).slice(0, FINGERPRINT_BYTES)

const native = loadNativeCurve()

/** `point + scalar × G`, compressed; `undefined` if that is not a key, which practically never happens. */
const addScalar: (point: Bytes, scalar: Bytes) => Uint8Array | undefined = native === undefined
  ? (point, scalar) => {
    const { Point } = secp256k1
    return orNothing(() => Point.fromBytes(point).add(Point.BASE.multiply(Point.Fn.fromBytes(scalar))).toBytes(true))
  }
  : (point, scalar) =>
    orNothing(() => Uint8Array.from(native.publicKeyTweakAdd(point, scalar, true, new Uint8Array(33))))

/** `undefined` if there is none, or beyond the maximum depth. BIP 32, CKDpub. */
const publicChild = (parent: ExtendedKey, index: number): ExtendedKey | undefined => {
  if (parent.depth >= MAX_DEPTH) return undefined
  const digest = createHmac("sha512", parent.chainCode).update(concat(parent.key, fingerprintBytes(index))).digest()
  const key = addScalar(parent.key, digest.subarray(0, 32))
  return key === undefined ? undefined : {
    kind: "public",
    depth: parent.depth + 1,
    parentFingerprint: fingerprintOf(parent.key),
    childNumber: index,
    chainCode: Uint8Array.from(digest.subarray(32)),
    key
  }
}

/**
 * A hardened step from a public key throws. Public steps avoid the slow curve, because opening a wallet derives them.
 */
export const derivePath = (key: ExtendedKey, path: ReadonlyArray<number>): ExtendedKey => {
  let at = key
  for (const step of path) {
    const child = at.kind === "public" && step < HARDENED ? publicChild(at, step) : undefined
    at = child ?? fromHdKey(toHdKey(at).deriveChild(step))
  }
  return at
}

/**
 * The public key of an unhardened child, without chain code. Enough for addresses, and thirty times faster. BIP 32,
 * CKDpub.
 */
export const childPublicKey = (parent: ExtendedKey, index: number): Bytes => {
  if (index >= HARDENED) throw new RangeError("a hardened child needs the private key")
  const number = fingerprintBytes(index)
  const publicKey = publicKeyOfExtended(parent)
  const digest = createHmac("sha512", parent.chainCode).update(concat(publicKey, number)).digest()
  return addScalar(publicKey, digest.subarray(0, 32)) ?? publicKeyOfExtended(derivePath(parent, [index]))
}

/** Without chain codes. BIP 32, CKDpriv. */
export const hardenedChildren = (parent: ExtendedKey): (index: number) => Bytes => {
  const publicKey = publicKeyOfExtended(parent)
  const head = concat(Uint8Array.of(0), parent.key)
  return (index) => {
    const number = fingerprintBytes(HARDENED + index)
    const digest = createHmac("sha512", parent.chainCode).update(concat(head, number)).digest()
    return addScalar(publicKey, digest.subarray(0, 32)) ?? publicKeyOfExtended(derivePath(parent, [HARDENED + index]))
  }
}

/** The private key of an unhardened child; `publicKey` is the parent's. BIP 32, CKDpriv. */
export const childPrivateKey = (parent: ExtendedKey, publicKey: Bytes, index: number): Uint8Array => {
  if (index >= HARDENED) throw new RangeError("not for hardened children")
  const { Fn } = secp256k1.Point
  const digest = createHmac("sha512", parent.chainCode).update(concat(publicKey, fingerprintBytes(index))).digest()
  return Fn.toBytes(Fn.add(Fn.fromBytes(digest.subarray(0, 32)), Fn.fromBytes(parent.key)))
}

/** As `tapOutput`, with the fast curve. Both keys are x coordinates. */
export const taprootOutputKey = (internalKey: Bytes, merkleRoot?: Bytes): Uint8Array => {
  const output = addScalar(evenKey(internalKey), tapTweak({ internalKey, merkleRoot }))
  if (output === undefined) throw new RangeError("not the x of a public key")
  return output.subarray(1)
}
