import type { Bytes } from "../../../protocol/bytes.ts"
import type { Reader } from "../../../protocol/Reader.ts"
import { Writer } from "../../../protocol/Writer.ts"
import { checkCount, type Codec, type CountLimit } from "../codec.ts"

/** Most items in `inv` and `getdata` (protocol): upstream `net_processing.cpp`, `MAX_INV_SZ`. */
export const MAX_INVENTORY = 50_000

/** Types of items (reference/protocol.md 6.6). An `inv` has only `tx`, `wtx` and `block`. */
export const ItemType = {
  tx: 1,
  block: 2,
  filteredBlock: 3,
  compactBlock: 4,
  wtx: 5,
  witnessTx: 0x40000001,
  witnessBlock: 0x40000002
} as const

/** A thing that is there, wanted or missing. */
export interface InventoryItem {
  /** One of `ItemType`, or any other number that a peer made up. */
  readonly type: number
  /** Wire order: of the block, or the txid or, for `wtx`, the wtxid. */
  readonly hash: Bytes
}

/** Whether an item names a transaction. */
export const isTransactionItem = ({ type }: InventoryItem): boolean =>
  type === ItemType.tx || type === ItemType.wtx || type === ItemType.witnessTx

/** Whether an item names a block, in whatever form. */
export const isBlockItem = ({ type }: InventoryItem): boolean =>
  type === ItemType.block || type === ItemType.filteredBlock || type === ItemType.compactBlock ||
  type === ItemType.witnessBlock

/** Bytes of an item: its type and its hash. */
export const ITEM_SIZE = 36

/** Items of an `inv` that are kept (reference/protocol.md 6.9): as many announcements as a peer may have waiting. */
export const MAX_ANNOUNCED = 5_000

/**
 * The items of a message. An array is one; what comes from a peer is a `PackedItems`, so that 50,000 items take their
 * 1.8 MB and nothing more.
 */
export interface ItemList extends Iterable<InventoryItem> {
  readonly length: number
  at(index: number): InventoryItem | undefined
}

/** Items as one buffer: each becomes an object, and its hash a view of the buffer, only when it is asked for. */
export class PackedItems implements ItemList {
  readonly length: number
  private readonly bytes: Bytes
  private readonly view: DataView

  /** @param bytes a whole number of items as they travel. */
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

/** How many items of a list are as wanted. */
export const countItems = (items: ItemList, wanted: (item: InventoryItem) => boolean): number => {
  let count = 0
  for (const item of items) if (wanted(item)) count++
  return count
}

/** Whether an item of a list is as wanted. */
export const hasItem = (items: ItemList, wanted: (item: InventoryItem) => boolean): boolean => {
  for (const item of items) if (wanted(item)) return true
  return false
}

/** Reads items as one buffer, a view of the payload. Those beyond `kept` are left out, and their memory with them. */
const readItems = (reader: Reader, limit: CountLimit | undefined, kept = Infinity): PackedItems => {
  const count = reader.count("inventory", ITEM_SIZE)
  if (limit !== undefined) checkCount(reader, "inventory", count, limit)
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

/** Announces what the sender has. */
export interface Inv extends Inventory {
  readonly type: "inv"
}

export const inv: Codec<Inv> = {
  // Nobody asks for announcements: what goes beyond the number that is heard of a peer is not even kept.
  decode: (reader) => ({ type: "inv", items: readItems(reader, LIMIT, MAX_ANNOUNCED) }),
  encode: encodeItems
}

/** Asks for things. */
export interface GetData extends Inventory {
  readonly type: "getdata"
}

export const getdata: Codec<GetData> = {
  decode: (reader) => ({ type: "getdata", items: readItems(reader, LIMIT) }),
  encode: encodeItems
}

/** Says which of the wanted things are not there. Any number of them: upstream sees no offence in too many. */
export interface NotFound extends Inventory {
  readonly type: "notfound"
}

export const notfound: Codec<NotFound> = {
  decode: (reader) => ({ type: "notfound", items: readItems(reader, undefined) }),
  encode: encodeItems
}
