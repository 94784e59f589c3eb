import type { Coin } from "../../src/consensus/view.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { parseNameScript } from "../../src/protocol/nameOperation.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { fixtureBytes } from "./fixtures.ts"

/** The chains of blocks that the reference node validated: their files, and its figures about the coins. */

/** The records of a block file: magic, length, block. */
export const readRecords = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const reader = new Reader(bytes)
  const records: Array<Uint8Array> = []
  while (reader.remaining > 0) {
    reader.skip(4, "magic")
    records.push(reader.bytes(reader.u32("length"), "block"))
  }
  return records
}

export const fixtureBlocks = (name: string): ReadonlyArray<Block> => readRecords(fixtureBytes(name)).map(decodeBlock)

/** `gettxoutsetinfo` of the reference node, as far as it is compared here. Amounts in whole coins. */
export interface CoinSummary {
  readonly txouts: number
  readonly bogosize: number
  readonly transactions: number
  readonly amount: { readonly coins: number; readonly names: number; readonly total: number }
}

/** A checkpoint of the fixtures, as far as it is compared here. */
export interface Checkpoint {
  readonly height: number
  readonly utxo: CoinSummary
  readonly nameScanHex: ReadonlyArray<NameRow>
}

/** A row of `name_scan` with hex encodings. */
export interface NameRow {
  readonly name: string
  readonly value: string
  readonly txid: string
  readonly vout: number
  readonly height: number
}

/** What the reference node counts for a coin beside its script: outpoint, height and coinbase, amount, length. */
const BOGO_BASE = 50

/** The same figures of a set of coins; amounts in smallest units. */
export const summarize = (coins: ReadonlyMap<string, Coin>) => {
  const transactions = new Set<string>()
  let bogosize = 0
  let names = 0
  let total = 0
  for (const [key, { script, value }] of coins) {
    transactions.add(key.slice(0, 32))
    bogosize += BOGO_BASE + script.length
    total += value
    if (parseNameScript(script) !== undefined) names += value
  }
  return { txouts: coins.size, bogosize, transactions: transactions.size, coins: total - names, names, total }
}

export const expectedSummary = ({ amount, bogosize, transactions, txouts }: CoinSummary) => {
  const units = (whole: number): number => Math.round(whole * 100_000_000)
  const { coins, names, total } = amount
  return { txouts, bogosize, transactions, coins: units(coins), names: units(names), total: units(total) }
}
