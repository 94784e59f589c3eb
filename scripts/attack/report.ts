import type { Figures, Latency, Limits } from "./figures.ts"
import { judge } from "./figures.ts"

const milliseconds = ({ p50, p99, worst }: Latency): string =>
  [p50, p99, worst].map((value) => value < 10 ? value.toFixed(1) : Math.round(value)).join(" / ")

const COLUMNS = [
  "attack",
  "seconds",
  "ping p50 / p99 / worst",
  "name_show p50 / p99 / worst",
  "new connection p50 / p99 / worst",
  "CPU s",
  "others' CPU s",
  "peak MB",
  "connections",
  "sent MB",
  "verdict"
]

/** The head of the table, in Markdown. */
export const head = (): string => `| ${COLUMNS.join(" | ")} |\n|${"---|".repeat(COLUMNS.length)}`

/** The line of an attack. */
export const line = (figures: Figures, limits: Limits): string => {
  const faults = judge(figures, limits)
  const cells = [
    figures.attack,
    figures.seconds.toFixed(0),
    milliseconds(figures.ping),
    milliseconds(figures.nameShow),
    milliseconds(figures.newCaller),
    figures.cpuSeconds.toFixed(1),
    figures.foreignCpuSeconds.toFixed(1),
    figures.peakMB,
    figures.connections,
    Math.round(figures.sentMB),
    faults.length === 0 ? "held" : `FAILED: ${faults.join("; ")}`
  ]
  return `| ${cells.join(" | ")} |`
}
