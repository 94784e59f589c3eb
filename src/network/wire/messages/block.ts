import {
  type Block as ProtocolBlock,
  type BlockHeader,
  decodeBlock,
  encodeBlockHeader,
  readBlock,
  readBlockHeader
} from "../../../protocol/block.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { Reader } from "../../../protocol/Reader.ts"
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
 * parent coinbase's witness included (protocol.md 2.4).
 */
export const withoutWitnesses = (block: ProtocolBlock): ReadonlyArray<Bytes> =>
  block.transactions.some(({ hasWitness }) => hasWitness)
    ? [
      encodeBlockHeader(block),
      countBytes(block.transactions.length),
      ...block.transactions.map((transaction) => transaction.strippedBytes())
    ]
    : [block.bytes]

/**
 * The header with its proof at the start of the payload of `block` or `cmpctblock`, without a look at the rest: enough
 * to judge it before the transactions are taken apart. Throws `DecodeError`.
 */
export const peekHeader = (payload: Bytes): BlockHeader => readBlockHeader(new Reader(payload))
