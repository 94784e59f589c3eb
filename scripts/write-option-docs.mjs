// Adds what docs/configuration.md and docs/svcd.conf.sample lack of the options of the build, behind the option that precedes each in the
// table, and writes the options of docs/layers.md. What is there stays: a row that this script has added may be written better.
// Usage: write-option-docs.mjs [folder of the documents]

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { stringify } from "smol-toml"
import { OPTIONS } from "../build/src/config/options.js"

const docs = process.argv[2] ?? fileURLToPath(new URL("../docs", import.meta.url))

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`

const isSwitch = ({ toml }) => toml === "boolean"

const valueOf = (option) => {
  const value = isSwitch(option) ? "switch" : option.placeholder === "N" ? "number" : `\`${option.placeholder}\``
  return value.replaceAll("|", "`, `") + (option.repeatable ? "; may be repeated" : "") +
    (option.key === undefined ? "; a flag only" : "")
}

const defaultOf = (option) => {
  if (isSwitch(option)) return option.default === "1" ? "on, `1`" : "off, `0`"
  return option.default === "" ? option.defaultNote ?? "none" : `\`${option.default}\``
}

const labelOf = (name) => `\`${OPTIONS[name].flag ? `-${name}` : OPTIONS[name].key}\``

const rowOf = (name) => {
  const option = OPTIONS[name]
  const env = option.env === undefined ? " " : ` \`${option.env}\` `
  return `| ${labelOf(name)} | ${valueOf(option)} | ${defaultOf(option)} |${env}| ${
    sentence(option.description).replaceAll("|", "\\|")
  } |`
}

const keyOf = (name) => OPTIONS[name].key?.split(".").at(-1)

const exampleOf = (option) => {
  const text = option.default === "" ? option.placeholder : option.default
  if (option.repeatable) return [text]
  if (isSwitch(option)) return text === "1"
  return option.toml === "integer" ? Number(text) : text
}

const sampleOf = (name) => [
  "",
  `# ${sentence(OPTIONS[name].description)}`,
  `# ${stringify({ [keyOf(name)]: exampleOf(OPTIONS[name]) }).trim()}`
]

/** The file with lines for each name that it has no line of, behind the last one of the names before it in their group. */
const complete = (file, names, { hasLine, linesFor }) => {
  const lines = readFileSync(file, "utf8").split("\n")
  for (const [at, name] of names.entries()) {
    if (lines.some((line) => hasLine(line, name))) continue
    const { group } = OPTIONS[name]
    const before = names.slice(0, at).filter((each) => OPTIONS[each].group === group)
    const last = lines.findLastIndex((line) => before.some((each) => hasLine(line, each)))
    if (last < 0) throw new Error(`${file} has no line of the group "${group}" before ${name}`)
    lines.splice(last + 1, 0, ...linesFor(name))
    console.log(`${file}:${last + 2}: ${name} added`)
  }
  writeFileSync(file, lines.join("\n"))
}

const names = Object.keys(OPTIONS)

complete(join(docs, "configuration.md"), names, {
  hasLine: (line, name) => line.startsWith("|") && (line.split("|")[1] ?? "").includes(labelOf(name)),
  linesFor: (name) => [rowOf(name)]
})

complete(join(docs, "svcd.conf.sample"), names.filter((name) => keyOf(name) !== undefined), {
  hasLine: (line, name) => line.startsWith(`# ${keyOf(name)} = `),
  linesFor: sampleOf
})

process.argv[2] = join(docs, "layers.md")
await import("./write-layers-docs.mjs")
