import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { computeWitnessCommitment, heightScript } from "../../consensus/block.ts"
import { type Ancestor, nextBits } from "../../consensus/difficulty.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { MAX_TIMEWARP } from "../../consensus/readerParams.ts"
import { blockSubsidy } from "../../consensus/subsidy.ts"
import type { Coin } from "../../consensus/view.ts"
import { type Block, makeBlock } from "../../protocol/block.ts"
import { type Bytes, concat } from "../../protocol/bytes.ts"
import { AUXPOW_FLAG, type Header, makeHeader } from "../../protocol/header.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { merkleRoot } from "../../protocol/merkle.ts"
import { Op } from "../../protocol/script.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../protocol/transaction.ts"
import type { MempoolChunk } from "../Mempool.ts"
import { BLOCK_LIMITS, type BlockLimits, NOTHING_SELECTED, selectChunks, type Selection } from "./selectChunks.ts"

/** Blocks to be mined on top of the tip (upstream `node/miner.cpp`, `CreateNewBlock`). */

/** The position of a block, and the time of its making. */
export interface NextBlock {
  readonly params: ConsensusParams
  readonly tip: HeaderInfo
  /** An ancestor of the tip, or the tip itself. */
  readonly ancestor: Ancestor
  /** Seconds since 1970. */
  readonly now: number
}

export interface Outline {
  readonly height: number
  /** The earliest allowed time of the block, seconds since 1970. */
  readonly minTime: number
  readonly time: number
  readonly bits: number
}

export interface BlockTemplate extends Outline {
  readonly prevHash: Bytes
  /** Without the merged-mining flag. */
  readonly version: number
  /** All transactions, the coinbase first. */
  readonly transactions: ReadonlyArray<Transaction>
  readonly coinbase: Transaction
  readonly selection: Selection
}

/** Base version of this node's blocks. */
const BASE_VERSION = 4

/** Sequence that keeps the lock time in force. */
const SEQUENCE_NOT_FINAL = 0xfffffffe

/** OP_RETURN, a push of 36 bytes, and the mark of a witness commitment (BIP 141); the hash follows. */
const COMMITMENT_HEAD = Uint8Array.of(Op.OP_RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed)

const NULL_OUTPOINT = outpoint(new Uint8Array(32), 0xffffffff)

/** The witness of a coinbase's only input, for the witness commitment (BIP 141). */
const RESERVED_VALUE: Bytes = new Uint8Array(32)

/** Height, time and target of the block after the tip. Its time obeys BIP 94 on all networks. Source: `UpdateTime`. */
export const outlineNext = ({ ancestor, now, params, tip }: NextBlock): Outline => {
  const height = tip.height + 1
  const { bits, time: before } = tip.header
  const afterMedian = tip.medianTimePast + 1
  const minTime = height % params.retargetInterval === 0 ? Math.max(afterMedian, before - MAX_TIMEWARP) : afterMedian
  const time = Math.max(minTime, now)
  return {
    height,
    minTime,
    time,
    bits: nextBits(params, { prev: { height: tip.height, time: before, bits }, newTime: time, ancestor })
  }
}

/** The script of the output that commits to all witnesses. */
export const commitmentScript = (transactions: ReadonlyArray<Transaction>): Uint8Array =>
  concat(COMMITMENT_HEAD, computeWitnessCommitment(transactions, RESERVED_VALUE))

const makeCoinbase = (
  others: ReadonlyArray<Transaction>,
  { height, params, reward }: {
    readonly height: number
    readonly params: ConsensusParams
    readonly reward: { readonly value: number; readonly script: Bytes }
  }
): Transaction => {
  const bare = makeTransaction({
    version: 1,
    inputs: [{
      prevout: NULL_OUTPOINT,
      // Heights up to 16 are a single byte, too short for a coinbase script.
      scriptSig: concat(heightScript(height), Uint8Array.of(Op.OP_0)),
      sequence: SEQUENCE_NOT_FINAL,
      witness: height >= params.activation.segwit ? [RESERVED_VALUE] : NO_WITNESS
    }],
    outputs: [reward],
    lockTime: height - 1
  })
  // The commitment counts the coinbase's own id as zeros, so it can precede the final coinbase.
  const commitment = { value: 0, script: commitmentScript([bare, ...others]) }
  const { inputs, lockTime, version } = bare
  return makeTransaction({ version, inputs, lockTime, outputs: [reward, commitment] })
}

/** The other transactions of a template, and what its coinbase pays to. */
interface Filling {
  readonly others: ReadonlyArray<Transaction>
  readonly selection: Selection
  readonly scriptPubKey: Bytes
  /** Base version. */
  readonly base?: number | undefined
}

const makeTemplate = (
  next: NextBlock,
  { base = BASE_VERSION, others, scriptPubKey, selection }: Filling
): BlockTemplate => {
  const { params, tip } = next
  const outline = outlineNext(next)
  const { height } = outline
  const reward = { value: blockSubsidy(height, params) + selection.fees, script: scriptPubKey }
  const coinbase = makeCoinbase(others, { height, params, reward })
  return {
    ...outline,
    prevHash: tip.hash,
    version: 0x10000 * params.auxpowChainId + base,
    transactions: [coinbase, ...others],
    coinbase,
    selection
  }
}

export interface PoolSource {
  /** A confirmed coin. */
  readonly coin: (outpoint: OutpointKey) => Coin | undefined
  readonly chunks: Iterable<MempoolChunk>
  readonly scriptPubKey: Bytes
  readonly limits?: BlockLimits
}

/** Fills a block from the chunks of the pool, best first. Throws what `coin` throws. */
export const assembleBlock = (
  next: NextBlock,
  { chunks, coin, limits = BLOCK_LIMITS, scriptPubKey }: PoolSource
): BlockTemplate => {
  const { height, medianTimePast } = next.tip
  const selection = selectChunks(chunks, { height: height + 1, medianTimePast, coin }, limits)
  const others = selection.entries.map(({ transaction }) => transaction)
  return makeTemplate(next, { others, selection, scriptPubKey, base: limits.version })
}

/** A block of exactly these transactions, whose fees are burnt as in upstream's `generateblock`. */
export const blockOfTransactions = (
  next: NextBlock,
  transactions: ReadonlyArray<Transaction>,
  scriptPubKey: Bytes
): BlockTemplate => makeTemplate(next, { others: transactions, selection: NOTHING_SELECTED, scriptPubKey })

/** The header of a template with nonce 0, to be mined by itself or by merged mining. */
export const templateHeader = (template: BlockTemplate, merged: boolean): Header =>
  makeHeader({
    version: merged ? template.version | AUXPOW_FLAG : template.version,
    prevHash: template.prevHash,
    merkleRoot: merkleRoot(template.transactions.map(({ txid }) => txid)).root,
    time: template.time,
    bits: template.bits,
    nonce: 0
  })

export const unminedBlock = (template: BlockTemplate): Block =>
  makeBlock({ header: templateHeader(template, false), auxpow: undefined }, template.transactions)
