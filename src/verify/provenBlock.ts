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

/** The rules of the proof's network. */
export interface ProofRules {
  readonly params: ReaderParams
  /** A compact target that replaces the built-in floors. */
  readonly floor: number | undefined
}

export const proofBytes = (hex: string): Bytes => fromHex(hex) ?? EMPTY

const hashOf = (shown: string): Bytes => parseDisplayHash(shown) ?? new Uint8Array(32)

/** The claimed place of a header. */
interface HeaderPlace {
  readonly height: Height
  /** The time of an earlier header of its chain, whose floor still applies. */
  readonly after: UnixTime
}

/** The reason why a header cannot be in the chain at this height. */
const headerFault = (header: Header, height: Height, params: ReaderParams): string | undefined => {
  const { time, version } = header
  const misplaced = heightFault({ height, time }, params)
  if (misplaced !== undefined) return misplaced
  const isTooOld = isLegacyVersion(version)
    ? height >= params.legacyBlocksBefore
    : baseVersion(version) < leastBaseVersion(height, params)
  return isTooOld ? `the header at height ${height} has an old version` : undefined
}

/** Decodes a header and checks that its work meets the floor. */
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

/** Consecutive headers, from the header of an operation on. */
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

/** Size of an inner merkle node, which a transaction of this size could imitate. */
const NODE_SIZE = 64

export interface Leaf {
  readonly transaction: Transaction
  readonly branch: ReadonlyArray<string>
  readonly pos: number
}

/** Whether the merkle branch of a transaction leads to the root in a header. */
export const isBelow = ({ merkleRoot }: Header, { branch, pos, transaction: { strippedSize, txid } }: Leaf): boolean =>
  strippedSize !== NODE_SIZE && pos < 2 ** branch.length &&
  equal(merkleBranchRoot(txid, branch.map(hashOf), pos), merkleRoot)

type Claimed = Pick<NameProofOperation, "coinbase" | "height">

/** The fault of a coinbase: it is not in the block, or has another height. `undefined` without a coinbase. */
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

/** Whether the coinbase has the height, as it does since BIP 34. */
export const saysHeight = ({ coinbase, height }: Claimed, { activation }: ReaderParams): boolean =>
  coinbase !== undefined && height >= activation.bip34

/** The server's tip, with proven work. */
export interface ProvenTip {
  readonly height: Height
  readonly time: UnixTime
  readonly isHeightProven: boolean
}

/** Proves the last block of the server's chain. Throws `DecodeError`. */
export const proveTip = (tip: ProofTip, rules: ProofRules): ProvenTip | ProofFailure => {
  const { hash, height } = tip
  const header = provenHeader(tip.header, { height, after: 0 }, rules)
  if (isFailure(header)) return header
  if (displayHash(header.hash) !== hash) return { failed: "the tip has another hash" }
  const fault = coinbaseFault(tip, header, rules.params)
  if (fault !== undefined) return { failed: fault }
  return { height, time: header.time, isHeightProven: saysHeight(tip, rules.params) }
}
