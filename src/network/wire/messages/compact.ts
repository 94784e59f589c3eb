import { MAX_LOCKS } from "../../../consensus/block.ts"
import { type BlockHeader, encodeBlockHeader, readBlockHeader } from "../../../protocol/block.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { Reader } from "../../../protocol/Reader.ts"
import { readTransaction, type Transaction } from "../../../protocol/transaction.ts"
import { Writer } from "../../../protocol/Writer.ts"
import { type Codec, codec, countBytes, type CountLimit, ProtocolViolation, readList } from "../codec.ts"
import { STEP } from "./block.ts"

/** BIP 152, version 2: short ids are of wtxids. Headers include their merged-mining proofs. */

/** `sendcmpct` with another version has no effect. */
export const COMPACT_VERSION = 2n

/** 16 bits (protocol): upstream `blockencodings.h`. */
const MAX_INDEX = 0xffff

/** Maximum transactions of a block. As upstream, an index beyond the last one is misbehaviour. */
const MOST_INDEXES: CountLimit = { most: MAX_LOCKS, consequence: "misbehaving" }

const SHORT_ID_SIZE = 6

/** The smallest transaction: version, two empty lists, lock time. */
const SMALLEST_TRANSACTION = 10

export interface SendCmpct {
  readonly type: "sendcmpct"
  /** Whether new blocks may arrive as `cmpctblock` without an announcement. */
  readonly highBandwidth: boolean
  readonly version: bigint
}

export const sendcmpct = codec<SendCmpct>(
  (reader) => {
    const announce = reader.u8("announce")
    const version = reader.u64("version")
    if (announce > 1) {
      const reason = `${announce} is neither 0 nor 1`
      throw new ProtocolViolation("misbehaving", { field: "announce", offset: reader.offset, reason })
    }
    return { type: "sendcmpct", highBandwidth: announce === 1, version }
  },
  (writer, { highBandwidth, version }) => writer.u8(highBandwidth ? 1 : 0).u64(version)
)

export interface PrefilledTransaction {
  readonly index: number
  readonly transaction: Transaction
}

export interface CmpctBlock {
  readonly type: "cmpctblock"
  readonly header: BlockHeader
  readonly nonce: bigint
  /** 48-bit numbers, in block order without the prefilled transactions. */
  readonly shortIds: ReadonlyArray<number>
  /** In block order. On the wire, an index is relative to the previous one. */
  readonly prefilled: ReadonlyArray<PrefilledTransaction>
}

const readShortIds = (reader: Reader): ReadonlyArray<number> => {
  const count = reader.count("short ids", SHORT_ID_SIZE)
  if (count > MAX_LOCKS) {
    reader.fail({ field: "short ids", reason: `${count} are more than the transactions that a block may have` })
  }
  const ids = new Array<number>(count)
  for (let i = 0; i < count; i++) ids[i] = reader.u32("short id") + reader.u16("short id") * 0x100000000
  return ids
}

/** @param most maximum number of entries; more fail before any is read. */
const readPrefilled = (reader: Reader, most: number): ReadonlyArray<PrefilledTransaction> => {
  const start = reader.offset
  const count = reader.count("prefilled transactions", 1 + SMALLEST_TRANSACTION)
  if (count > most) reader.fail({ field: "transactions", reason: `${count - most} more than a block may have` })
  reader.offset = start
  let next = 0
  return readList(reader, { field: "prefilled transactions", smallest: 1 + SMALLEST_TRANSACTION }, () => {
    const index = next + reader.compactSize("index", MAX_INDEX)
    next = index + 1
    return { index, transaction: readTransaction(reader) }
  })
}

const readCmpctBlock = (reader: Reader): CmpctBlock => {
  const header = readBlockHeader(reader)
  const nonce = reader.u64("nonce")
  const shortIds = readShortIds(reader)
  const prefilled = readPrefilled(reader, MAX_LOCKS - shortIds.length)
  return { type: "cmpctblock", header, nonce, shortIds, prefilled }
}

const writeShortIds = (writer: Writer, shortIds: ReadonlyArray<number>): void => {
  writer.compactSize(shortIds.length)
  for (const id of shortIds) writer.u32(id % 0x100000000).u16(Math.floor(id / 0x100000000))
}

export const cmpctblock: Codec<CmpctBlock> = {
  decode: readCmpctBlock,
  encode: ({ header, nonce, prefilled, shortIds }) => {
    const ids = new Writer(32 + SHORT_ID_SIZE * shortIds.length).u64(nonce)
    writeShortIds(ids, shortIds)
    const parts: Array<Bytes> = [encodeBlockHeader(header), ids.compactSize(prefilled.length).written()]
    let next = 0
    for (const { index, transaction } of prefilled) {
      parts.push(countBytes(index - next), transaction.bytes)
      next = index + 1
    }
    return parts
  }
}

export interface GetBlockTxn {
  readonly type: "getblocktxn"
  readonly hash: Bytes
  /** Ascending. On the wire, each is relative to the previous one. */
  readonly indexes: ReadonlyArray<number>
}

export const getblocktxn = codec<GetBlockTxn>(
  (reader) => {
    const hash = reader.bytes(32, "block hash")
    let next = 0
    const indexes = readList(reader, { field: "indexes", smallest: 1, limit: MOST_INDEXES }, () => {
      const index = next + reader.compactSize("index")
      if (index > MAX_INDEX) reader.fail({ field: "index", reason: `${index} is above the limit of ${MAX_INDEX}` })
      next = index + 1
      return index
    })
    return { type: "getblocktxn", hash, indexes }
  },
  (writer, { hash, indexes }) => {
    writer.bytes(hash).compactSize(indexes.length)
    let next = 0
    for (const index of indexes) {
      writer.compactSize(index - next)
      next = index + 1
    }
  }
)

/** In the order of `getblocktxn`. */
export interface BlockTxn {
  readonly type: "blocktxn"
  readonly hash: Bytes
  readonly transactions: ReadonlyArray<Transaction>
}

export const blocktxn: Codec<BlockTxn> = {
  decode: (reader) => ({
    type: "blocktxn",
    hash: reader.bytes(32, "block hash"),
    transactions: readList(
      reader,
      { field: "transactions", smallest: SMALLEST_TRANSACTION },
      (reader) => readTransaction(reader)
    )
  }),
  encode: ({ hash, transactions }) => [
    hash,
    countBytes(transactions.length),
    ...transactions.map(({ bytes }) => bytes)
  ]
}

/** Yields to other peers. Throws `DecodeError`. */
export function* readBlockTxnInSteps(payload: Bytes): Generator<undefined, BlockTxn> {
  const reader = new Reader(payload)
  const hash = reader.bytes(32, "block hash")
  const transactions = new Array<Transaction>(reader.count("transactions", SMALLEST_TRANSACTION))
  let pause = reader.offset + STEP
  for (let i = 0; i < transactions.length; i++) {
    const transaction = readTransaction(reader)
    void transaction.txid
    void transaction.wtxid
    transactions[i] = transaction
    if (reader.offset < pause) continue
    yield
    pause = reader.offset + STEP
  }
  return { type: "blocktxn", hash, transactions }
}
