/** The table of planted bugs in docs/testing.md, which `--planted --write` keeps. */

/** What a search for a bug gave. */
export interface PlantedRow {
  readonly name: string
  readonly past: boolean
  /** Seeds until it was found, that one included; all that ran if it was not. */
  readonly seeds: number
  /** The property that found it. */
  readonly found: string | undefined
}

const BEGIN = "<!-- planted bugs, written by `npm run simulate -- --planted --write` -->\n"
const END = "<!-- end of planted bugs -->"
const HEAD = "| bug | seeds | found by |\n| --- | ---: | --- |\n"

const ROW = /^\| (.+?) \| +(\d+) \| (.+?) +\|$/gm
const NOTHING = "nothing yet"
const PAST = ", fixed before"

const lineOf = ({ found, name, past, seeds }: PlantedRow): string =>
  `| ${name}${past ? PAST : ""} | ${seeds} | ${found ?? NOTHING} |\n`

const rowsIn = (table: string): ReadonlyArray<PlantedRow> =>
  [...table.matchAll(ROW)].map(([, name = "", seeds, found]) => ({
    name: name.replace(PAST, "").trim(),
    past: name.includes(PAST),
    seeds: Number(seeds),
    found: found === NOTHING ? undefined : found
  }))

/** The text with new rows in place of those of the same bugs; `order`: the names of all bugs. Throws without a table. */
export const withRows = (
  text: string,
  { order, rows }: { readonly rows: ReadonlyArray<PlantedRow>; readonly order: ReadonlyArray<string> }
): string => {
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error("the document has no table of planted bugs")
  const known = new Map([...rowsIn(text.slice(from, to)), ...rows].map((row) => [row.name, row]))
  const lines = order.flatMap((name) => {
    const row = known.get(name)
    return row === undefined ? [] : [lineOf(row)]
  })
  return `${text.slice(0, from)}${BEGIN}\n${HEAD}${lines.join("")}\n${text.slice(to)}`
}
