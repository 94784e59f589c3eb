import { type Html, html } from "../html.ts"
import { row } from "../parts.ts"

/**
 * Charts as SVG, drawn on the server. Labels are HTML, because text within a chart would become too small on a phone.
 * For accessibility, each chart has a title, a description and a table with its figures.
 */

export interface Point {
  readonly label: string
  readonly value: number
  readonly text: string
  /** Whether the value still grows, as that of today. */
  readonly growing?: boolean
}

export interface Chart {
  /** Unique on its page. */
  readonly key: string
  readonly title: string
  /** The most important figure, and what it is. */
  readonly headline: { readonly value: string; readonly note: string }
  /** For screen readers. */
  readonly description: string
  /** In place of a drawing of too few points. */
  readonly few: string
  readonly columns: readonly [label: string, value: string]
  readonly points: ReadonlyArray<Point>
  /** Bars from zero, or a line from a little below the smallest value. */
  readonly form: "bars" | "line"
}

const WIDTH = 300
const HEIGHT = 90

const GAP = 0.22

/** One or two bars say less than a sentence. */
const LEAST_POINTS = 3

/** Whether there is something to see: enough points, and a line that is not flat. */
export const isDrawn = ({ form, points }: Chart): boolean =>
  points.length >= LEAST_POINTS && (form === "bars" || points.some(({ value }) => value !== points[0]?.value))

const at = (value: number): string => String(Math.round(10 * value) / 10)

const bar =
  ({ count, most }: { readonly count: number; readonly most: number }) =>
  ({ growing = false, label, text, value }: Point, index: number): Html => {
    const place = WIDTH / count
    const height = most <= 0 ? 0 : HEIGHT * value / most
    // A value above zero is always visible.
    const shown = value > 0 ? Math.max(1, height) : 0
    return html`<rect class="${growing ? "growing" : ""}" x="${at((index + GAP / 2) * place)}" y="${
      at(HEIGHT - shown)
    }" width="${at(place * (1 - GAP))}" height="${at(shown)}"><title>${label}: ${text}</title></rect>`
  }

const line = (points: ReadonlyArray<Point>): Html => {
  const values = points.map(({ value }) => value)
  const most = Math.max(...values)
  const least = Math.min(...values)
  const floor = least - (most - least) / 8
  const span = most - floor
  const place = WIDTH / (points.length - 1)
  const steps = points.map(({ value }, index) => `${at(index * place)},${at(HEIGHT - HEIGHT * (value - floor) / span)}`)
  return html`<path class="area" d="${`M0,${HEIGHT} L${
    steps.join(" ")
  } ${WIDTH},${HEIGHT}Z`}"/><path class="line" d="${`M${steps.join(" ")}`}"/>`
}

const drawing = ({ form, points }: Chart): Html => {
  if (form === "line") return line(points)
  return html`${points.map(bar({ count: points.length, most: Math.max(0, ...points.map(({ value }) => value)) }))}`
}

const pointRow = ({ label, text }: Point): Html =>
  html`<tr><th scope="row">${label}</th><td class="number">${text}</td></tr>`

const table = ({ columns: [label, value], points, title }: Chart): Html =>
  html`<details><summary>As a table<span class="out">: ${title}</span></summary><table><caption class="out">${title}</caption><thead><tr><th scope="col">${label}</th><th scope="col" class="number">${value}</th></tr></thead><tbody>${
    points.map(pointRow)
  }</tbody></table></details>`

const highest = (points: ReadonlyArray<Point>): string =>
  points.reduce((most, point) => point.value > most.value ? point : most, { value: -Infinity, text: "" }).text

/** Too few points are a sentence. */
export const chartView = (chart: Chart): Html => {
  const { description, few, headline, key, points, title } = chart
  const heading = `${key}-heading`
  return html`<section id="${key}" class="card chart" aria-labelledby="${heading}"><h2 id="${heading}">${title}</h2>${
    isDrawn(chart)
      ? html`<p class="headline"><b>${headline.value}</b> <span>${headline.note}</span></p><p class="peak" aria-hidden="true">${
        highest(points)
      }</p><svg viewBox="${`0 0 ${WIDTH} ${HEIGHT}`}" preserveAspectRatio="none" role="img" aria-labelledby="${`${key}-title ${key}-description`}"><title id="${`${key}-title`}">${title}</title><desc id="${`${key}-description`}">${description}</desc>${
        drawing(chart)
      }</svg><p class="axis" aria-hidden="true"><span>${points[0]?.label}</span><span>${
        points.at(-1)?.label
      }</span></p>${table(chart)}`
      : html`<p class="empty">${few}</p>`
  }</section>`
}

/** The charts, and the sentences of those without a drawing in one place. */
export const chartsView = (charts: ReadonlyArray<Chart>): Html => {
  const drawn = charts.filter(isDrawn)
  const sentences = charts.filter((chart) => !isDrawn(chart))
  return html`${drawn.length > 0 && html`<div class="charts">${drawn.map(chartView)}</div>`}${
    sentences.length > 0 &&
    html`<section class="card" aria-label="Without a chart"><dl class="record sentences">${
      sentences.map(({ few, title }) => row(title, html`${few}`))
    }</dl></section>`
  }`
}
