import { type Html, html } from "../html.ts"

/**
 * Charts as SVG, drawn on the server. Labels are HTML, because text within a chart would become too small on a phone.
 * For accessibility, each chart has a title, a description and a table with its figures.
 */

export interface Point {
  readonly label: string
  readonly value: number
  readonly text: string
}

export interface Chart {
  /** Unique on its page. */
  readonly key: string
  readonly title: string
  /** The most important figure, and what it is. */
  readonly headline: { readonly value: string; readonly note: string }
  /** For screen readers. */
  readonly description: string
  readonly columns: readonly [label: string, value: string]
  readonly points: ReadonlyArray<Point>
  /** Bars from zero, or a line from a little below the smallest value. */
  readonly form: "bars" | "line"
}

const WIDTH = 300
const HEIGHT = 90

const GAP = 0.22

const at = (value: number): string => String(Math.round(10 * value) / 10)

const bar =
  ({ count, most }: { readonly count: number; readonly most: number }) =>
  ({ label, text, value }: Point, index: number): Html => {
    const place = WIDTH / count
    const height = most <= 0 ? 0 : HEIGHT * value / most
    // A value above zero is always visible.
    const shown = value > 0 ? Math.max(1, height) : 0
    return html`<rect x="${at((index + GAP / 2) * place)}" y="${at(HEIGHT - shown)}" width="${
      at(place * (1 - GAP))
    }" height="${at(shown)}"><title>${label}: ${text}</title></rect>`
  }

const line = (points: ReadonlyArray<Point>): Html => {
  const values = points.map(({ value }) => value)
  const most = Math.max(...values)
  const least = Math.min(...values)
  // A constant line is in the middle.
  const floor = most === least ? 0 : least - (most - least) / 8
  const span = most === least ? Math.max(2 * most, Number.MIN_VALUE) : most - floor
  const place = WIDTH / Math.max(1, points.length - 1)
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
  html`<details><summary>Figures<span class="out"> of ${title}</span></summary><table><caption class="out">${title}</caption><thead><tr><th scope="col">${label}</th><th scope="col" class="number">${value}</th></tr></thead><tbody>${
    points.map(pointRow)
  }</tbody></table></details>`

const highest = (points: ReadonlyArray<Point>): string =>
  points.reduce((most, point) => point.value > most.value ? point : most, { value: -Infinity, text: "" }).text

/** Without points, the description says why. */
export const chartView = (chart: Chart): Html => {
  const { description, headline, key, points, title } = chart
  const first = points[0]
  const last = points.at(-1)
  return html`<section id="${key}" class="card chart" aria-labelledby="${`${key}-heading`}"><h2 id="${`${key}-heading`}">${title}</h2>
<p class="headline"><b>${headline.value}</b> <span>${headline.note}</span></p>${
    first === undefined || last === undefined
      ? html`<p class="empty">${description}</p>`
      : html`<svg viewBox="${`0 0 ${WIDTH} ${HEIGHT}`}" preserveAspectRatio="none" role="img" aria-labelledby="${`${key}-title ${key}-description`}"><title id="${`${key}-title`}">${title}</title><desc id="${`${key}-description`}">${description}</desc>${
        drawing(chart)
      }</svg><p class="axis" aria-hidden="true"><span>${first.label}</span><span>highest ${
        highest(points)
      }</span><span>${last.label}</span></p>${table(chart)}`
  }</section>`
}
