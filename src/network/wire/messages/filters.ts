import type { Bytes } from "../../../protocol/bytes.ts"
import type { Reader } from "../../../protocol/Reader.ts"
import { type Codec, codec, readHashes, writeHashes } from "../codec.ts"

/** Block filters (BIP 157). Hashes are in wire order. */

interface FilterRange {
  /** 0 for the basic filter (BIP 158). */
  readonly filterType: number
  readonly startHeight: number
  readonly stopHash: Bytes
}

export interface GetCFilters extends FilterRange {
  readonly type: "getcfilters"
}

export interface GetCFHeaders extends FilterRange {
  readonly type: "getcfheaders"
}

const readRange = (reader: Reader): FilterRange => ({
  filterType: reader.u8("filter type"),
  startHeight: reader.u32("start height"),
  stopHash: reader.bytes(32, "stop hash")
})

const range = <A extends FilterRange>(tag: (range: FilterRange) => A): Codec<A> =>
  codec(
    (reader) => tag(readRange(reader)),
    (writer, { filterType, startHeight, stopHash }) => writer.u8(filterType).u32(startHeight).bytes(stopHash)
  )

export const getcfilters = range<GetCFilters>((parts) => ({ type: "getcfilters", ...parts }))

export const getcfheaders = range<GetCFHeaders>((parts) => ({ type: "getcfheaders", ...parts }))

export interface CFilter {
  readonly type: "cfilter"
  readonly filterType: number
  readonly blockHash: Bytes
  readonly filter: Bytes
}

export const cfilter = codec<CFilter>(
  (reader) => ({
    type: "cfilter",
    filterType: reader.u8("filter type"),
    blockHash: reader.bytes(32, "block hash"),
    filter: reader.varBytes("filter")
  }),
  (writer, { blockHash, filter, filterType }) => writer.u8(filterType).bytes(blockHash).varBytes(filter)
)

export interface CFHeaders {
  readonly type: "cfheaders"
  readonly filterType: number
  readonly stopHash: Bytes
  /** The filter header before the first of the range. */
  readonly previousHeader: Bytes
  readonly filterHashes: ReadonlyArray<Bytes>
}

export const cfheaders = codec<CFHeaders>(
  (reader) => ({
    type: "cfheaders",
    filterType: reader.u8("filter type"),
    stopHash: reader.bytes(32, "stop hash"),
    previousHeader: reader.bytes(32, "previous filter header"),
    filterHashes: readHashes(reader, "filter hashes")
  }),
  (writer, { filterHashes, filterType, previousHeader, stopHash }) => {
    writer.u8(filterType).bytes(stopHash).bytes(previousHeader)
    writeHashes(writer, filterHashes)
  }
)

export interface GetCFCheckpt {
  readonly type: "getcfcheckpt"
  readonly filterType: number
  readonly stopHash: Bytes
}

export const getcfcheckpt = codec<GetCFCheckpt>(
  (reader) => ({
    type: "getcfcheckpt",
    filterType: reader.u8("filter type"),
    stopHash: reader.bytes(32, "stop hash")
  }),
  (writer, { filterType, stopHash }) => writer.u8(filterType).bytes(stopHash)
)

export interface CFCheckpt {
  readonly type: "cfcheckpt"
  readonly filterType: number
  readonly stopHash: Bytes
  /** Filter headers of every 1,000th block. */
  readonly filterHeaders: ReadonlyArray<Bytes>
}

export const cfcheckpt = codec<CFCheckpt>(
  (reader) => ({
    type: "cfcheckpt",
    filterType: reader.u8("filter type"),
    stopHash: reader.bytes(32, "stop hash"),
    filterHeaders: readHashes(reader, "filter headers")
  }),
  (writer, { filterHeaders, filterType, stopHash }) => {
    writer.u8(filterType).bytes(stopHash)
    writeHashes(writer, filterHeaders)
  }
)
