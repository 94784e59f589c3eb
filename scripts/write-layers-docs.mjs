// Writes the generated part of docs/layers.md, below the mark: the options of each layer, from the option table of the build.
// The part above the mark is written by hand and stays.
// Usage: write-layers-docs.mjs [--check] [file]; with --check it writes nothing and fails where the file differs.

import * as Fields from "../build/src/config/nodeFields.js"
import { OPTIONS } from "../build/src/config/options.js"
import { writeGeneratedPart } from "./generatedPart.mjs"

/** The layers, each with the fields that it takes. */
const LAYERS = [
  ["Chain.layer", Fields.CHAIN_FIELDS],
  ["NameDb.layer", Fields.NAME_FIELDS],
  ["Mempool.layer", Fields.MEMPOOL_FIELDS],
  ["Wallet.layer", Fields.WALLET_FIELDS],
  ["PeerManager.layer", Fields.PEER_FIELDS],
  ["RpcServer.layer", Fields.RPC_FIELDS],
  ["Metrics.layer", Fields.METRICS_FIELDS]
]

const defaultOf = (option) => option.defaultNote ?? (option.default === "" ? "not set" : option.default)

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")

const rowOf = ([field, name]) => {
  const option = OPTIONS[name]
  return `| \`${field}\` | ${cell(option.description)} | ${cell(defaultOf(option))} |`
}

const section = ([layer, fields]) => [
  `### ${layer}`,
  "",
  "| field | meaning | default |",
  "|---|---|---|",
  ...Object.entries(fields).map(rowOf),
  ""
]

const generated = ["## Every option", "", ...LAYERS.flatMap(section)].join("\n")

writeGeneratedPart({ generated, page: "docs/layers.md", script: "write-layers-docs.mjs", source: "options" })
