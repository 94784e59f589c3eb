import { heightScript } from "../consensus/block.ts"
import { decodeCompact } from "../consensus/difficulty.ts"
import { checkProofOfWork, leastBaseVersion } from "../consensus/header.ts"
import type { ReaderParams } from "../consensus/readerParams.ts"
import { readBlockHeader } from "../protocol/block.ts"
import { type Bytes, displayHash, EMPTY, equal, fromHex, parseDisplayHash } from "../protocol/bytes.ts"
import { baseVersion, type Header, isLegacyVersion } from "../protocol/header.ts"
import type { Height, UnixTime } from "../protocol/keys.ts"
import { merkleBranchRoot } from "../protocol/merkle.ts"
import { Reader } from "../protocol/Reader.ts"
import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"
import { heightFault } from "./clockRule.ts"
import { floorAt } from "./floor.ts"
import { isFailure, type NameProofOperation, type ProofFailure, type ProofTip } from "./nameProof.ts"

/** The rules of the chain that a proof is about. */
export interface ProofRules {
  readonly params: ReaderParams
  /** A compact target that replaces the floors of the package. */
  readonly floor: number | undefined
}

export const proofBytes = (hex: string): Bytes => fromHex(hex) ?? EMPTY

const hashOf = (shown: string): Bytes => parseDisplayHash(shown) ?? new Uint8Array(32)

/** Where a header is, as the proof says. */
interface HeaderPlace {
  readonly height: Height
  /** The time of an earlier header of its chain: the floor never gets lower again. */
  readonly after: UnixTime
}

/** Why a header is not one of our chain at this height. */
const headerFault = (header: Header, height: Height, params: ReaderParams): string | undefined => {
  const { time, version } = header
  const misplaced = heightFault({ height, time }, params)
  if (misplaced !== undefined) return misplaced
  const isTooOld = isLegacyVersion(version)
    ? height >= params.legacyBlocksBefore
    : baseVersion(version) < leastBaseVersion(height, params)
  return isTooOld ? `the header at height ${height} has an old version` : undefined
}

/** A header with its proof, whose work is above the floor. */
const provenHeader = (
  hex: string,
  { after, height }: HeaderPlace,
  { floor, params }: ProofRules
): Header | ProofFailure => {
  const reader = new Reader(proofBytes(hex))
  const read = readBlockHeader(reader)
  reader.end("header")
  const { header } = read
  const broken = checkProofOfWork(read, params)
  if (broken !== undefined) {
    return { failed: `the header at height ${height} has no proof of work: ${broken.detail ?? ""}` }
  }
  const fault = headerFault(header, height, params)
  if (fault !== undefined) return { failed: fault }
  const least = floor === undefined ? floorAt(Math.max(header.time, after), params) : decodeCompact(floor).target
  return decodeCompact(header.bits).target > least
    ? { failed: `the header at height ${height} has too little work` }
    : header
}

/** Headers that follow each other, from that of an operation on. */
export const provenHeaders = (
  { headers, height }: NameProofOperation,
  rules: ProofRules
): ReadonlyArray<Header> | ProofFailure => {
  const chain: Array<Header> = []
  for (const hex of headers) {
    const header = provenHeader(hex, { height: height + chain.length, after: chain[0]?.time ?? 0 }, rules)
    if (isFailure(header)) return header
    const before = chain.at(-1)
    if (before !== undefined && !equal(header.prevHash, before.hash)) {
      return { failed: `the header at height ${height + chain.length} does not follow the one before` }
    }
    chain.push(header)
  }
  return chain
}

/** An inner node of a merkle tree has this size: read as a transaction, it would be in the block. */
const NODE_SIZE = 64

export interface Leaf {
  readonly transaction: Transaction
  readonly branch: ReadonlyArray<string>
  readonly pos: number
}

export const isBelow = ({ merkleRoot }: Header, { branch, pos, transaction: { strippedSize, txid } }: Leaf): boolean =>
  strippedSize !== NODE_SIZE && pos < 2 ** branch.length &&
  equal(merkleBranchRoot(txid, branch.map(hashOf), pos), merkleRoot)

type Claimed = Pick<NameProofOperation, "coinbase" | "height">

/** Why the coinbase does not prove the height. */
export const coinbaseFault = (
  { coinbase, height }: Claimed,
  header: Header,
  { activation }: ReaderParams
): string | undefined => {
  if (coinbase === undefined) return undefined
  const transaction = decodeTransaction(proofBytes(coinbase.tx))
  if (!transaction.isCoinbase || !isBelow(header, { branch: coinbase.branch, pos: 0, transaction })) {
    return "the coinbase is not in the block"
  }
  const script = transaction.inputs[0]?.scriptSig ?? EMPTY
  const expected = heightScript(height)
  return height < activation.bip34 || equal(script.subarray(0, expected.length), expected)
    ? undefined
    : `the block is not at height ${height}`
}

/** Whether the block says its height. Older coinbases do not. */
export const saysHeight = ({ coinbase, height }: Claimed, { activation }: ReaderParams): boolean =>
  coinbase !== undefined && height >= activation.bip34

/** The tip of the server, a block with work. */
export interface ProvenTip {
  readonly height: Height
  readonly time: UnixTime
  readonly isHeightProven: boolean
}

/** The last block of the server's chain. Throws `DecodeError`. */
export const proveTip = (tip: ProofTip, rules: ProofRules): ProvenTip | ProofFailure => {
  const { hash, height } = tip
  const header = provenHeader(tip.header, { height, after: 0 }, rules)
  if (isFailure(header)) return header
  if (displayHash(header.hash) !== hash) return { failed: "the tip has another hash" }
  const fault = coinbaseFault(tip, header, rules.params)
  if (fault !== undefined) return { failed: fault }
  return { height, time: header.time, isHeightProven: saysHeight(tip, rules.params) }
}
