import { grouped, quantityOf } from "../../base/quantities.ts"
import { MAX_BLOCK_WEIGHT } from "../../consensus/params.ts"
import type { ListedBlock } from "../explorer/blocksData.ts"
import { ago } from "../format.ts"
import { type Html, html, type Part } from "../html.ts"
import { blockLink, blocksLink, poolLink } from "../links.ts"
import type { WaitingBlock } from "./waitingBlock.ts"

/**
 * The latest blocks as tiles, the newest first, and before them the block that would be made now. A tile has a square
 * for each transaction, those of names in the accent colour, and a bar for its weight. Both are also in words.
 */

export interface WeighedBlock extends ListedBlock {
  /** Weight units; `undefined` if not known. */
  readonly weight: number | undefined
}

export interface StripShown {
  /** Newest first. */
  readonly blocks: ReadonlyArray<WeighedBlock>
  /** `undefined` while blocks are missing. */
  readonly waiting: WaitingBlock | undefined
  /** Seconds since 1970. */
  readonly now: number
}

const COLUMNS = 8
const MOST_ROWS = 6

/** As high as these, so that small blocks look small. */
const LEAST_ROWS = 3

/** Size of a square with its gap, in units of the drawing; the style has the same for strokes. */
const CELL = 4

interface Scale {
  /** Transactions of a square: 1, 2, 5, 10 and so on. */
  readonly each: number
  readonly rows: number
}

const STEPS = [1, 2, 5]

/** So that the largest block fits. */
const scaleOf = (most: number): Scale => {
  for (let power = 1;; power *= 10) {
    for (const step of STEPS) {
      const each = step * power
      const rows = Math.ceil(most / each / COLUMNS)
      if (rows <= MOST_ROWS) return { each, rows: Math.max(LEAST_ROWS, rows) }
    }
  }
}

/** One after the other, row by row from the bottom. Each row is a dashed line: the style makes squares of it. */
const squares = (
  { from, rows, to }: { readonly from: number; readonly to: number; readonly rows: number }
): string => {
  let path = ""
  for (let at = from; at < to;) {
    const column = at % COLUMNS
    const count = Math.min(to - at, COLUMNS - column)
    const y = CELL * (rows - Math.floor(at / COLUMNS)) - 2.5
    path += `M${CELL * column} ${y}h${CELL * count - 1}`
    at += count
  }
  return path
}

interface Filling {
  readonly transactions: number
  readonly operations: number | undefined
  readonly weight: number | undefined
}

const drawing = ({ operations = 0, transactions }: Filling, { each, rows }: Scale): Html => {
  const all = Math.ceil(transactions / each)
  const names = Math.min(all, Math.ceil(operations / each))
  return html`<svg class="squares" viewBox="${`0 0 ${CELL * COLUMNS - 1} ${
    CELL * rows - 1
  }`}" aria-hidden="true"><path class="of-names" d="${squares({ from: 0, to: names, rows })}"/><path d="${
    squares({ from: names, to: all, rows })
  }"/></svg>`
}

const percentOf = (weight: number): number => Math.min(100, 100 * weight / MAX_BLOCK_WEIGHT)

const fullText = (percent: number): string =>
  percent > 0 && percent < 1 ? "under 1 % full" : `${Math.round(percent)} % full`

const gauge = (percent: number): Html =>
  html`<svg class="gauge" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="4"/><rect class="used" width="${
    String(percent > 0 ? Math.max(2, Math.round(percent)) : 0)
  }" height="4"/></svg>`

interface TileShown extends Filling {
  readonly heading: Part
  readonly when: Part
}

const inside = ({ heading, when, ...filling }: TileShown, scale: Scale): Html => {
  const { operations, transactions, weight } = filling
  const percent = weight === undefined ? undefined : percentOf(weight)
  return html`<b>${heading}</b><span class="muted">${when}</span>${drawing(filling, scale)}${
    operations === undefined
      ? html`<span class="muted"><abbr title="not known">–</abbr> names</span>`
      : operations === 0
      ? html`<span class="muted">no names</span>`
      : html`<span class="names-count">${quantityOf(operations, "name")}</span>`
  }<span class="muted">${grouped(transactions)} <abbr title="transactions">tx</abbr></span>${
    percent !== undefined && html`${gauge(percent)}<span class="muted">${fullText(percent)}</span>`
  }`
}

const tile = (scale: Scale, now: number) => ({ info, operations, weight }: WeighedBlock): Html =>
  html`<li><a class="tile" href="${blockLink(info.height)}">${
    inside({
      heading: html`<span class="out">Block </span>${grouped(info.height)}`,
      when: ago(info.header.time, { now }),
      transactions: info.transactions,
      operations,
      weight
    }, scale)
  }</a></li>`

const waitingTile = (scale: Scale, waiting: WaitingBlock): Html =>
  html`<li><a class="tile waiting" href="${poolLink({ order: "rate" })}">${
    inside({ ...waiting, heading: "Next", when: "if mined now" }, scale)
  }</a></li>`

export const stripView = ({ blocks, now, waiting }: StripShown): Html => {
  const scale = scaleOf(Math.max(waiting?.transactions ?? 0, ...blocks.map(({ info }) => info.transactions)))
  return html`<section id="blocks" aria-labelledby="blocks-title">
<div class="section-head"><h2 id="blocks-title">Latest blocks</h2><a href="${blocksLink()}">All blocks</a></div>
<ul class="strip">${waiting !== undefined && waitingTile(scale, waiting)}${blocks.map(tile(scale, now))}</ul>
<p class="legend"><span class="key" aria-hidden="true"></span>Each square is ${
    scale.each === 1 ? "a transaction" : quantityOf(scale.each, "transaction")
  }. Coloured squares register, update or renew names.</p>
</section>`
}
