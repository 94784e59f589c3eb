import { SnapshotWriter } from "../../src/chain/snapshot/SnapshotWriter.ts"
import { CoinStats } from "../../src/chain/state/coinStats.ts"
import type { Coin } from "../../src/consensus/view.ts"
import type { BlockHeader } from "../../src/protocol/block.ts"
import { concat, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { nameScript } from "../../src/protocol/nameOperation.ts"
import { networks } from "../../src/protocol/networks.ts"
import { outpoint } from "../../src/protocol/transaction.ts"
import { minedHeaders } from "./minedHeaders.ts"

/** A set of a million coins on a chain of headers, for measurements. */

export const COINS = 1_000_000

/** One coin in this many holds a name. */
export const NAMES_EVERY = 20

const BASE_HEIGHT = 100

const text = new TextEncoder()

const hashOf = (index: number): Uint8Array => {
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, index)
  return hash256(number)
}

/** The key hash that a coin pays to. */
export const keyHashOf = (index: number): Uint8Array => hashOf(index).subarray(0, 20)

/** The name that a coin holds, if `NAMES_EVERY` divides its index. */
export const nameOfCoin = (index: number): string => `d/${toHex(hashOf(index).subarray(0, 8))}`

/** A million coins in the order of their keys: to key hashes, and some with names. */
const coins = function*(): Iterable<{ readonly txid: Uint8Array; readonly coin: Coin }> {
  const number = new Uint8Array(4)
  for (let i = 0; i < COINS; i++) {
    new DataView(number.buffer).setUint32(0, i)
    const digest = hashOf(i)
    const address = concat(Uint8Array.of(0x76, 0xa9, 20), keyHashOf(i), Uint8Array.of(0x88, 0xac))
    const script = i % NAMES_EVERY === 0
      ? nameScript({ op: "name_update", name: text.encode(nameOfCoin(i)), value: digest }, address)
      : address
    const coin = { value: 1_000_000 + i, script, height: BASE_HEIGHT - i % 20, coinbase: false }
    yield { txid: concat(number, digest.subarray(0, 28)), coin }
  }
}

/** Headers up to the base block of the set. */
export const headersOfSet = (): ReadonlyArray<BlockHeader> =>
  [
    ...minedHeaders({ atOnce: BASE_HEIGHT, count: BASE_HEIGHT })
  ].flat()

/** Writes the set to a snapshot file of regtest. Returns the hash of the coins, wire order. */
export const writeCoinSet = (path: string, base: Uint8Array): Uint8Array => {
  const stats = new CoinStats("hash_serialized_3")
  const writer = new SnapshotWriter({ path, network: networks.regtest, base })
  for (const { coin, txid } of coins()) {
    writer.add(txid, 0, coin)
    stats.add(outpoint(txid, 0), coin)
  }
  writer.finish()
  return stats.finish().hash ?? new Uint8Array(32)
}
