import type { Block } from "../protocol/block.ts"
import { type Bytes, concat, displayHash, equal } from "../protocol/bytes.ts"
import { hash256 } from "../protocol/hash.ts"
import { type Height, txidKey } from "../protocol/keys.ts"
import { merkleRootOf } from "../protocol/merkle.ts"
import { NAME_TX_VERSION } from "../protocol/nameOperation.ts"
import { Op } from "../protocol/script.ts"
import { prevoutTxid, type Transaction } from "../protocol/transaction.ts"
import { checkProofOfWork } from "./header.ts"
import { type ConsensusParams, MAX_BLOCK_SIGOPS_COST, MAX_BLOCK_WEIGHT, WITNESS_SCALE_FACTOR } from "./params.ts"
import { type Reject, reject, rejectAs } from "./Reject.ts"
import { legacySigops } from "./sigops.ts"
import { checkTransaction, isFinal } from "./transaction.ts"

/** Maximum ids and names that a block may touch (consensus): once the number of locks of a Berkeley DB. */
export const MAX_LOCKS = 4500

/**
 * The size includes the merged-mining proof, which the hash does not cover: a block that would fit with another proof
 * must not be marked invalid. `excess` is in bytes.
 */
const tooLarge = ({ auxpow }: Block, excess: number, refusal: Reject): Reject =>
  auxpow !== undefined && excess <= auxpow.bytes.length ? { ...refusal, kind: "mutated" } : refusal

const checkMerkleRoot = ({ header, merkle }: Block): Reject | undefined => {
  if (!equal(merkle.root, header.merkleRoot)) return rejectAs("mutated", "bad-txnmrklroot", "hashMerkleRoot mismatch")
  return merkle.mutated ? rejectAs("mutated", "bad-txns-duplicate", "duplicate transaction") : undefined
}

const checkLength = (block: Block): Reject | undefined => {
  const count = block.transactions.length
  if (count === 0 || count * WITNESS_SCALE_FACTOR > MAX_BLOCK_WEIGHT) {
    return reject("bad-blk-length", "size limits failed")
  }
  const excess = block.strippedSize - MAX_BLOCK_WEIGHT / WITNESS_SCALE_FACTOR
  return excess > 0 ? tooLarge(block, excess, reject("bad-blk-length", "size limits failed")) : undefined
}

const countNames = (transactions: ReadonlyArray<Transaction>): number => {
  let names = 0
  for (const { version } of transactions) if (version === NAME_TX_VERSION) names++
  return names
}

/** See reference/protocol.md 5.4. Source: upstream `validation.cpp`, `CheckDbLockLimit`. */
const checkLocks = ({ transactions }: Block): Reject | undefined => {
  const names = countNames(transactions)
  let most = transactions.length + names
  for (const { inputs } of transactions) most += inputs.length
  // Nearly every block is far below the limit, even if all its ids differ.
  if (most <= MAX_LOCKS) return undefined
  const ids = new Set<string>()
  for (const transaction of transactions) {
    ids.add(transaction.txidKey)
    for (const { prevout } of transaction.inputs) ids.add(txidKey(prevoutTxid(prevout)))
  }
  return ids.size + names > MAX_LOCKS ? reject("bad-db-locks", "DB lock limit exceeded") : undefined
}

const checkCoinbases = ({ transactions }: Block): Reject | undefined => {
  if (transactions[0]?.isCoinbase !== true) return reject("bad-cb-missing", "first tx is not coinbase")
  for (let i = 1; i < transactions.length; i++) {
    if (transactions[i]?.isCoinbase === true) return reject("bad-cb-multiple", "more than one coinbase")
  }
  return undefined
}

const checkTransactions = ({ transactions }: Block): Reject | undefined => {
  for (const transaction of transactions) {
    const broken = checkTransaction(transaction)
    if (broken !== undefined) {
      return reject(broken.reason, `Transaction check failed (tx hash ${displayHash(transaction.txid)})`)
    }
  }
  let sigops = 0
  for (const transaction of transactions) sigops += legacySigops(transaction)
  return sigops * WITNESS_SCALE_FACTOR > MAX_BLOCK_SIGOPS_COST
    ? reject("bad-blk-sigops", "out-of-bounds SigOpCount")
    : undefined
}

/** What `checkBlock` checks after the proof of work. Block templates must pass it too. */
export const checkBlockBody = (block: Block): Reject | undefined =>
  checkMerkleRoot(block) ??
    checkLength(block) ??
    checkLocks(block) ??
    checkCoinbases(block) ??
    checkTransactions(block)

/**
 * The first list of reference/protocol.md 5.4, in its order. Does not justify marking the hash invalid, because the
 * hash does not cover all of these bytes. Source: upstream `validation.cpp`, `CheckBlock`.
 */
