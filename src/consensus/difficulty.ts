import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { ConsensusParams } from "./params.ts"

// Compact targets ("bits"), their work, and the required target of the next block (reference/protocol.md 3.1 to 3.4;
// upstream `pow.cpp`, `arith_uint256.cpp`, `chain.cpp`).

export interface HeaderPoint {
  readonly height: Height
  /** Seconds since 1970. */
  readonly time: number
  readonly bits: number
}

/** Returns the header at a height on the chain of the block in question, at most at its height. */
export type Ancestor = (height: Height) => HeaderPoint

/** A target that is negative, zero or too large for 256 bits is invalid. */
export interface CompactTarget {
  /** The low 256 bits. */
  readonly target: bigint
  readonly negative: boolean
  readonly overflow: boolean
}

const SIGN = 0x00800000
const MANTISSA = 0x007fffff
const MASK_256 = (1n << 256n) - 1n

/** The mantissa, shifted down if the size cuts off some of its bytes. */
const wordOf = (bits: number): number => {
  const size = bits >>> 24
  const mantissa = bits & MANTISSA
  return size <= 3 ? mantissa >> (8 * (3 - size)) : mantissa
}

/** In bytes. */
const shiftOf = (bits: number): number => Math.max((bits >>> 24) - 3, 0)

const overflows = (bits: number): boolean => {
  const [size, word] = [bits >>> 24, wordOf(bits)]
  return word !== 0 && (size > 34 || (word > 0xff && size > 33) || (word > 0xffff && size > 32))
}

/** Source: upstream `arith_uint256.cpp`, `SetCompact`. */
export const decodeCompact = (bits: number): CompactTarget => {
  const word = wordOf(bits)
  return {
    target: (BigInt(word) << BigInt(8 * shiftOf(bits))) & MASK_256,
    negative: word !== 0 && (bits & SIGN) !== 0,
    overflow: overflows(bits)
  }
}

/** Drops bits that do not fit. Source: upstream `GetCompact`. */
export const encodeCompact = (target: bigint): number => {
  let size = target === 0n ? 0 : Math.ceil(target.toString(16).length / 2)
  let mantissa = Number(size <= 3 ? target << BigInt(8 * (3 - size)) : target >> BigInt(8 * (size - 3)))
  // The top bit is the sign, so a mantissa that reaches it becomes one byte shorter.
  if ((mantissa & SIGN) !== 0) {
    mantissa >>= 8
    size++
  }
  return ((size << 24) | mantissa) >>> 0
}

/** `undefined` if negative, zero, too large or above the limit. */
export const targetOf = (bits: number, powLimit: bigint): bigint | undefined => {
  const { negative, overflow, target } = decodeCompact(bits)
  return negative || overflow || target === 0n || target > powLimit ? undefined : target
}

/** The expected number of hashes for a block with these bits: 2^256 / (target + 1). 0 for an invalid target. */
export const blockWork = (bits: number): bigint => {
  const { negative, overflow, target } = decodeCompact(bits)
  return negative || overflow || target === 0n ? 0n : (1n << 256n) / (target + 1n)
}

/**
 * 1 for bits `1d00ffff`. Rounds at each step as the reference node does, for the same 16 significant digits. Source:
 * upstream `rpc/blockchain.cpp`, `GetDifficulty`.
 */
export const difficultyOf = (bits: number): number => {
  const mantissa = bits & 0x00ffffff
  if (mantissa === 0) return 0
  let difficulty = 0xffff / mantissa
  let size = bits >>> 24
  for (; size < 29; size++) difficulty *= 256
  for (; size > 29; size--) difficulty /= 256
  return difficulty
}

/**
 * The hash is in wire order, and the target must be within the limit. Compares bytes because it runs for every header.
 */
