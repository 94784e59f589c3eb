import * as Effect from "effect/Effect"
import { madeCoins } from "../../consensus/connectBlock.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { blockSubsidy } from "../../consensus/subsidy.ts"
import type { Coin } from "../../consensus/view.ts"
import { type Bytes, equal, fromBinaryString } from "../../protocol/bytes.ts"
import { decodeSetNumber, encodeSetNumber, MuHash, settledSets } from "../../protocol/muhash.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { isUnspendable } from "../../protocol/script.ts"
import { outpointKey } from "../../protocol/transaction.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { BOGO_BYTES, hashedCoin } from "../state/coinStats.ts"
import type { ConnectedBlock, Cursor, Follower } from "../write/Follower.ts"
import { type IndexDefinition, type IndexPlace, openIndex } from "./IndexStore.ts"

/** Sums over the chain up to a block. Amounts in smallest units: those that grow without end exceed 2^53. */
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
  /** Amounts that never became coins: of genesis, of unspendable scripts, and not claimed by miners. */
  readonly genesis: bigint
  readonly scripts: bigint
  readonly unclaimed: bigint
}

export interface StoredCoinStats extends CoinTotals {
  /** Wire order. */
  readonly muhash: Bytes
}

/** Statistics of the unspent outputs at every block (`-coinstatsindex`). It keeps those of blocks that left the chain. */
export interface CoinStatsIndex {
  readonly follower: Follower
  readonly stats: (block: Cursor) => Effect.Effect<StoredCoinStats | undefined, StorageFailure>
}

const FILE = "coinstats.db"

