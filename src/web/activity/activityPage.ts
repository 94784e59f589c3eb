import * as Effect from "effect/Effect"
import { monotonic, unixTime } from "../../base/clock.ts"
import { grouped, quantityOf, sizeText } from "../../base/quantities.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { Chain } from "../../chain/Chain.ts"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { FeeEstimator } from "../../mempool/fees/FeeEstimator.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { rateOf } from "../../mempool/policy/feeRate.ts"
import { operationsWithin } from "../../names/events/blockOperations.ts"
import { NameDb } from "../../names/NameDb.ts"
import { amountText, shortAmount } from "../../protocol/amount.ts"
import { binaryString } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { day, difficultyText, rateText } from "../format.ts"
import { type Html, html } from "../html.ts"
import type { PageBody } from "../layout.ts"
import { ACTIVITY } from "../links.ts"
import { type Chart, chartsView, type Point } from "./svg.ts"

/** The page of charts. Blocks and difficulty come from headers, operations from names.db; no block is read. */

interface ChainDay {
  /** Seconds since 1970. */
  readonly start: number
  readonly blocks: number
  /** Operations that set names; `undefined` where names.db lacks blocks of the day. */
  readonly operations: number | undefined
}

interface DifficultyAt {
  /** Time of the block, in seconds since 1970. */
  readonly time: number
  readonly difficulty: number
}

interface FeeFor {
  /** Blocks within which a transaction is mined. */
  readonly target: number
  /** Smallest units per kvB. */
  readonly feeRate: number
}

/** The part of the mempool from a fee rate up to the next one. */
export interface PoolPart {
  /** Smallest units per kvB. */
  readonly from: number
  readonly transactions: number
  readonly vsize: number
}

const DAY = 86_400

const DAYS = 30

/** On a network that makes blocks on demand, thousands may be of one day. */
const MOST_HEADERS = 20_000

/** A year of the main network, and the points of its line. */
const DIFFICULTY_BLOCKS = 52_560
const DIFFICULTY_POINTS = 60

const TARGETS = [2, 3, 6, 12, 24, 72, 144, 504, 1_008] as const

/** Lower ends of the mempool's parts, as multiples of the lowest relayed rate. */
const MULTIPLES = [0, 1, 2, 3, 5, 10, 20, 50, 100] as const

/** Both included. */
interface DayHeights {
  readonly start: number
  readonly from: number
  readonly to: number
}

const dayOf = (time: number): number => time - time % DAY

/** By the median times of blocks, which never fall. Oldest first. */
const daysOf = (tree: HeaderTree): ReadonlyArray<DayHeights> => {
  const days: Array<DayHeights> = []
  const tip = tree.tip()
  const oldest = dayOf(tree.medianTimePast(tip)) - (DAYS - 1) * DAY
  let id = tip
  for (let left = MOST_HEADERS; left > 0 && id !== NO_HEADER; left--) {
    const start = dayOf(tree.medianTimePast(id))
    if (start < oldest) break
    const height = tree.height(id)
    const last = days.at(-1)
    if (last?.start === start) days[days.length - 1] = { ...last, from: height }
    else days.push({ start, from: height, to: height })
    id = tree.parent(id)
  }
  return days.reverse()
}

/** At evenly spaced blocks, oldest first. */
const difficultiesOf = (tree: HeaderTree): ReadonlyArray<DifficultyAt> => {
  const tip = tree.height(tree.tip())
  const span = Math.min(tip, DIFFICULTY_BLOCKS)
  const points = Math.min(span + 1, DIFFICULTY_POINTS)
  const found: Array<DifficultyAt> = []
  for (let point = 0; point < points; point++) {
    const id = tree.at(Math.round(tip - span + (points === 1 ? 0 : span * point / (points - 1))))
    if (id !== NO_HEADER) found.push({ time: tree.time(id), difficulty: difficultyOf(tree.bits(id)) })
  }
  return found
}

type Pool = typeof Mempool.Service

/** Lowest first. */
export const partsOf = (pool: Pool): ReadonlyArray<PoolPart> => {
  const least = Math.max(1, pool.info().minRelayFeeRate)
  const parts = MULTIPLES.map((multiple) => ({ from: multiple * least, transactions: 0, vsize: 0 }))
  for (const entry of pool.entries()) {
    const rate = rateOf(entry)
    const part = parts.findLast(({ from }) => rate >= from) ?? parts[0]
    if (part === undefined) continue
    part.transactions++
    part.vsize += entry.vsize
  }
  return parts
}

