import type { Screen } from "./outcome.ts"
import { cutTo, padTo, shownText, widthOf } from "./textWidth.ts"

export type Colour = "red" | "yellow" | "green" | "bold" | "dim"

const CODES: Readonly<Record<Colour, number>> = { red: 31, yellow: 33, green: 32, bold: 1, dim: 90 }

export const painted = (text: string, colour: Colour | undefined, { colours }: Screen): string =>
  colour === undefined || !colours ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** Not cut below this width while another column can be. */
  readonly atLeast?: number
}

export interface TableCell {
  /** Any text: the table makes it safe. */
  readonly text: string
  readonly colour?: Colour | undefined
}

const GAP = 2

/**
 * Where nothing is cut, a cell that is longer moves only its own line: one long name must not widen all of them. The id of a transaction is
 * as long as this.
 */
const WIDEST_PADDING = 64

/** What the texts need, less for the widest columns if the terminal is too narrow. */
const widthsOf = (
  needed: ReadonlyArray<number>,
  columns: ReadonlyArray<Column>,
  room: number
): ReadonlyArray<number> => {
  const widths = [...needed]
  const least = columns.map(({ atLeast }, at) => Math.min(needed[at] ?? 0, atLeast ?? needed[at] ?? 0))
  const sum = () => widths.reduce((total, width) => total + width, 0)
  for (let over = sum() + GAP * (widths.length - 1) - room; over > 0;) {
    const spare = widths.map((width, at) => width - (least[at] ?? 0))
    const widest = spare.indexOf(Math.max(...spare))
    const taken = Math.min(over, spare[widest] ?? 0)
    if (taken <= 0) break
    widths[widest] = (widths[widest] ?? 0) - taken
    over -= taken
  }
  return widths
}

/** No line is wider than the terminal, if the minimum widths fit. */
export const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<TableCell>>,
  screen: Screen
): ReadonlyArray<string> => {
  const shown = rows.map((row) => row.map((cell) => ({ ...cell, text: shownText(cell.text) })))
  const needed = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...shown.map((row) => widthOf(row[at]?.text ?? "")))
  )
  const widths = widthsOf(needed, columns, screen.columns ?? Infinity)
  const line = (cells: ReadonlyArray<TableCell>): string =>
    cells.map(({ colour, text }, at) => {
      const width = widths[at] ?? 0
      const room = screen.columns === undefined ? Math.min(width, WIDEST_PADDING) : width
      const fitted = padTo(cutTo(text, width), room, columns[at]?.align)
      return painted(at === columns.length - 1 ? fitted.trimEnd() : fitted, colour, screen)
    }).join(" ".repeat(GAP)).trimEnd()
  return [line(columns.map(({ title }) => ({ text: title, colour: "bold" }))), ...shown.map(line)]
}

export const labelled = (
  rows: ReadonlyArray<readonly [label: string, value: string, colour?: Colour | undefined]>,
  screen: Screen
): ReadonlyArray<string> => {
  const width = Math.max(...rows.map(([label]) => label.length)) + GAP
  const room = Math.max(10, (screen.columns ?? Infinity) - width)
  return rows.map(([label, value, colour]) =>
    painted(padTo(label, width), "bold", screen) + painted(cutTo(shownText(value), room), colour, screen)
  )
}
