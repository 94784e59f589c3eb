import { type BlockHeader, encodeBlockHeader, readBlockHeader } from "../../../protocol/block.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { MAX_SCRIPT_ELEMENT_SIZE } from "../../../protocol/script.ts"
import { codec, emptyCodec, readHashes, writeHashes } from "../codec.ts"

/** Filtered blocks (BIP 37). A node without this service disconnects peers that request it. */

const MAX_FILTER_SIZE = 36_000
const MAX_HASH_FUNCTIONS = 50

export interface FilterLoad {
  readonly type: "filterload"
  readonly filter: Bytes
  readonly hashFunctions: number
  readonly tweak: number
  readonly flags: number
}

export const filterload = codec<FilterLoad>(
  (reader) => ({
    type: "filterload",
    filter: reader.varBytes("filter"),
    hashFunctions: reader.u32("hash functions"),
    tweak: reader.u32("tweak"),
    flags: reader.u8("flags")
  }),
  (writer, { filter, flags, hashFunctions, tweak }) => writer.varBytes(filter).u32(hashFunctions).u32(tweak).u8(flags)
)

export interface FilterAdd {
  readonly type: "filteradd"
  readonly data: Bytes
}

export const filteradd = codec<FilterAdd>(
  (reader) => ({ type: "filteradd", data: reader.varBytes("data") }),
  (writer, { data }) => writer.varBytes(data)
)

/** With bloom filters enabled, a violation is misbehaviour. */
export const isWithinFilterLimits = (message: FilterLoad | FilterAdd): boolean =>
  message.type === "filterload"
    ? message.filter.length <= MAX_FILTER_SIZE && message.hashFunctions <= MAX_HASH_FUNCTIONS
    : message.data.length <= MAX_SCRIPT_ELEMENT_SIZE

export interface FilterClear {
  readonly type: "filterclear"
}

export const filterclear = emptyCodec<FilterClear>({ type: "filterclear" })

/** A header with its merged-mining proof, and a part of the block's merkle tree. */
export interface MerkleBlock {
  readonly type: "merkleblock"
  readonly header: BlockHeader
  readonly transactions: number
  readonly hashes: ReadonlyArray<Bytes>
  /** Bits that guide the walk of the tree, eight per byte, lowest first. */
  readonly flags: Bytes
}

export const merkleblock = codec<MerkleBlock>(
  (reader) => ({
    type: "merkleblock",
    header: readBlockHeader(reader),
    transactions: reader.u32("transactions"),
    hashes: readHashes(reader, "hashes"),
    flags: reader.varBytes("flags")
  }),
  (writer, { flags, hashes, header, transactions }) => {
    writer.bytes(encodeBlockHeader(header)).u32(transactions)
    writeHashes(writer, hashes)
    writer.varBytes(flags)
  }
)