const feesOf = (estimator: typeof FeeEstimator.Service): ReadonlyArray<FeeFor> => {
  const fees: Array<FeeFor> = []
  for (const target of TARGETS) {
    const { blocks, feeRate } = estimator.estimateSmart(target, "economical")
    // An estimate of another target would be shown twice.
    if (feeRate !== undefined && blocks === target) fees.push({ target, feeRate })
  }
  return fees
}

/** Cache time of mempool and fees, in milliseconds. */
const POOL_MS = 5_000

/** Figures of the chain are computed once per tip, those of the mempool every few seconds. */
const makeActivity = Effect.gen(function*() {
  const { tree } = yield* Chain
  const names = yield* NameDb
  const answers = yield* NameAnswers
  const pool = yield* Mempool
  const estimator = yield* FeeEstimator

  /** Operations of completed days, by their last block: counted once. */
  const counted = new Map<string, number>()

  const operationsOf = ({ from, to }: DayHeights): Effect.Effect<number | undefined, StorageFailure> => {
    const key = `${from} ${binaryString(tree.hash(tree.at(to)))}`
    const known = counted.get(key)
    if (known !== undefined) return Effect.succeed(known)
    return names.readLog((log) => operationsWithin(log, { from, to })).pipe(
      Effect.tap((found) =>
        Effect.sync(() => {
          if (found !== undefined) counted.set(key, found)
        })
      ),
      Effect.zipLeft(turnOfEventLoop)
    )
  }

  const readDays = Effect.gen(function*() {
    const heights = daysOf(tree)
    yield* turnOfEventLoop
    const days = yield* Effect.forEach(heights, (each) =>
      Effect.map(operationsOf(each), (operations): ChainDay => ({
        start: each.start,
        blocks: each.to - each.from + 1,
        operations
      })))
    for (const oldest of counted.keys()) {
      if (counted.size <= 2 * DAYS) break
      counted.delete(oldest)
    }
    return days
  })

  let ofChain:
    | { readonly tip: string } & {
      readonly days: ReadonlyArray<ChainDay>
      readonly difficulty: ReadonlyArray<DifficultyAt>
    }
    | undefined
  let ofPool:
    | { readonly until: number; readonly fees: ReadonlyArray<FeeFor>; readonly pool: ReadonlyArray<PoolPart> }
    | undefined

  const readChain = Effect.gen(function*() {
    const tip = binaryString(tree.hash(tree.tip()))
    if (ofChain?.tip === tip) return ofChain
    const days = yield* readDays
    const read = { tip, days, difficulty: difficultiesOf(tree) }
    ofChain = read
    return read
  })

  const readPool = Effect.sync(() => {
    const now = monotonic()
    if (ofPool === undefined || now >= ofPool.until) {
      ofPool = { until: now + POOL_MS, fees: feesOf(estimator), pool: partsOf(pool) }
    }
    return ofPool
  })

  return Effect.gen(function*() {
    // With the last blocks only there are no days.
    const light = answers.fromWindow()
    const { days, difficulty } = light ? { days: [], difficulty: [] } : yield* readChain
    const { fees, pool } = yield* readPool
    return { now: yield* unixTime, light, days, difficulty, fees, pool }
  })
})

type Activity = Effect.Effect.Success<Effect.Effect.Success<typeof makeActivity>>

const meanOf = (days: ReadonlyArray<ChainDay>, value: (day: ChainDay) => number | undefined): number | undefined => {
  const known = days.slice(0, -1).flatMap((each) => value(each) ?? [])
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length
}

const meanText = (mean: number | undefined): string =>
  mean === undefined ? "–" : mean < 10 ? String(Math.round(10 * mean) / 10) : grouped(mean)

const LIGHT = "The node has only recent blocks so far. This chart appears once it has the whole chain."

const FEW_DAYS = "This chart appears once the chain has blocks of three days."

const isToday = ({ start }: ChainDay, now: number): boolean => start === dayOf(now)

interface DailyChart extends Pick<Chart, "key" | "title" | "few"> {
  readonly unit: string
  readonly value: (day: ChainDay) => number | undefined
}

