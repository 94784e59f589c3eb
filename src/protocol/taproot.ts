import { secp256k1 } from "@noble/curves/secp256k1.js"
import { type Bytes, compare, EMPTY } from "./bytes.ts"
import { taggedHash } from "./hash.ts"
import { Writer } from "./Writer.ts"

/** How a taproot output commits to an internal key and a tree of scripts (BIP 341). Keys are 32-byte x coordinates. */

/** The point with an even y, as a compressed key. */
export const evenKey = (x: Bytes): Uint8Array => {
  const key = new Uint8Array(33)
  key[0] = 0x02
  key.set(x, 1)
  return key
}

export const tapLeafHash = (version: number, script: Bytes): Uint8Array =>
  taggedHash("TapLeaf", Uint8Array.of(version), new Writer(script.length + 5).varBytes(script).written())

/** The smaller side goes first. */
export const tapBranchHash = (a: Bytes, b: Bytes): Uint8Array =>
  compare(a, b) < 0 ? taggedHash("TapBranch", a, b) : taggedHash("TapBranch", b, a)

/** The root is empty for an output without scripts, as in BIP 86. */
interface Commitment {
  readonly internalKey: Bytes
  readonly merkleRoot?: Bytes | undefined
}

/** The scalar that commits an internal key to a tree. 32 bytes. */
export const tapTweak = ({ internalKey, merkleRoot = EMPTY }: Commitment): Uint8Array =>
  taggedHash("TapTweak", internalKey, merkleRoot)

/** A compressed key. Throws if the internal key is not on the curve. */
export const tapOutput = (commitment: Commitment): Uint8Array => {
  const { Point } = secp256k1
  const tweak = Point.Fn.fromBytes(tapTweak(commitment))
  return Point.fromBytes(evenKey(commitment.internalKey)).add(Point.BASE.multiply(tweak)).toBytes(true)
}
