// Writes the generated part of docs/layers.md, below the mark: the options of each layer, from the option table of the build.
// The part above the mark is written by hand and stays.
// Usage: write-layers-docs.mjs [--check] [file]; with --check it writes nothing and fails where the file differs.

import { fieldsOf, LAYER_PARTS } from "../build/src/config/nodeOptions.js"
import { OPTIONS } from "../build/src/config/options.js"
import { writeGeneratedPart } from "./generatedPart.mjs"

/** The layer of a whole node has the options of the others. */
const LAYERS = Object.keys(LAYER_PARTS).filter((layer) => layer !== "Node")

/** A switch has its value in a program, and words of the command line are those of the fields. */
const defaultOf = (option) => {
  if (option.toml === "boolean") return option.default === "1" ? "true" : "false"
  return inFields(option.defaultNote ?? (option.default === "" ? "not set" : option.default))
}

const FIELD_OF = new Map(LAYERS.flatMap((layer) => [...fieldsOf(layer)]).map(([field, name]) => [name, field]))

/** A text with the names of fields in place of those of flags. */
const inFields = (text) => text.replaceAll(/-?\b[a-z]{6,}\b/g, (word) => FIELD_OF.get(word.replace(/^-/, "")) ?? word)

const unitOf = (option) => option.placeholder === "NMC" ? " (as a number: 10⁻⁸ NMC)" : ""

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")

const rowOf = ([field, name]) => {
  const option = OPTIONS[name]
  return `| \`${field}\` | ${cell(inFields(option.description))}${unitOf(option)} | ${cell(defaultOf(option))} |`
}

const section = (layer) => [
  `### ${layer}.layer`,
  "",
  "| field | meaning | default |",
  "|---|---|---|",
  ...[...fieldsOf(layer)].map(rowOf),
  ""
]

const generated = ["## Every option", "", ...LAYERS.flatMap(section)].join("\n")

writeGeneratedPart({ generated, page: "docs/layers.md", script: "write-layers-docs.mjs", source: "options" })