/** Without days of which the value is not known. */
const dailyChart = ({ days, light, now }: Activity, { few, key, title, unit, value }: DailyChart): Chart => {
  const points = days.flatMap((each): ReadonlyArray<Point> => {
    const known = value(each)
    if (known === undefined) return []
    const growing = isToday(each, now)
    return [{ label: growing ? "today so far" : day(each.start), value: known, text: grouped(known), growing }]
  })
  return {
    key,
    title,
    headline: { value: meanText(meanOf(days, value)), note: "daily average" },
    description: `${title} on each of the last ${quantityOf(points.length, "day")}; today is incomplete.`,
    few: light ? LIGHT : few,
    columns: ["Day (UTC)", unit],
    points,
    form: "bars"
  }
}

const blocks = (activity: Activity): Chart =>
  dailyChart(activity, {
    key: "blocks",
    title: "Blocks per day",
    few: FEW_DAYS,
    unit: "Blocks",
    value: ({ blocks }) => blocks
  })

const operations = (activity: Activity): Chart =>
  dailyChart(activity, {
    key: "operations",
    title: "Name operations per day",
    few: "This chart appears once the node knows the name operations of three days.",
    unit: "Operations",
    value: ({ operations }) => operations
  })

const difficulty = ({ difficulty, light }: Activity): Chart => {
  const last = difficulty.at(-1)
  const value = last === undefined ? "–" : difficultyText(last.difficulty)
  return {
    key: "difficulty",
    title: "Difficulty",
    headline: { value, note: "at the latest block" },
    description: `Difficulty at ${quantityOf(difficulty.length, "block")} of the last year.`,
    few: light ? LIGHT : `${value} at the latest block, as at all blocks of the last year.`,
    columns: ["Day (UTC)", "Difficulty"],
    points: difficulty.map(({ difficulty, time }) => ({
      label: day(time),
      value: difficulty,
      text: difficultyText(difficulty)
    })),
    form: "line"
  }
}

const feePoint = ({ feeRate, target }: FeeFor): Point => ({
  label: `within ${quantityOf(target, "block")}`,
  value: feeRate,
  text: rateText(feeRate)
})

const fees = ({ fees }: Activity): Chart => ({
  key: "fees",
  title: "Fee rate, NMC/kvB",
  headline: { value: fees[0] === undefined ? "–" : rateText(fees[0].feeRate), note: "to be mined soon" },
  description: "Estimated fee rate by the number of blocks within which a transaction is mined.",
  few: "There is not enough data for a chart of estimates yet.",
  columns: ["Mined", "NMC/kvB"],
  points: fees.map(feePoint),
  form: "bars"
})

const poolPoint = ({ from, transactions, vsize }: PoolPart): Point => ({
  label: `from ${shortAmount(from)}`,
  value: vsize,
  text: `${quantityOf(transactions, "transaction")}, ${sizeText(vsize)}`
})

/** Up to the highest rate that is paid. */
const paidParts = (parts: ReadonlyArray<PoolPart>): ReadonlyArray<PoolPart> =>
  parts.slice(
    Math.max(0, parts.findIndex(({ transactions }) => transactions > 0)),
    parts.findLastIndex(({ transactions }) => transactions > 0) + 1
  )

export const poolChart = (parts: ReadonlyArray<PoolPart>): Chart => {
  const transactions = parts.reduce((sum, part) => sum + part.transactions, 0)
  const vsize = parts.reduce((sum, part) => sum + part.vsize, 0)
  const paid = paidParts(parts)
  const [lowest] = paid
  return {
    key: "mempool",
    title: "Mempool by fee rate, NMC/kvB",
    headline: {
      value: grouped(transactions),
      note: `${transactions === 1 ? "transaction" : "transactions"}, ${sizeText(vsize)}`
    },
    description: "Virtual bytes in the mempool by the fee rate of their transactions, in NMC per kvB.",
    few: lowest === undefined
      ? "The mempool is empty."
      : `${quantityOf(transactions, "transaction")} of ${sizeText(vsize)}, at fee rates from ${
        amountText(lowest.from)
      } per kvB.`,
    columns: ["NMC/kvB", "Transactions"],
    points: paid.map(poolPoint),
    form: "bars"
  }
}

const activityView = (activity: Activity): Html =>
  html`<h1>Activity</h1>${
    chartsView([blocks(activity), operations(activity), fees(activity), poolChart(activity.pool), difficulty(activity)])
  }`

export const makeActivityPage = Effect.gen(function*() {
  const gather = yield* makeActivity
  const one = yield* Effect.makeSemaphore(1)
  return one.withPermits(1)(
    Effect.map(gather, (found): PageBody => ({
      status: 200,
      title: "Activity",
      at: ACTIVITY,
      now: found.now,
      main: activityView(found)
    }))
  )
})
