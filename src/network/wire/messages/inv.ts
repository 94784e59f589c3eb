import type { Bytes } from "../../../protocol/bytes.ts"
import type { Reader } from "../../../protocol/Reader.ts"
import { Writer } from "../../../protocol/Writer.ts"
import { checkCount, type Codec, type CountLimit } from "../codec.ts"

/** Protocol: upstream `net_processing.cpp`, `MAX_INV_SZ`. */
export const MAX_INVENTORY = 50_000

/** See reference/protocol.md 6.6. An `inv` has only `tx`, `wtx` and `block`. */
export const ItemType = {
  tx: 1,
  block: 2,
  filteredBlock: 3,
  compactBlock: 4,
  wtx: 5,
  witnessTx: 0x40000001,
  witnessBlock: 0x40000002
} as const

export interface InventoryItem {
  /** One of `ItemType`, or any other number from a peer. */
  readonly type: number
  /** Wire order. The block hash, the txid or, for `wtx`, the wtxid. */
  readonly hash: Bytes
}

export const isTransactionItem = ({ type }: InventoryItem): boolean =>
  type === ItemType.tx || type === ItemType.wtx || type === ItemType.witnessTx

export const isBlockItem = ({ type }: InventoryItem): boolean =>
  type === ItemType.block || type === ItemType.filteredBlock || type === ItemType.compactBlock ||
  type === ItemType.witnessBlock

export const ITEM_SIZE = 36

/** Items kept of an `inv` (reference/protocol.md 6.9): the maximum of open announcements per peer. */
export const MAX_ANNOUNCED = 5_000

/** An array, or received `PackedItems`, in which 50,000 items take only 1.8 MB. */
export interface ItemList extends Iterable<InventoryItem> {
  readonly length: number
  at(index: number): InventoryItem | undefined
}

/** Each item becomes an object with a view only on access. */
export class PackedItems implements ItemList {
  readonly length: number
  private readonly bytes: Bytes
  private readonly view: DataView

  /** @param bytes a whole number of encoded items. */
  constructor(bytes: Bytes) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.length = Math.floor(bytes.length / ITEM_SIZE)
  }

  at(index: number): InventoryItem | undefined {
    if (index < 0 || index >= this.length) return undefined
    const from = ITEM_SIZE * index
    return { type: this.view.getUint32(from, true), hash: this.bytes.subarray(from + 4, from + ITEM_SIZE) }
  }

  *[Symbol.iterator](): Iterator<InventoryItem> {
    for (let i = 0; i < this.length; i++) {
      const item = this.at(i)
      if (item !== undefined) yield item
    }
  }
}

export const countItems = (items: ItemList, wanted: (item: InventoryItem) => boolean): number => {
  let count = 0
  for (const item of items) if (wanted(item)) count++
  return count
}

export const hasItem = (items: ItemList, wanted: (item: InventoryItem) => boolean): boolean => {
  for (const item of items) if (wanted(item)) return true
  return false
}

/** Beyond `kept` items, the rest and its memory are dropped. */
const readItems = (reader: Reader, limit: CountLimit | undefined, kept = Infinity): PackedItems => {
  const count = reader.count("inventory", ITEM_SIZE)
  if (limit !== undefined) checkCount(reader, { field: "inventory", count }, limit)
  if (count <= kept) return new PackedItems(reader.bytes(ITEM_SIZE * count, "inventory"))
  const first = reader.bytes(ITEM_SIZE * kept, "inventory").slice()
  reader.skip(ITEM_SIZE * (count - kept), "inventory")
  return new PackedItems(first)
}

const LIMIT: CountLimit = { most: MAX_INVENTORY, consequence: "misbehaving" }

interface Inventory {
  readonly items: ItemList
}

const encodeItems = ({ items }: Inventory): ReadonlyArray<Bytes> => {
  const writer = new Writer(9 + ITEM_SIZE * items.length).compactSize(items.length)
  for (const { hash, type } of items) writer.u32(type).bytes(hash)
  return [writer.written()]
}

export interface Inv extends Inventory {
  readonly type: "inv"
}

export const inv: Codec<Inv> = {
  // Announcements are unsolicited, so items beyond the processed number are not stored.
  decode: (reader) => ({ type: "inv", items: readItems(reader, LIMIT, MAX_ANNOUNCED) }),
  encode: encodeItems
}

/** For peers with unlimited announcements. */
export const readWholeInv = (reader: Reader): Inv => ({ type: "inv", items: readItems(reader, LIMIT) })

export interface GetData extends Inventory {
  readonly type: "getdata"
}

export const getdata: Codec<GetData> = {
  decode: (reader) => ({ type: "getdata", items: readItems(reader, LIMIT) }),
  encode: encodeItems
}

/** Has no count limit, as upstream. */
export interface NotFound extends Inventory {
  readonly type: "notfound"
}

export const notfound: Codec<NotFound> = {
  decode: (reader) => ({ type: "notfound", items: readItems(reader, undefined) }),
  encode: encodeItems
}
