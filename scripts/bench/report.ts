/** Writes docs/performance.md: a table of what svcd is judged by, and sections, each measured and written by itself. */

import { barTable } from "./bars.ts"
import { type Figures, type Goal, goalLines } from "./goals.ts"

const TITLE = "# Performance\n"

const PREFACE =
  `What svcd costs, for operators and contributors. The first table lists the figures that svcd is judged by, taken from the sections below. \`ratio\` compares svcd with the reference node; \`held\` is "yes" if the figure meets its bar.
`

const READING =
  `Each section has the figures of one run of \`npm run bench -- --SECTION --write\`, which also updates the section. Without \`--SECTION\`, the bench measures all of them.
A section without a line "Measured on" was measured on or before 2026-11-21. A goal is a target for a figure; "Misses" lists the
figures that fall short.

Times depend on the machine and its load, so compare ratios and CPU times. Where runs take seconds, the figure is the median
of several. To compare two builds of svcd, see [Contributing](../CONTRIBUTING.md#comparing-two-builds).
`

const shown = (value: unknown): string => {
  if (typeof value !== "number") return String(value)
  if (Number.isInteger(value)) return value.toLocaleString("en-US")
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3)
}

/** The leaves of a result, each with its path. */
export const figuresOf = (value: unknown, path = ""): Figures => {
  if (typeof value !== "object" || value === null) return [[path, shown(value)]]
  return Object.entries(value).flatMap(([key, inner]) => figuresOf(inner, path === "" ? key : `${path}.${key}`))
}

/** Why a measurement, or a part of one, was left out; `undefined` where it was not. */
export const skippedBecause = (result: object): string | undefined =>
  figuresOf(result).find(([path]) => path === "skipped" || path.endsWith(".skipped"))?.[1]

/** What a section of the page says by itself. */
export interface SectionText {
  readonly title: string
  /** What is measured and how to read the figures, as Markdown. */
  readonly text: string
  readonly goals?: ReadonlyArray<Goal>
}

/** What was measured, when, and on what machine. */
export interface Measured {
  readonly figures: Figures
  /** One line: day, revision, versions, machine. Empty for a section that is older than the line. */
  readonly circumstances: string
}

const table = (figures: Figures): string =>
  ["| figure | value |", "|---|---|", ...figures.map(([key, value]) => `| ${key} | ${value} |`)].join("\n")

const sectionOf = ({ goals = [], text, title }: SectionText, { circumstances, figures }: Measured): string => {
  const lines = goalLines(figures, goals).join("\n")
  return [`## ${title}`, text, lines, circumstances, table(figures)].filter((part) => part !== "").join("\n\n") + "\n"
}

const ROW = /^\| (.+) \| (.*) \|$/u

/** The figures of a page, by the title of their section. */
export const measuredIn = (page: string): ReadonlyMap<string, Measured> =>
  new Map(
    page.split(/^(?=## )/mu).filter((part) => part.startsWith("## ")).map((part) => {
      const lines = part.split("\n")
      const rows = lines.flatMap((line) => {
        const [, path, value] = ROW.exec(line) ?? []
        return path === undefined || value === undefined || path === "figure" ? [] : [[path, value] as const]
      })
      const circumstances = lines.find((line) => line.startsWith("Measured on ")) ?? ""
      return [lines[0]?.slice(3) ?? "", { figures: rows, circumstances }]
    })
  )

/** The page: its texts, and the figures of the sections that were measured. Figures of other titles are left out. */
export const pageOf = (sections: ReadonlyArray<SectionText>, measured: ReadonlyMap<string, Measured>): string => {
  const figures = new Map([...measured].map(([title, section]) => [title, section.figures]))
  const parts = sections.flatMap((section) => {
    const found = measured.get(section.title)
    return found === undefined ? [] : [sectionOf(section, found)]
  })
  return [TITLE, PREFACE, `${barTable(figures)}\n`, READING, ...parts].join("\n")
}

/** The page with one section measured again; the rest is written again from its figures. */
export const withSection = (
  { page, sections }: { readonly page: string; readonly sections: ReadonlyArray<SectionText> },
  title: string,
  measured: Measured
): string => pageOf(sections, new Map(measuredIn(page)).set(title, measured))
