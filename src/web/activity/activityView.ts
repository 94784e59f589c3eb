import { grouped, quantityOf, sizeText } from "../../base/quantities.ts"
import { amountText } from "../../protocol/amount.ts"
import { difficultyText } from "../explorer/words.ts"
import { day } from "../format.ts"
import { type Html, html } from "../html.ts"
import type { Activity, ChainDay, FeeFor, PoolPart } from "./activityData.ts"
import { type Chart, chartView, type Point } from "./svg.ts"

/** The page of charts. */

/** The mean of the days that are over. */
const meanOf = (days: ReadonlyArray<ChainDay>, value: (day: ChainDay) => number | undefined): number | undefined => {
  const known = days.slice(0, -1).flatMap((each) => value(each) ?? [])
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length
}

const meanText = (mean: number | undefined): string =>
  mean === undefined ? "–" : mean < 10 ? String(Math.round(10 * mean) / 10) : grouped(mean)

const LIGHT = "The node has only the last blocks so far. It draws this when it has the whole chain."

const blocks = ({ days, light }: Activity): Chart => ({
  key: "blocks",
  title: "Blocks a day",
  headline: { value: meanText(meanOf(days, ({ blocks }) => blocks)), note: "on an average day" },
  description: light
    ? LIGHT
    : `Blocks of each of the last ${quantityOf(days.length, "day")}; the last one is not over.`,
  columns: ["Day (UTC)", "Blocks"],
  points: days.map(({ blocks, start }) => ({ label: day(start), value: blocks, text: grouped(blocks) })),
  form: "bars"
})

const operations = ({ days, light }: Activity): Chart => ({
  key: "operations",
  title: "Name operations a day",
  headline: { value: meanText(meanOf(days, ({ operations }) => operations)), note: "on an average day" },
  description: light
    ? LIGHT
    : `Registrations and updates of each of the last ${quantityOf(days.length, "day")}; the last one is not over.`,
  columns: ["Day (UTC)", "Operations"],
  points: days.map(({ operations, start }) => ({
    label: day(start),
    value: operations ?? 0,
    text: operations === undefined ? "not known" : grouped(operations)
  })),
  form: "bars"
})

const difficulty = ({ difficulty, light }: Activity): Chart => {
  const last = difficulty.at(-1)
  return {
    key: "difficulty",
    title: "Difficulty",
    headline: { value: last === undefined ? "–" : difficultyText(last.difficulty), note: "at the last block" },
    description: light ? LIGHT : `Difficulty at ${quantityOf(difficulty.length, "block")} of the last year.`,
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
  label: quantityOf(target, "block"),
  value: feeRate,
  text: amountText(feeRate)
})

const fees = ({ fees }: Activity): Chart => {
  const [first] = fees
  return {
    key: "fees",
    title: "Fee rates",
    headline: first === undefined
      ? { value: "–", note: "a kvB" }
      : { value: amountText(first.feeRate), note: `a kvB, mined within ${quantityOf(first.target, "block")}` },
    description: first === undefined
      ? "The node has not seen enough transactions to estimate fees."
      : "Estimated fee rate by the number of blocks within which a transaction is mined.",
    columns: ["Mined within", "NMC a kvB"],
    points: fees.map(feePoint),
    form: "bars"
  }
}

const poolPoint = ({ from, transactions, vsize }: PoolPart): Point => ({
  label: `from ${amountText(from)}`,
  value: vsize,
  text: `${quantityOf(transactions, "transaction")}, ${sizeText(vsize)}`
})

/** The mempool by fee rate. */
export const poolChart = (parts: ReadonlyArray<PoolPart>): Chart => {
  const transactions = parts.reduce((sum, part) => sum + part.transactions, 0)
  const vsize = parts.reduce((sum, part) => sum + part.vsize, 0)
  return {
    key: "mempool",
    title: "Mempool by fee rate",
    headline: {
      value: grouped(transactions),
      note: `${transactions === 1 ? "transaction" : "transactions"}, ${sizeText(vsize)}`
    },
    description: transactions === 0
      ? "The mempool is empty."
      : "Virtual bytes in the mempool by the fee rate of their transactions, in NMC a kvB.",
    columns: ["NMC a kvB", "Transactions"],
    points: transactions === 0 ? [] : parts.map(poolPoint),
    form: "bars"
  }
}

export const activityView = (activity: Activity): Html =>
  html`<h1>Activity</h1><div class="charts">${
    [blocks(activity), operations(activity), fees(activity), poolChart(activity.pool), difficulty(activity)]
      .map(chartView)
  }</div>`
