import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { encodeMetadata } from "../../src/chain/snapshot/snapshotFile.ts"
import { SnapshotReader } from "../../src/chain/snapshot/SnapshotReader.ts"
import { SnapshotWriter } from "../../src/chain/snapshot/SnapshotWriter.ts"
import type { Coin } from "../../src/consensus/view.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { networks } from "../../src/protocol/networks.ts"
import { prevoutIndex, prevoutTxid } from "../../src/protocol/transaction.ts"

/** Snapshot files for tests, on regtest. */

export const NETWORK = networks.regtest

export const BASE = new Uint8Array(32).fill(7)

/** A coin by txid and index, as text to compare. */
export const shownCoin = (txid: Uint8Array, index: number, { coinbase, height, script, value }: Coin): string =>
  `${toHex(txid)}:${index} ${value} ${height} ${coinbase} ${toHex(script)}`

/** Writes coins, in the given order, to a new file. */
export const writeSnapshot = (
  path: string,
  coins: ReadonlyArray<{ readonly txid: Uint8Array; readonly index: number; readonly coin: Coin }>
): void => {
  const writer = new SnapshotWriter({ path, network: NETWORK, base: BASE })
  for (const { coin, index, txid } of coins) writer.add(txid, index, coin)
  writer.finish()
}

/** All coins of a file, as text. Throws what the reader throws. */
export const readSnapshot = (path: string, baseHeight = 0x7fffffff): ReadonlyArray<string> => {
  const reader = new SnapshotReader(path)
  try {
    const metadata = reader.metadata(NETWORK)
    if (typeof metadata === "string") throw new Error(metadata)
    reader.expect(baseHeight)
    const found: Array<string> = []
    for (let coins = reader.coins(3); coins !== undefined; coins = reader.coins(3)) {
      for (const { coin, outpoint } of coins) {
        found.push(shownCoin(prevoutTxid(outpoint), prevoutIndex(outpoint), coin))
      }
    }
    return found
  } finally {
    reader.close()
  }
}

/** Writes a file of metadata and other bytes. */
export const snapshotOf = (directory: string, coins: number, bytes: Uint8Array) =>
  Effect.sync(() => {
    const path = join(directory, "made.dat")
    writeFileSync(path, Buffer.concat([encodeMetadata(NETWORK, { base: BASE, coins }), bytes]))
    return path
  })
