// Writes the generated part of docs/metrics.md, below the mark, from the metrics table of the build.
// The part above the mark is written by hand and stays.
// Usage: write-metrics-docs.mjs [--check] [file]; with --check it writes nothing and fails where the file differs.

import { METRICS } from "../build/src/metrics/metrics.js"
import { metricPart } from "../build/src/metrics/shownMetrics.js"
import { writeGeneratedPart } from "./generatedPart.mjs"

const labelText = ({ label, values }) => {
  if (label === undefined) return ""
  return values === undefined ? `\`${label}\`` : `\`${label}\`: ${values.map((value) => `\`${value}\``).join(", ")}`
}

const SHOWN = {
  alerts: "with `-alertmail` or `-watch`, or while a name needs its owner",
  detail: "with `-metricsdetail`",
  dns: "while the node answers DNS",
  electrum: "while the node serves Electrum clients",
  indexes: "with an optional index",
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

writeGeneratedPart({ generated, page: "docs/metrics.md", script: "write-metrics-docs.mjs", source: "metrics" })
