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
import { type Codec, countBytes } from "../codec.ts"

export interface BlockMessage {
  readonly type: "block"
  readonly block: ProtocolBlock
  /** Replaces the block's bytes in `storedBlock` and `strippedBlock`. Never on received messages. */
  readonly payload?: ReadonlyArray<Bytes>
}

/** With witnesses if the block has them, except for `strippedBlock`. */
export const block: Codec<BlockMessage> = {
  decode: (reader) => ({ type: "block", block: readBlock(reader) }),
  encode: (message) => message.payload ?? [message.block.bytes]
}

export const storedBlock = (bytes: Bytes): BlockMessage => ({
  type: "block",
  get block() {
    return decodeBlock(bytes)
  },
  payload: [bytes]
})

export const strippedBlock = (block: ProtocolBlock): BlockMessage => ({
  type: "block",
  block,
  payload: withoutWitnesses(block)
})

/** The merged-mining proof stays complete, including the parent coinbase's witness (reference/protocol.md 2.4). */
export const withoutWitnesses = (block: ProtocolBlock): ReadonlyArray<Bytes> =>
  block.transactions.some(({ hasWitness }) => hasWitness)
    ? [
      encodeBlockHeader(block),
      countBytes(block.transactions.length),
      ...block.transactions.map((transaction) => transaction.strippedBytes())
    ]
    : [block.bytes]

export interface BlockStart {
  readonly type: "block" | "cmpctblock"
  readonly header: BlockHeader
  /** For a compact block, short ids and prefilled ones together. */
  readonly transactions: number
}

/** Throws `DecodeError`. */
export const peekBlock = (type: BlockStart["type"], payload: Bytes): BlockStart => {
  const reader = new Reader(payload)
  const header = readBlockHeader(reader)
  if (type === "cmpctblock") reader.skip(NONCE_SIZE, "nonce")
  return { type, header, transactions: reader.count("transactions", type === "block" ? 10 : 6) }
}

/** Bytes before the short ids of a compact block. */
const NONCE_SIZE = 8

/** Bytes of transactions decoded and hashed in one step: a few milliseconds. */
export const STEP = 0x10000

/**
 * Yields to other peers and computes the txids, a large part of the validation cost. Keeps no wtxid, which would take
 * 230 bytes of the heap while a block waits. Throws `DecodeError`.
 */
export function* readBlockInSteps(payload: Bytes): Generator<undefined, BlockMessage> {
  const reading = new BlockReading(new Reader(payload))
  for (;;) {
    const { block, read } = reading.step(STEP)
    for (const transaction of read) void transaction.txid
    if (block !== undefined) return { type: "block", block }
    yield
  }
}
