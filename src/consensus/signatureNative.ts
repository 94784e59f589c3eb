import type { Bytes } from "../protocol/bytes.ts"
import { taggedHash } from "../protocol/hash.ts"
import { evenKey } from "../protocol/taproot.ts"
import { isScalar } from "./der.ts"
import { nobleChecks, type SignatureChecks } from "./signatureNoble.ts"

/** The functions of libsecp256k1 that we use, as bound by the package `secp256k1` 5. They throw on unparsable bytes. */
export interface NativeCurve {
  readonly ecdsaVerify: (compact: Uint8Array, message: Uint8Array, pubkey: Uint8Array) => boolean
  // positional: the package sets the parameters
  readonly ecdsaRecover: (
    compact: Uint8Array,
    recoveryId: number,
    message: Uint8Array,
    compressed: boolean,
    output: Uint8Array
  ) => Uint8Array
  // positional: the package sets the parameters
  readonly publicKeyTweakAdd: (
    pubkey: Uint8Array,
    tweak: Uint8Array,
    compressed: boolean,
    output: Uint8Array
  ) => Uint8Array
}

const isNativeCurve = (value: unknown): value is NativeCurve =>
  typeof value === "object" && value !== null &&
  "ecdsaVerify" in value && typeof value.ecdsaVerify === "function" &&
  "ecdsaRecover" in value && typeof value.ecdsaRecover === "function" &&
  "publicKeyTweakAdd" in value && typeof value.publicKeyTweakAdd === "function"

interface ModuleHost {
  readonly process?: {
    readonly getBuiltinModule?: (id: string) => { createRequire(from: string): (id: string) => unknown } | undefined
  }
}

const requireHere = (id: string): unknown => {
  const host: ModuleHost = globalThis
  return host.process?.getBuiltinModule?.("node:module")?.createRequire(import.meta.url)(id)
}

/**
 * In the package `secp256k1` if installed, else beside our bundles. Its main entry would fall back to JavaScript that
 * is slower than noble.
 */
const PLACES = ["secp256k1/bindings.js", "../native/secp256k1/index.cjs"]

/** Loads the native build; `undefined` if there is none for this platform, or outside of Node. */
export const loadNativeCurve = (load: (id: string) => unknown = requireHere): NativeCurve | undefined => {
  for (const place of PLACES) {
    try {
      const curve = load(place)
      if (isNativeCurve(curve)) return curve
    } catch {
    }
  }
  return undefined
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const toNumber = (bytes: Bytes): bigint => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32)
  const high = view.getBigUint64(0) << 64n | view.getBigUint64(8)
  return high << 128n | view.getBigUint64(16) << 64n | view.getBigUint64(24)
}

const writeNumber = (view: DataView, offset: number, value: bigint): void => {
  view.setBigUint64(offset, value >> 192n)
  view.setBigUint64(offset + 8, value >> 128n & 0xffffffffffffffffn)
  view.setBigUint64(offset + 16, value >> 64n & 0xffffffffffffffffn)
  view.setBigUint64(offset + 24, value & 0xffffffffffffffffn)
}

const hasX = (compressed: Bytes, x: Bytes): boolean => {
  for (let i = 0; i < 32; i++) if (compressed[i + 1] !== x[i]) return false
  return true
}

/**
 * The package does not bind its Schnorr module, but recovering an ECDSA key computes the same: Q = r⁻¹(s·X - m·G),
 * where X is the point with x = r. With r = x(P), s = -e·r and m = -z·r, for a Schnorr signature (R, z) by P with
 * challenge e, that is Q = z·G - e·P.
 */
export const nativeChecks = (curve: NativeCurve): SignatureChecks => {
  const point = new Uint8Array(33)
  const recovery = new Uint8Array(64)
  const recoveryView = new DataView(recovery.buffer)
  const message32 = new Uint8Array(32)
  const messageView = new DataView(message32.buffer)

  return {
    ecdsa: (compact, hash, pubkey) => {
      try {
        return curve.ecdsaVerify(compact, hash, pubkey)
      } catch {
        // The key is not a point of the curve.
        return false
      }
    },

    schnorr: (signature, message, pubkey) => {
      const nonce = signature.subarray(0, 32)
      const z = toNumber(signature.subarray(32))
      if (z >= ORDER) return false
      const challenge = toNumber(taggedHash("BIP0340/challenge", nonce, pubkey, message)) % ORDER
      // Recovery refuses these values or reads them differently, although they may be valid here.
      if (z === 0n || challenge === 0n || !isScalar(pubkey, 0)) return nobleChecks.schnorr(signature, message, pubkey)
      const x = toNumber(pubkey)
      recovery.set(pubkey)
      writeNumber(recoveryView, 32, (ORDER - challenge) * x % ORDER)
      writeNumber(messageView, 0, (ORDER - z) * x % ORDER)
      try {
        curve.ecdsaRecover(recovery, 0, message32, true, point)
      } catch {
        // P is not a point of the curve, or the sum is the point at infinity.
        return false
      }
      return point[0] === 0x02 && hasX(point, nonce)
    },

    tweak: ({ internal, odd, output, tweak }) => {
      try {
        curve.publicKeyTweakAdd(evenKey(internal), tweak, true, point)
      } catch {
        // The tweak is not below the order, x belongs to no point, or the sum is the point at infinity.
        return false
      }
      return point[0] === (odd ? 0x03 : 0x02) && hasX(point, output)
    }
  }
}
