import { madeCoins } from "../../consensus/connectBlock.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { blockSubsidy } from "../../consensus/subsidy.ts"
import type { Coin } from "../../consensus/view.ts"
import { type Bytes, fromBinaryString } from "../../protocol/bytes.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { isUnspendable } from "../../protocol/script.ts"
import { outpointKey } from "../../protocol/transaction.ts"
import { Writer } from "../../protocol/Writer.ts"
import { BOGO_BYTES, writeMember } from "../state/coinStats.ts"
import type { ConnectedBlock } from "../write/Follower.ts"

/** Sums over the chain up to a block, in smallest units. Those that grow without end exceed 2^53. */
export interface CoinTotals {
  readonly txouts: number
  readonly bogosize: number
  /** Unspent amounts without and with a name. */
  readonly coins: number
  readonly names: number
  readonly subsidy: bigint
  readonly spent: bigint
  /** Outputs of coinbases, and all others. */
  readonly coinbase: bigint
  readonly created: bigint
  /** Amounts that never became coins: of genesis, of unspendable scripts, unclaimed by miners. */
  readonly genesis: bigint
  readonly scripts: bigint
  readonly unclaimed: bigint
}

export const NO_COINS: CoinTotals = {
  txouts: 0,
  bogosize: 0,
  coins: 0,
  names: 0,
  subsidy: 0n,
  spent: 0n,
  coinbase: 0n,
  created: 0n,
  genesis: 0n,
  scripts: 0n,
  unclaimed: 0n
}

type Counts = { -readonly [K in "txouts" | "bogosize" | "coins" | "names"]: CoinTotals[K] }

const count = (counts: Counts, { script, value }: Coin, sign: 1 | -1): void => {
  counts.txouts += sign
  counts.bogosize += sign * (BOGO_BYTES + script.length)
  if (parseNameScript(script) === undefined) counts.coins += sign * value
  else counts.names += sign * value
}

/** A sum of values below 2^51 that stays exact, with one `bigint` for many of them. */
const sum = (coins: ReadonlyArray<{ readonly value: number }>): bigint => {
  let total = 0n
  let part = 0
  for (const { value } of coins) {
    part += value
    if (part < 2 ** 52) continue
    total += BigInt(part)
    part = 0
  }
  return total + BigInt(part)
}

/** The sums of amounts after a block. Source: upstream `index/coinstatsindex.cpp`, `CustomAppend`. */
const amountsAfter = (
  before: CoinTotals,
  { block, coins, height }: ConnectedBlock,
  params: ConsensusParams
): CoinTotals => {
  const reward = BigInt(blockSubsidy(height, params))
  const subsidy = before.subsidy + reward
  if (height === 0) return { ...before, subsidy, genesis: reward }
  const outputs = block.transactions.map((transaction) => transaction.outputs)
  const isLost = ({ script }: { readonly script: Bytes }): boolean => isUnspendable(script)
  const [own = [], ...others] = outputs.map((list) => list.filter((output) => !isLost(output)))
  const after = {
    ...before,
    subsidy,
    spent: before.spent + sum((coins?.spent ?? []).flat()),
    coinbase: before.coinbase + sum(own),
    created: before.created + sum(others.flat()),
    scripts: before.scripts + sum(outputs.flat().filter(isLost))
  }
  const accounted = after.created + after.coinbase + after.genesis + after.scripts + before.unclaimed
  return { ...after, unclaimed: before.unclaimed + after.spent + subsidy - accounted }
}

/** The coins of a block that outlive it, and the older ones that do not. */
const changesOf = ({ block, coins, height }: ConnectedBlock, params: ConsensusParams) => {
  const inside = new Set(block.transactions.flatMap(({ inputs }) => inputs.map(({ prevout }) => outpointKey(prevout))))
  return {
    added: madeCoins(block, height, params).filter(([key]) => !inside.has(key)),
    removed: [...coins?.removed ?? []]
  }
}

/** The totals after each block of a batch, and the set changes for `settleBlocks`. */
export interface CountedBlocks {
  readonly totals: ReadonlyArray<CoinTotals>
  readonly packed: Uint8Array<ArrayBuffer>
}

/** Counts blocks after a block with the totals `before`. */
export const countBlocks = (
  before: CoinTotals,
  blocks: ReadonlyArray<ConnectedBlock>,
  params: ConsensusParams
): CountedBlocks => {
  const writer = new Writer(65_536)
  let last = before
  const totals = blocks.map((block) => {
    const { added, removed } = changesOf(block, params)
    const counts: Counts = { ...last }
    writer.u32(added.length).u32(removed.length)
    for (const [key, coin] of added) {
      writeMember(writer, fromBinaryString(key), coin)
      count(counts, coin, 1)
    }
    for (const [key, coin] of removed) {
      writeMember(writer, fromBinaryString(key), coin)
      count(counts, coin, -1)
    }
    return last = amountsAfter({ ...last, ...counts }, block, params)
  })
  return { totals, packed: writer.toBytes() }
}
