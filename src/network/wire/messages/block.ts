import { type Block as ProtocolBlock, encodeBlockHeader, readBlock } from "../../../protocol/block.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { type Header, readHeader } from "../../../protocol/header.ts"
import { Reader } from "../../../protocol/Reader.ts"
import { type Codec, countBytes } from "../codec.ts"

export interface Block {
  readonly type: "block"
  readonly block: ProtocolBlock
}

/** With witnesses where the block has them: `withoutWitnesses` is the payload for those who did not ask for them. */
export const block: Codec<Block> = {
  decode: (reader) => ({ type: "block", block: readBlock(reader) }),
  encode: ({ block }) => [block.bytes]
}

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
 * The header at the start of the payload of `block` or `cmpctblock`, without a look at the rest: enough to see whether
 * anybody asked for it, before it is taken apart. Throws `DecodeError`.
 */
export const peekHeader = (payload: Bytes): Header => readHeader(new Reader(payload))