export const meetsTarget = (hash: Bytes, bits: number, powLimit: bigint): boolean => {
  const word = wordOf(bits)
  const shift = shiftOf(bits)
  if (word === 0 || (bits & SIGN) !== 0 || overflows(bits)) return false
  // Exact as a double: a word has 23 bits. Comparing a double with a bigint is exact too.
  if (word * 2 ** (8 * shift) > powLimit) return false
  for (let i = 31; i > shift + 2; i--) if (hash[i] !== 0) return false
  const top = (hash[shift] ?? 0) | ((hash[shift + 1] ?? 0) << 8) | ((hash[shift + 2] ?? 0) << 16)
  if (top !== word) return top < word
  for (let i = shift - 1; i >= 0; i--) if (hash[i] !== 0) return false
  return true
}

/** The length is in seconds. */
export interface Period {
  readonly bits: number
  readonly span: number
}

/** Scaled by span / timespan and capped. */
const scaled = ({ powLimit, targetTimespan }: ConsensusParams, { bits, span }: Period): number => {
  const product = (decodeCompact(bits).target * BigInt(span)) & MASK_256
  const target = product / BigInt(targetTimespan)
  return encodeCompact(target > powLimit ? powLimit : target)
}

/** See reference/protocol.md 3.3. */
export const retarget = (params: ConsensusParams, { bits, span }: Period): number => {
  const [least, most] = [params.targetTimespan / 4, params.targetTimespan * 4]
  return scaled(params, { bits, span: Math.min(Math.max(span, least), most) })
}

const retargetAfter = (params: ConsensusParams, prev: HeaderPoint, ancestor: Ancestor): number => {
  if (params.noRetargeting) return prev.bits
  const { auxpowStartHeight, retargetInterval } = params
  // Since merged mining, the period begins one block earlier if there is one, which fixes the time warp.
  const whole = prev.height >= auxpowStartHeight && prev.height + 1 > retargetInterval
  const first = ancestor(prev.height - (whole ? retargetInterval : retargetInterval - 1))
  return retarget(params, { bits: prev.bits, span: prev.time - first.time })
}

/** The bits of the last block above the minimum difficulty, or of the first block of its period. */
const lastOrdinaryBits = (params: ConsensusParams, prev: HeaderPoint, ancestor: Ancestor): number => {
  const limit = encodeCompact(params.powLimit)
  let point = prev
  while (point.height % params.retargetInterval !== 0 && point.bits === limit) {
    point = ancestor(point.height - 1)
  }
  return point.bits
}

export interface NextHeader {
  readonly prev: HeaderPoint
  readonly newTime: number
  readonly ancestor: Ancestor
}

/** The required bits of the block after `prev` at `newTime` (rules D1 to D3). Source: `GetNextWorkRequired`. */
export const nextBits = (
  params: ConsensusParams,
  { ancestor, newTime, prev }: NextHeader
): number => {
  if ((prev.height + 1) % params.retargetInterval === 0) return retargetAfter(params, prev, ancestor)
  const { minDifficultySince } = params
  if (minDifficultySince === undefined || newTime <= minDifficultySince) return prev.bits
  // A time before the predecessor's gives the minimum too: an old unsigned subtraction, now consensus.
  if (newTime < prev.time || newTime > prev.time + 2 * params.targetSpacing) return encodeCompact(params.powLimit)
  return lastOrdinaryBits(params, prev, ancestor)
}

export interface BitsChange {
  readonly height: Height
  readonly oldBits: number
  readonly newBits: number
}

/**
 * For headers with unknown predecessors (reference/protocol.md 3.5). Always true on networks with a minimum-difficulty
 * rule. Source: upstream `pow.cpp`, `PermittedDifficultyTransition`.
 */
export const permittedTransition = (
  params: ConsensusParams,
  { height, newBits, oldBits }: BitsChange
): boolean => {
  if (params.minDifficultySince !== undefined) return true
  if (height % params.retargetInterval !== 0) return oldBits === newBits
  const target = decodeCompact(newBits).target
  const least = decodeCompact(scaled(params, { bits: oldBits, span: params.targetTimespan / 4 })).target
  const most = decodeCompact(scaled(params, { bits: oldBits, span: params.targetTimespan * 4 })).target
  return target >= least && target <= most
}
