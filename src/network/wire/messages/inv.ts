import type { Bytes } from "../../../protocol/bytes.ts"
import type { Reader } from "../../../protocol/Reader.ts"
import { Writer } from "../../../protocol/Writer.ts"
import { type Codec, readList } from "../codec.ts"

/** Most items in `inv` and `getdata` (protocol): upstream `net_processing.cpp`, `MAX_INV_SZ`. */
export const MAX_INVENTORY = 50_000

/** Types of items (protocol.md 6.6). An `inv` has only `tx`, `wtx` and `block`. */
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

const ITEM_SIZE = 36

const ITEMS = { field: "inventory", smallest: ITEM_SIZE }

const readItem = (reader: Reader): InventoryItem => ({ type: reader.u32("type"), hash: reader.bytes(32, "hash") })

const readItems = (reader: Reader): ReadonlyArray<InventoryItem> =>
  readList(reader, { ...ITEMS, limit: { most: MAX_INVENTORY, consequence: "misbehaving" } }, readItem)

interface Inventory {
  readonly items: ReadonlyArray<InventoryItem>
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
  decode: (reader) => ({ type: "inv", items: readItems(reader) }),
  encode: encodeItems
}

/** Asks for things. */
export interface GetData extends Inventory {
  readonly type: "getdata"
}

export const getdata: Codec<GetData> = {
  decode: (reader) => ({ type: "getdata", items: readItems(reader) }),
  encode: encodeItems
}

/** Says which of the wanted things are not there. Any number of them: upstream sees no offence in too many. */
export interface NotFound extends Inventory {
  readonly type: "notfound"
}

export const notfound: Codec<NotFound> = {
  decode: (reader) => ({ type: "notfound", items: readList(reader, ITEMS, readItem) }),
  encode: encodeItems
}