const NOTHING: CoinTotals = {
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

const COLUMNS = `hash BLOB NOT NULL, muhash BLOB NOT NULL, txouts INTEGER NOT NULL, bogosize INTEGER NOT NULL,
  coins INTEGER NOT NULL, names INTEGER NOT NULL, totals TEXT NOT NULL`

/** The last numbers of the set: a reorg begins again from one of them. */
const TABLES = `CREATE TABLE stats (height INTEGER PRIMARY KEY, ${COLUMNS}) STRICT;
CREATE TABLE stale_stats (${COLUMNS}, PRIMARY KEY (hash)) WITHOUT ROWID, STRICT;
CREATE TABLE sets (height INTEGER PRIMARY KEY, number BLOB NOT NULL) STRICT;`

/** Blocks whose sets are kept: a reorg of more blocks rebuilds the index. */
const KEPT_SETS = 2_016

interface Row {
  readonly hash: Buffer
  readonly muhash: Buffer
  readonly txouts: number
  readonly bogosize: number
  readonly coins: number
  readonly names: number
  readonly totals: string
}

const NAMES = "hash, muhash, txouts, bogosize, coins, names, totals"

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Result>(sql: string): Statement<Bind, Result> => database.prepare(sql)
  return {
    at: statement<[number], Row>(`SELECT ${NAMES} FROM stats WHERE height = ?`),
    stale: statement<[Bytes], Row>(`SELECT ${NAMES} FROM stale_stats WHERE hash = ?`),
    insert: statement<[number, Bytes, Bytes, number, number, number, number, string], never>(
      `INSERT OR REPLACE INTO stats (height, ${NAMES}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
    ),
    retire: statement<[number], never>(
      `INSERT OR REPLACE INTO stale_stats (${NAMES}) SELECT ${NAMES} FROM stats WHERE height > ?`
    ),
    remove: statement<[number], never>("DELETE FROM stats WHERE height > ?"),
    set: statement<[number], { readonly number: Buffer }>("SELECT number FROM sets WHERE height = ?"),
    putSet: statement<[number, Bytes], never>("INSERT OR REPLACE INTO sets (height, number) VALUES (?, ?)"),
    dropSets: statement<[number, number], never>("DELETE FROM sets WHERE height < ? OR height > ?")
  }
}

type Statements = ReturnType<typeof prepare>

const TOTALS = ["subsidy", "spent", "coinbase", "created", "genesis", "scripts", "unclaimed"] as const

export type AmountTotal = typeof TOTALS[number]

const decodeRow = ({ bogosize, coins, muhash, names, totals, txouts }: Row): StoredCoinStats => {
  const parts = totals.split(" ").map(BigInt)
  const [subsidy = 0n, spent = 0n, coinbase = 0n, created = 0n, genesis = 0n, scripts = 0n, unclaimed = 0n] = parts
  return { txouts, bogosize, coins, names, muhash, subsidy, spent, coinbase, created, genesis, scripts, unclaimed }
}

type Counts = { -readonly [K in "txouts" | "bogosize" | "coins" | "names"]: CoinTotals[K] }

/** Adds a coin to the counts, or removes it. */
const count = (counts: Counts, { script, value }: Coin, sign: 1 | -1): void => {
  counts.txouts += sign
  counts.bogosize += sign * (BOGO_BYTES + script.length)
  if (parseNameScript(script) === undefined) counts.coins += sign * value
  else counts.names += sign * value
}

const sum = (coins: ReadonlyArray<{ readonly value: number }>): bigint =>
  coins.reduce((total, { value }) => total + BigInt(value), 0n)

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

/** The coins of a block that outlive it, and those from before it that do not. */
const changesOf = ({ block, coins, height }: ConnectedBlock, params: ConsensusParams) => {
  const inside = new Set(block.transactions.flatMap(({ inputs }) => inputs.map(({ prevout }) => outpointKey(prevout))))
  return {
    added: madeCoins(block, height, params).filter(([key]) => !inside.has(key)),
    removed: [...coins?.removed ?? []]
  }
}

const lacking = (directory: string, height: number): StorageCorrupted =>
  new StorageCorrupted({
    file: `${directory}/${FILE}`,
    found: `it has no set at height ${height}`,
    remedy: "The index is rebuilt from the stored blocks"
  })

const definition = (params: ConsensusParams, directory: string): IndexDefinition<Statements> => ({
  name: "coinstatsindex",
  file: FILE,
  what: "an index of coin statistics",
  tables: TABLES,
  prepare,
  needsCoins: true,
  apply: (store, blocks) => {
    const [first] = blocks
    const last = blocks.at(-1)
    if (first === undefined || last === undefined) return
    const row = first.height === 0 ? undefined : store.at.get(first.height - 1)
    const number = first.height === 0 ? undefined : store.set.get(first.height - 1)?.number
    if (first.height > 0 && (row === undefined || number === undefined)) throw lacking(directory, first.height - 1)
    let totals: CoinTotals = row === undefined ? NOTHING : decodeRow(row)
    const set = new MuHash(number === undefined ? {} : { numerator: decodeSetNumber(number) })
    const after = blocks.map((block) => {
      const { added, removed } = changesOf(block, params)
      const counts: Counts = { ...totals }
      for (const [key, coin] of added) {
        set.add(hashedCoin(fromBinaryString(key), coin))
        count(counts, coin, 1)
      }
      for (const [key, coin] of removed) {
        set.remove(hashedCoin(fromBinaryString(key), coin))
        count(counts, coin, -1)
      }
      totals = amountsAfter({ ...totals, ...counts }, block, params)
      return { block, totals, set: new MuHash(set) }
    })
    for (const [i, { digest, number }] of settledSets(after.map(({ set }) => set)).entries()) {
      const each = after[i]
      if (each === undefined) continue
      const { block: { hash, height }, totals: { bogosize, coins, names, txouts } } = each
      const text = TOTALS.map((name) => each.totals[name]).join(" ")
      store.insert.run(height, hash, digest, txouts, bogosize, coins, names, text)
      store.putSet.run(height, encodeSetNumber(number))
    }
    store.dropSets.run(last.height - KEPT_SETS, last.height)
  },
  rewind: (store, height) => {
    if (store.set.get(height) === undefined) throw lacking(directory, height)
    store.retire.run(height)
    store.remove.run(height)
    store.dropSets.run(0, height)
  }
})

export const openCoinStatsIndex = (place: IndexPlace, params: ConsensusParams) =>
  Effect.map(openIndex(definition(params, place.directory), place), ({ follower, read }): CoinStatsIndex => ({
    follower,
    stats: ({ hash, height }) =>
      read((store) => {
        const row = store.at.get(height)
        const found = row !== undefined && equal(row.hash, hash) ? row : store.stale.get(hash)
        return found === undefined ? undefined : decodeRow(found)
      })
  }))
