// Writes the generated part of docs/metrics.md, below the mark, from the metrics table of the build.
// The part above the mark is written by hand and stays.
// Usage: write-metrics-docs.mjs [--check] [file]; with --check it writes nothing and fails where the file differs.

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { METRICS } from "../build/src/metrics/metrics.js"
import { metricPart } from "../build/src/metrics/shownMetrics.js"

const project = fileURLToPath(new URL("..", import.meta.url))
const file = process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? join(project, "docs/metrics.md")
const MARK = "<!-- From here on written by scripts/write-metrics-docs.mjs -->"

const labelText = ({ label, values }) => {
  if (label === undefined) return ""
  return values === undefined ? `\`${label}\`` : `\`${label}\`: ${values.map((value) => `\`${value}\``).join(", ")}`
}

const SHOWN = {
  alerts: "with `-alertmail` or `-watch`",
  detail: "with `-metricsdetail`",
  light: "with a light start",
  webhooks: "with webhooks"
}

const shownText = (family) => SHOWN[metricPart(family)] ?? "always"

const rowOf = (family) =>
  `| \`${family.name}\` | ${family.kind} | ${labelText(family)} | ${family.help} | ${shownText(family)} |`

const bucketsOf = ({ buckets, name }) => `- \`${name}\`: ${buckets.join(", ")}`

const section = (category) => [
  `### ${category[0].toUpperCase()}${category.slice(1)}`,
  "",
  "| metric | type | label | meaning | shown |",
  "|---|---|---|---|---|",
  ...METRICS.filter((family) => family.category === category).map(rowOf),
  ""
]

const generated = [
  `## The ${METRICS.length} metrics`,
  "",
  "`-metricsdetail` shows all of them.",
  "",
  ...[...new Set(METRICS.map(({ category }) => category))].flatMap(section),
  "### Buckets",
  "",
  "Upper bounds of the histograms' buckets in seconds; one without bound follows.",
  "",
  ...METRICS.filter(({ kind }) => kind === "histogram").map(bucketsOf),
  ""
].join("\n")

const before = readFileSync(file, "utf8")
if (!before.includes(MARK)) throw new Error(`${file} has no line ${MARK}`)
const after = `${before.slice(0, before.indexOf(MARK))}${MARK}\n\n${generated}`

if (!process.argv.includes("--check")) writeFileSync(file, after)
else if (after !== before) {
  console.error(`${file} is not what the metrics say: run node scripts/write-metrics-docs.mjs`)
  process.exitCode = 1
}
