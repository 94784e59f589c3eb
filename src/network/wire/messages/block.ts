import {
  type Block as ProtocolBlock,
  type BlockHeader,
  BlockReading,
  decodeBlock,
  encodeBlockHeader,
  readBlock,
  readBlockHeader
} from "../../../protocol/block.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { Reader } from "../../../protocol/Reader.ts"
import type { Transaction } from "../../../protocol/transaction.ts"
import { type Codec, countBytes } from "../codec.ts"

export interface Block {
  readonly type: "block"
  readonly block: ProtocolBlock
  /** What travels in place of the block's own bytes: made by `storedBlock` and `strippedBlock`, never received. */
  readonly payload?: ReadonlyArray<Bytes>
}

/** With witnesses where the block has them, unless it is one of `strippedBlock`. */
export const block: Codec<Block> = {
  decode: (reader) => ({ type: "block", block: readBlock(reader) }),
  encode: (message) => message.payload ?? [message.block.bytes]
}

/** The message of a block that lies somewhere as it travels: it is taken apart only for those who look at it. */
export const storedBlock = (bytes: Bytes): Block => ({
  type: "block",
  get block() {
    return decodeBlock(bytes)
  },
  payload: [bytes]
})

/** The message for those who did not ask for witnesses. */
export const strippedBlock = (block: ProtocolBlock): Block => ({
  type: "block",
  block,
  payload: withoutWitnesses(block)
})

/**
 * The payload of `block` for a request without the witness flag, in parts. The merged-mining proof stays complete, its
 * parent coinbase's witness included (reference/protocol.md 2.4).
 */
export const withoutWitnesses = (block: ProtocolBlock): ReadonlyArray<Bytes> =>
  block.transactions.some(({ hasWitness }) => hasWitness)
    ? [
      encodeBlockHeader(block),
      countBytes(block.transactions.length),
      ...block.transactions.map((transaction) => transaction.strippedBytes())
    ]
    : [block.bytes]

/** What stands in front of the transactions of a block. */
export interface BlockStart {
  readonly header: BlockHeader
  /** Transactions that are to follow: of a compact block those that it names, and those that it has. */
  readonly transactions: number
}

/**
 * The header with its proof at the start of the payload of `block` or `cmpctblock`, and how many transactions follow,
 * without a look at them: enough to judge it before they are taken apart. Throws `DecodeError`.
 */
export const peekBlock = (command: "block" | "cmpctblock", payload: Bytes): BlockStart => {
  const reader = new Reader(payload)
  const header = readBlockHeader(reader)
  if (command === "cmpctblock") reader.skip(NONCE_SIZE, "nonce")
  return { header, transactions: reader.count("transactions", command === "block" ? 10 : 6) }
}

/** Bytes in front of the short ids of a compact block. */
const NONCE_SIZE = 8

/** Bytes of transactions that are read, and hashed, in one step: a few milliseconds. */
export const STEP = 0x10000

/** Has a transaction know its hashes. */
export const hashOnce = (transaction: Transaction): void => {
  void transaction.txid
  void transaction.wtxid
}

/**
 * Reads the payload of `block` step by step: yields where others may have a turn. Its transactions have their hashes then,
 * which are most of what it costs to judge it. Throws `DecodeError`.
 */
export function* readBlockInSteps(payload: Bytes): Generator<undefined, Block> {
  const reading = new BlockReading(new Reader(payload))
  for (;;) {
    const { block, read } = reading.step(STEP)
    for (const transaction of read) hashOnce(transaction)
    if (block !== undefined) return { type: "block", block }
    yield
  }
}
