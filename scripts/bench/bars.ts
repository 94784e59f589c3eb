import { type Figures, numberOf } from "./goals.ts"

/** The headings of the sections that the bars read. */
export const REFERENCE_TITLE = "Beside the reference node"
export const GROWTH_TITLE = "A chain ten times as long"

/** A limit that svcd is judged by: a row of the first table of the page. */
interface Bar {
  readonly figure: string
  /** The section that has the figure. */
  readonly section: string
  /** The path of the figure. With `paired`, those below it are the figure of svcd, of the reference node, and their ratio. */
  readonly path: string
  readonly paired: boolean
  /** What the limit is for. */
  readonly judged: "svcd" | "ratio"
  readonly most: number
}

const beside = { section: REFERENCE_TITLE, paired: true } as const
const growth = { section: GROWTH_TITLE, paired: false } as const

const BARS: ReadonlyArray<Bar> = [
  { figure: "import, CPU seconds", path: "import.cpuSeconds", judged: "ratio", most: 1.25, ...beside },
  { figure: "import, seconds", path: "import.seconds", judged: "ratio", most: 1.1, ...beside },
  {
    figure: "import with scripts assumed valid, CPU seconds",
    path: "importScriptsAssumed.cpuSeconds",
    judged: "ratio",
    most: 1.25,
    ...beside
  },
  { figure: "peak memory of the import, MB", path: "import.peakMemoryMB", judged: "svcd", most: 200, ...beside },
  {
    figure: "peak memory of a chain ten times as long, MB",
    path: "memoryMB.peak",
    judged: "svcd",
    most: 250,
    ...growth
  },
  { figure: "memory a minute after the import, MB", path: "memoryAtTipMB", judged: "svcd", most: 150, ...beside },
  { figure: "`name_show`, CPU microseconds", path: "nameShowCpuMicroseconds", judged: "ratio", most: 0.4, ...beside },
  { figure: "sync from the reference, CPU seconds", path: "sync.cpuSeconds", judged: "ratio", most: 1, ...beside },
  { figure: "sync from the reference, seconds", path: "sync.seconds", judged: "ratio", most: 1, ...beside },
  {
    figure: "last tenth of the long chain to its second, CPU per transaction",
    path: "lastTenthToSecond",
    judged: "ratio",
    most: 1.15,
    ...growth
  }
]

const NOT_MEASURED = "not measured"

const row = (sections: ReadonlyMap<string, Figures>, bar: Bar): string => {
  const { figure, judged, most, paired, path, section } = bar
  const figures = new Map(sections.get(section) ?? [])
  const at = (end: string): string => figures.get(path + end) ?? NOT_MEASURED
  const [svcd, reference, ratio] = paired
    ? [at(".first"), at(".second"), at(".ratio")]
    : judged === "ratio"
    ? ["", "", at("")]
    : [at(""), "", ""]
  const value = judged === "ratio" ? ratio : svcd
  const held = numberOf(value) <= most ? "yes" : "no"
  return `| ${figure} | ${svcd} | ${reference} | ${ratio} | ${judged} <= ${most} | ${held} |`
}

/** The first table of the page: what svcd is judged by, from the figures of the sections. */
export const barTable = (sections: ReadonlyMap<string, Figures>): string =>
  [
    "| figure | svcd | reference | ratio | bar | held |",
    "|---|---|---|---|---|---|",
    ...BARS.map((bar) => row(sections, bar))
  ].join("\n")
