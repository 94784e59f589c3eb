import type { Auxpow } from "../protocol/auxpow.ts"
import { type Bytes, equal, reversed } from "../protocol/bytes.ts"
import { chainId } from "../protocol/header.ts"
import { merkleBranchRoot } from "../protocol/merkle.ts"
import type { ReaderParams } from "./readerParams.ts"

/** Longest branch from a block's hash to the root in the parent coinbase (consensus). */
export const MAX_CHAIN_BRANCH = 30

/** Without a marker, the root must begin at or before this offset of the parent coinbase's script (consensus). */
export const MAX_UNMARKED_OFFSET = 20

/** The marker before the root in the parent coinbase. */
const MARKER = Uint8Array.of(0xfa, 0xbe, 0x6d, 0x6d)

const HASH_SIZE = 32

/** -1 if there is none. */
const indexOf = (whole: Bytes, part: Bytes, from = 0): number => {
  const last = whole.length - part.length
  const first = part[0] ?? 0
  for (let at = whole.indexOf(first, from); at !== -1 && at <= last; at = whole.indexOf(first, at + 1)) {
    let length = 1
    while (length < part.length && whole[at + length] === part[length]) length++
    if (length === part.length) return at
  }
  return -1
}

const readU32 = (bytes: Bytes, at: number): number =>
  ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0

/**
 * The fixed slot of a chain among 2^height leaves, so that one proof cannot serve a chain twice (reference/protocol.md
 * 2.5). Exact up to height 30 despite 32-bit wrapping. Source: upstream `auxpow.cpp`, `getExpectedIndex`.
 */
export const expectedIndex = (
  { chain, height, nonce }: { readonly nonce: number; readonly chain: number; readonly height: number }
): number => {
  const mask = 2 ** height - 1
  const step = (value: number): number => (Math.imul(value, 1103515245) + 12345) & mask
  return step(step(nonce) + chain)
}

/** Returns the offset of the root, or the broken rule (rules A6 to A9). */
const findRoot = (script: Bytes, root: Bytes): number | string => {
  const marker = indexOf(script, MARKER)
  const at = indexOf(script, root)
  if (at === -1) return "Aux POW missing chain merkle root in parent coinbase"
  if (marker === -1) {
    return at <= MAX_UNMARKED_OFFSET
      ? at
      : "Aux POW chain merkle root must start in the first 20 bytes of the parent coinbase"
  }
  if (indexOf(script, MARKER, marker + 1) !== -1) return "Multiple merged mining headers in coinbase"
  return marker + MARKER.length === at ? at : "Merged mining header is not just before chain merkle root"
}

/** Rules A10 to A12. `rest` is the script after the root. */
const checkSlot = (rest: Bytes, auxpow: Auxpow, chain: number): string | undefined => {
  if (rest.length < 8) return "Aux POW missing chain merkle tree size and nonce in parent coinbase"
  const height = auxpow.chainBranch.length
  if (readU32(rest, 0) !== 2 ** height) return "Aux POW merkle branch size does not match parent coinbase"
  if (auxpow.chainIndex !== expectedIndex({ nonce: readU32(rest, 4), chain, height })) {
    return "Aux POW wrong index"
  }
  return undefined
}

/**
 * Rules A1 to A12 of reference/protocol.md 2.5, without the parent's work. Returns the error that the reference node
 * logs. The hash is in wire order; `chain` is the chain id in the block's own version. Source: upstream `auxpow.cpp`,
 * `CAuxPow::check`.
 */
export const checkAuxpow = (
  auxpow: Auxpow,
  { chain, hash }: { readonly hash: Bytes; readonly chain: number },
  { strictChainId }: ReaderParams
): string | undefined => {
  const { chainBranch, chainIndex, coinbase, coinbaseBranch, parent } = auxpow
  if (strictChainId && chainId(parent.version) === chain) return "Aux POW parent has our chain ID"
  if (chainBranch.length > MAX_CHAIN_BRANCH) return "Aux POW chain merkle branch too long"
  if (!equal(merkleBranchRoot(coinbase.txid, coinbaseBranch, 0), parent.merkleRoot)) {
    return "Aux POW merkle root incorrect"
  }
  const [input] = coinbase.inputs
  if (input === undefined) return "Aux POW coinbase has no inputs"
  const root = findRoot(input.scriptSig, reversed(merkleBranchRoot(hash, chainBranch, chainIndex)))
  return typeof root === "string" ? root : checkSlot(input.scriptSig.subarray(root + HASH_SIZE), auxpow, chain)
}
