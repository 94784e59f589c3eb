import * as Schema from "effect/Schema"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { isUnspendable } from "../../protocol/script.ts"
import { outputSize, totalValue, type Transaction } from "../../protocol/transaction.ts"
import * as Result from "../method/results.ts"
import type { SpentCoins } from "./block.ts"

/** Source: upstream `rpc/blockchain.cpp`, `getblockstats`. */

const STATISTICS = {
  avgfee: Result.integer("Average fee"),
  avgfeerate: Result.integer("Average fee rate, smallest units per virtual byte"),
  avgtxsize: Result.integer("Average size"),
  blockhash: Result.hex("Hash of the block"),
  feerate_percentiles: Schema.Array(Result.integer("A fee rate")).annotations({
    description: "Fee rates at the 10th, 25th, 50th, 75th and 90th percentile of the weight"
  }),
  height: Result.integer("Height of the block"),
  ins: Result.integer("Inputs, without the coinbase"),
  maxfee: Result.integer("Highest fee"),
  maxfeerate: Result.integer("Highest fee rate"),
  maxtxsize: Result.integer("Largest size"),
  medianfee: Result.integer("Median of the fees, rounded down"),
  mediantime: Result.time("Median of the times of eleven blocks up to this one"),
  mediantxsize: Result.integer("Median of the sizes, rounded down"),
  minfee: Result.integer("Lowest fee"),
  minfeerate: Result.integer("Lowest fee rate"),
  mintxsize: Result.integer("Smallest size"),
  outs: Result.integer("Outputs"),
  subsidy: Result.integer("Block subsidy"),
  swtotal_size: Result.integer("Bytes of the transactions with witnesses"),
  swtotal_weight: Result.integer("Weight units of the transactions with witnesses"),
  swtxs: Result.integer("Transactions with witnesses"),
  time: Result.time("Time of the block"),
  total_out: Result.integer("Amount of all outputs, without the coinbase"),
  total_size: Result.integer("Bytes of the transactions, without the coinbase"),
  total_weight: Result.integer("Weight units of the transactions, without the coinbase"),
  totalfee: Result.integer("Sum of the fees"),
  txs: Result.integer("Transactions, with the coinbase"),
  utxo_increase: Result.integer("Outputs minus inputs"),
  utxo_size_inc: Result.integer("Growth of the unspent outputs in bytes, unspendable ones included"),
  utxo_increase_actual: Result.integer("Growth of the number of unspent outputs"),
  utxo_size_inc_actual: Result.integer("Growth of the unspent outputs in bytes")
}

export const BLOCK_STATS = Schema.Struct(STATISTICS)

export type StatName = keyof typeof STATISTICS

export const isStatName = (name: string): name is StatName => Object.hasOwn(STATISTICS, name)

const { utxo_increase_actual, utxo_size_inc, utxo_size_inc_actual, ...others } = STATISTICS

/** Chosen statistics are in alphabetical order, all of them in the order of `BLOCK_STATS`. */
export const CHOSEN_STATS = Schema.partial(
  Schema.Struct({ ...others, utxo_increase_actual, utxo_size_inc, utxo_size_inc_actual })
)

/** Bytes counted per unspent output besides the output itself: outpoint, height, coinbase flag. */
const PER_OUTPUT = 36 + 4 + 1

const WITNESS_SCALE = 4

/** Shares of the weight for fee rates. */
const PERCENTILES: ReadonlyArray<(weight: number) => number> = [
  (weight) => weight / 10,
  (weight) => weight / 4,
  (weight) => weight / 2,
  (weight) => (weight * 3) / 4,
  (weight) => (weight * 9) / 10
]

interface Rated {
  readonly feeRate: number
  readonly weight: number
}

export const feeRatePercentiles = (rated: ReadonlyArray<Rated>, totalWeight: number): ReadonlyArray<number> => {
  const sorted = rated.toSorted((a, b) => a.feeRate - b.feeRate || a.weight - b.weight)
  return PERCENTILES.map((share) => {
    let sum = 0
    const reached = sorted.find(({ weight }) => (sum += weight) >= share(totalWeight))
    return (reached ?? sorted.at(-1))?.feeRate ?? 0
  })
}

