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

/** A set of coins on a chain of headers, for measurements: a million, where no other size is given. */

export const COINS = 1_000_000

/** One coin in this many holds a name. */
export const NAMES_EVERY = 20

/** Height of the block that the set is of. */
export const BASE_HEIGHT = 100

/** How large a set is. */
export interface CoinSetSize {
  readonly coins: number
  /** One coin in this many holds a name. */
  readonly namesEvery: number
}

const MILLION: CoinSetSize = { coins: COINS, namesEvery: NAMES_EVERY }

const text = new TextEncoder()

const hashOf = (index: number): Uint8Array => {
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, index)
  return hash256(number)
}

/** The key hash that a coin pays to. */
export const keyHashOf = (index: number): Uint8Array => hashOf(index).subarray(0, 20)

/** The transaction that a coin is an output of, the first one. */
export const txidOf = (index: number): Uint8Array => {
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, index)
  return concat(number, hashOf(index).subarray(0, 28))
}

/** The name that a coin holds, if it holds one. */
export const nameOfCoin = (index: number): string => `d/${toHex(hashOf(index).subarray(0, 8))}`

/** Coins in the order of their keys: to key hashes, and some with names. */
const coinsOf = function*(
  { coins, namesEvery }: CoinSetSize
): Iterable<{ readonly txid: Uint8Array; readonly coin: Coin }> {
  for (let i = 0; i < coins; i++) {
    const digest = hashOf(i)
    const address = concat(Uint8Array.of(0x76, 0xa9, 20), keyHashOf(i), Uint8Array.of(0x88, 0xac))
    const script = i % namesEvery === 0
      ? nameScript({ op: "name_update", name: text.encode(nameOfCoin(i)), value: digest }, address)
      : address
    const coin = { value: 1_000_000 + i, script, height: BASE_HEIGHT - i % 20, coinbase: false }
    yield { txid: txidOf(i), coin }
  }
}

/** Headers up to the base block of the set. */
export const headersOfSet = (): ReadonlyArray<BlockHeader> =>
  [
    ...minedHeaders({ atOnce: BASE_HEIGHT, count: BASE_HEIGHT })
  ].flat()

/** Writes the set to a snapshot file of regtest. Returns the hash of the coins, wire order. */
export const writeCoinSet = (path: string, base: Uint8Array, size = MILLION): Uint8Array => {
  const stats = new CoinStats("hash_serialized_3")
  const writer = new SnapshotWriter({ path, network: networks.regtest, base })
  for (const { coin, txid } of coinsOf(size)) {
    writer.add(txid, 0, coin)
    stats.add(outpoint(txid, 0), coin)
  }
  writer.finish()
  return stats.finish().hash ?? new Uint8Array(32)
}
