/** Writes docs/performance.md: a page of sections, each measured and written by itself. */

const PREFACE = `# Performance

Each section has the figures of one run of \`npm run bench -- --SECTION --write\`, which writes it; without a section the bench measures all of them.
A section without a line "Measured on" was measured on 2026-11-21 or before. A goal is what the figures should reach; some sections
miss theirs, most of all where the machine was busy ("load average before").

Times depend on the machine and on what else it does: compare ratios and processor time. Where a run takes seconds, the middle
of several counts.
`

const shown = (value: unknown): string => {
  if (typeof value !== "number") return String(value)
  if (Number.isInteger(value)) return value.toLocaleString("en-US")
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3)
}

/** The leaves of a result, each with its path. */
const leaves = (value: unknown, path = ""): ReadonlyArray<readonly [string, string]> => {
  if (typeof value !== "object" || value === null) return [[path, shown(value)]]
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}.${key}`))
}

const table = (result: object): string =>
  ["| figure | value |", "|---|---|", ...leaves(result).map(([key, value]) => `| ${key} | ${value} |`)].join("\n")

/** What was measured when, and on what machine. */
export interface Measured {
  readonly title: string
  readonly text: string
  readonly result: object
  /** One line: day, revision, versions, machine. */
  readonly circumstances: string
}

const heading = (title: string): string => `## ${title}\n`

const sectionOf = ({ circumstances, result, text, title }: Measured): string =>
  `${heading(title)}
${text}

${circumstances}

${table(result)}
`

/** The sections of a page, by title, each from its heading on. */
const sectionsIn = (page: string): ReadonlyMap<string, string> =>
  new Map(
    page.split(/^(?=## )/mu).filter((part) => part.startsWith("## "))
      .map((part) => [part.slice(3, part.indexOf("\n")), part.endsWith("\n\n") ? part.slice(0, -1) : part])
  )

/** The page with a section measured again. `titles` are those of all sections in their order; sections of other titles are dropped. */
export const withSection = (page: string, measured: Measured, titles: ReadonlyArray<string>): string => {
  const sections = new Map(sectionsIn(page)).set(measured.title, sectionOf(measured))
  return [PREFACE, ...titles.flatMap((title) => sections.get(title) ?? [])].join("\n")
}