export const truncatedMedian = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const [middle = 0, before = 0] = [sorted[sorted.length >> 1], sorted[(sorted.length >> 1) - 1]]
  return sorted.length % 2 === 1 ? middle : Math.trunc((before + middle) / 2)
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

const highest = (values: ReadonlyArray<number>): number => values.reduce((most, value) => Math.max(most, value), 0)

const lowest = (values: ReadonlyArray<number>): number =>
  values.length === 0 ? 0 : values.reduce((least, value) => Math.min(least, value))

/** Rounded towards zero; 0 for a divisor of 0. */
const quotient = ({ by, of }: { readonly of: number; readonly by: number }): number =>
  by === 0 ? 0 : Math.trunc(of / by)

const measured = (transaction: Transaction, spent: ReadonlyArray<Coin>) => {
  const { hasWitness, inputs, size, weight } = transaction
  const out = totalValue(transaction.outputs)
  const fee = totalValue(spent) - out
  return {
    hasWitness,
    inputs: inputs.length,
    size,
    weight,
    out,
    fee,
    feeRate: quotient({ of: fee * WITNESS_SCALE, by: weight })
  }
}

const growth = (outputs: ReadonlyArray<{ readonly value: number; readonly script: Uint8Array }>): number =>
  sum(outputs.map((output) => outputSize(output) + PER_OUTPUT))

export interface MeasuredBlock {
  readonly block: Block
  readonly info: Pick<HeaderInfo, "height" | "medianTimePast">
  /** Without the coinbase. */
  readonly spent: SpentCoins
  readonly subsidy: number
}

export type BlockStatistics = Result.ValueOf<typeof BLOCK_STATS>

export const blockStatsJson = ({ block, info, spent, subsidy }: MeasuredBlock): BlockStatistics => {
  const [, ...ordinary] = block.transactions
  const measures = ordinary.map((transaction, n) => measured(transaction, spent[n] ?? []))
  const sizes = measures.map(({ size }) => size)
  const fees = measures.map(({ fee }) => fee)
  const rates = measures.map(({ feeRate }) => feeRate)
  const segwit = measures.filter(({ hasWitness }) => hasWitness)
  const outputs = block.transactions.flatMap((transaction) => transaction.outputs)
  // The outputs of the first block are never coins.
  const kept = info.height === 0 ? [] : outputs.filter(({ script }) => !isUnspendable(script))
  const ins = sum(measures.map((each) => each.inputs))
  const freed = growth(spent.flat())
  const [totalFee, totalSize] = [sum(fees), sum(sizes)]
  const totalWeight = sum(measures.map(({ weight }) => weight))
  return {
    avgfee: quotient({ of: totalFee, by: ordinary.length }),
    avgfeerate: quotient({ of: totalFee * WITNESS_SCALE, by: totalWeight }),
    avgtxsize: quotient({ of: totalSize, by: ordinary.length }),
    blockhash: displayHash(block.hash),
    feerate_percentiles: feeRatePercentiles(measures, totalWeight),
    height: info.height,
    ins,
    maxfee: highest(fees),
    maxfeerate: highest(rates),
    maxtxsize: highest(sizes),
    medianfee: truncatedMedian(fees),
    mediantime: info.medianTimePast,
    mediantxsize: truncatedMedian(sizes),
    minfee: lowest(fees),
    minfeerate: lowest(rates),
    mintxsize: lowest(sizes),
    outs: outputs.length,
    subsidy,
    swtotal_size: sum(segwit.map(({ size }) => size)),
    swtotal_weight: sum(segwit.map(({ weight }) => weight)),
    swtxs: segwit.length,
    time: block.header.time,
    total_out: sum(measures.map(({ out }) => out)),
    total_size: totalSize,
    total_weight: totalWeight,
    totalfee: totalFee,
    txs: block.transactions.length,
    utxo_increase: outputs.length - ins,
    utxo_size_inc: growth(outputs) - freed,
    utxo_increase_actual: kept.length - ins,
    utxo_size_inc_actual: growth(kept) - freed
  }
}