export const checkBlock = (block: Block, params: ConsensusParams): Reject | undefined =>
  checkProofOfWork(block, params) ?? checkBlockBody(block)

export interface BlockContext {
  readonly height: Height
  /** Median time past of the previous block. */
  readonly medianTimePast: number
  readonly params: ConsensusParams
}

/** The push of a height that must start a coinbase script (BIP 34). */
export const heightScript = (height: Height): Uint8Array => {
  if (height === 0) return Uint8Array.of(Op.OP_0)
  if (height <= 16) return Uint8Array.of(Op.OP_1 + height - 1)
  const bytes: Array<number> = []
  for (let rest = height; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256)
  // The top bit is the sign.
  if ((bytes[bytes.length - 1] ?? 0) >= 0x80) bytes.push(0)
  return Uint8Array.of(bytes.length, ...bytes)
}

const startsWith = (bytes: Bytes, start: Bytes): boolean =>
  bytes.length >= start.length && equal(bytes.subarray(0, start.length), start)

/** OP_RETURN, a push of 36 bytes, and the mark of a witness commitment (BIP 141). The hash follows. */
const COMMITMENT_HEAD = Uint8Array.of(Op.OP_RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed)
const COMMITMENT_SIZE = COMMITMENT_HEAD.length + 32

/** From the last matching output of the coinbase. */
export const witnessCommitment = (coinbase: Transaction): Bytes | undefined => {
  const output = coinbase.outputs.findLast(({ script }) =>
    script.length >= COMMITMENT_SIZE && startsWith(script, COMMITMENT_HEAD)
  )
  return output?.script.subarray(COMMITMENT_HEAD.length, COMMITMENT_SIZE)
}

/** From the wtxids (zeros for the coinbase) and the reserved value. */
export const computeWitnessCommitment = (transactions: ReadonlyArray<Transaction>, reserved: Bytes): Uint8Array => {
  const { root } = merkleRootOf(transactions.length, (i, row) => {
    if (i > 0) transactions[i]?.wtxidInto(row, 32 * i)
  })
  return hash256(concat(root, reserved))
}

/**
 * BIP 141. Without a commitment, no transaction may have a witness. Source: upstream `validation.cpp`,
 * `CheckWitnessMalleation`.
 */
export const checkWitnesses = ({ transactions }: Block, expectCommitment: boolean): Reject | undefined => {
  const [coinbase] = transactions
  const commitment = expectCommitment && coinbase !== undefined ? witnessCommitment(coinbase) : undefined
  if (commitment === undefined) {
    const detail = "CheckWitnessMalleation : unexpected witness data found"
    return transactions.some(({ hasWitness }) => hasWitness)
      ? rejectAs("mutated", "unexpected-witness", detail)
      : undefined
  }
  const [reserved, ...more] = coinbase?.inputs[0]?.witness ?? []
  if (reserved?.length !== 32 || more.length > 0) {
    const detail = "CheckWitnessMalleation : invalid witness reserved value size"
    return rejectAs("mutated", "bad-witness-nonce-size", detail)
  }
  return equal(computeWitnessCommitment(transactions, reserved), commitment)
    ? undefined
    : rejectAs("mutated", "bad-witness-merkle-match", "CheckWitnessMalleation : witness merkle commitment mismatch")
}

/**
 * The second list of reference/protocol.md 5.4, in its order, without coins. The block must have passed `checkBlock`
 * and must not be genesis. Source: upstream `validation.cpp`, `ContextualCheckBlock`.
 */
export const checkBlockContext = (block: Block, context: BlockContext): Reject | undefined => {
  const { height, medianTimePast, params: { activation } } = context
  const cutoff = height >= activation.csv ? medianTimePast : block.header.time
  for (const transaction of block.transactions) {
    if (!isFinal(transaction, height, cutoff)) return reject("bad-txns-nonfinal", "non-final transaction")
  }
  const coinbaseScript = block.transactions[0]?.inputs[0]?.scriptSig
  if (
    height >= activation.bip34 &&
    (coinbaseScript === undefined || !startsWith(coinbaseScript, heightScript(height)))
  ) return reject("bad-cb-height", "block height mismatch in coinbase")
  const broken = checkWitnesses(block, height >= activation.segwit)
  if (broken !== undefined) return broken
  const excess = block.weight - MAX_BLOCK_WEIGHT
  return excess > 0
    ? tooLarge(
      block,
      excess / WITNESS_SCALE_FACTOR,
      reject("bad-blk-weight", "ContextualCheckBlock : weight limit failed")
    )
    : undefined
}
