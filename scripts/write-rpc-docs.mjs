// Writes the generated part of docs/rpc.md, below the mark, from the method table of the build. The answers are those
// of a node with the chain of test/fixtures. The part above the mark is written by hand and stays.
// Usage: write-rpc-docs.mjs [--check] [file]; with --check it writes nothing and fails where the file differs.

import * as Effect from "effect/Effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ChainControl } from "../build/src/chain/ChainControl.js"
import { ChainSink } from "../build/src/chain/ChainSink.js"
import * as SyncStatus from "../build/src/chain/SyncStatus.js"
import * as Mempool from "../build/src/mempool/Mempool.js"
import * as NameDb from "../build/src/names/NameDb.js"
import { parseJson } from "../build/src/rpc/json/readJson.js"
import { synopsis } from "../build/src/rpc/method/help.js"
import { methodTable } from "../build/src/rpc/method/methodTable.js"
import { describedBy } from "../build/src/rpc/method/results.js"
import { allMethods } from "../build/src/rpc/methods/all.js"
import { example } from "./rpc-docs/examples.mjs"
import { stores } from "./rpc-docs/node.mjs"
import { block, shapeBlock, SHARED } from "./rpc-docs/shapes.mjs"

const project = fileURLToPath(new URL("..", import.meta.url))
const file = process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? join(project, "docs/rpc.md")
const MARK = "<!-- From here on written by scripts/write-rpc-docs.mjs -->"
const before = readFileSync(file, "utf8")
if (!before.includes(MARK)) throw new Error(`${file} has no line ${MARK}`)

// Parameters

const cell = (text) => text.replaceAll("|", "\\|")

const rowsOf = (name, param) => {
  const names = [name, ...param.aliases].map((each) => `\`${each}\``).join(" or ")
  const presence = param.fallback === undefined ? "required" : param.fallback.text || "optional"
  const members = Object.entries(param.members ?? {})
  return [
    `| ${names} | ${cell(param.words.replace("json ", ""))} | ${cell(presence)} | ${cell(param.description)}${
      param.needs === undefined ? "" : ` Needs the right \`${param.needs}\`.`
    } |`,
    ...members.flatMap(([member, each]) => rowsOf(`${name}.${member}`, each))
  ]
}

const parameters = (method) => {
  const shown = Object.entries(method.params)
  if (shown.length === 0) return []
  return [
    "",
    "| parameter | type | default | meaning |",
    "|---|---|---|---|",
    ...shown.flatMap(([name, param]) => rowsOf(name, param))
  ]
}

// The page

const GROUPS = [
  "Control",
  "Blockchain",
  "Names",
  "Raw transactions",
  "Mempool",
  "Mining",
  "Network",
  "Util",
  "Wallet",
  "Hidden"
]

/** `rpc.discover` leaves out hidden methods, and check-docs takes a bare method name for one that it lists. */
const headingOf = ({ group, name }) => group === "Hidden" ? `${name} (hidden)` : name

const conditionOf = (when) => when === undefined ? "" : when === "otherwise" ? " otherwise" : `, if ${when}`

const section = (call, firstBlock) => (method) =>
  Effect.gen(function*() {
    const shown = yield* example(call, firstBlock, method)
    return [
      `### ${headingOf(method)}`,
      "",
      method.summary,
      "",
      ...block("", [synopsis(method)]),
      ...parameters(method),
      ...method.results.flatMap(({ schema, when }) => [
        "",
        `Result${conditionOf(when)}:`,
        "",
        ...shapeBlock(describedBy(schema))
      ]),
      ...(method.errors.length === 0 ? [] : ["", "Errors:", "", ...method.errors.map((error) => `- \`${error}\``)]),
      ...(shown.length === 0 ? [] : ["", "Example:", "", ...shown]),
      ""
    ]
  })

const page = Effect.gen(function*() {
  const control = yield* ChainControl
  const sink = yield* ChainSink
  const names = yield* NameDb.NameDb
  const mempool = yield* Mempool.Mempool
  yield* control.register(names.follower)
  yield* control.register(mempool.follower)
  yield* sink.importFrom([join(project, "test/fixtures/regtest-names/blocks.dat.gz")])
  yield* mempool.load
  yield* Effect.flatMap(SyncStatus.SyncStatus, ({ loaded }) => loaded)
  const methods = methodTable(yield* allMethods)
  const context = { wallet: undefined, peer: "", remote: false, methods, running: () => [] }
  const call = (method, params) => Effect.suspend(() => method.call(parseJson(JSON.stringify(params)), context))
  const firstBlock = yield* call(methods.get("getblockhash"), [1])
  const all = [...methods.values()].sort((a, b) => a.name < b.name ? -1 : 1)
  const stranger = all.find(({ group }) => !GROUPS.includes(group))
  if (stranger !== undefined) throw new Error(`${stranger.name}: the group ${stranger.group} has no place in the page`)

  const lines = [before.slice(0, before.indexOf(MARK)) + MARK, ""]
  lines.push("## Methods", "", "| method | group | right | what it does |", "|---|---|---|---|")
  for (const method of all) {
    const { group, name, right, summary } = method
    const link = `#${headingOf(method).replace(/[.()]/g, "").replaceAll(" ", "-")}`
    lines.push(
      `| [\`${name}\`](${link}) | ${group} | \`${right}\` | ${cell(summary.split(". ")[0].replace(/\.$/, ""))} |`
    )
  }
  lines.push("", "## Shared shapes", "")
  for (const [name, shape, words] of [...SHARED].reverse()) {
    lines.push(`### ${name}`, "", words, "", ...shapeBlock(shape, shape), "")
  }
  for (const group of GROUPS) {
    lines.push(`## ${group === "Hidden" ? "Hidden methods, which the list of `help` leaves out" : group}`, "")
    for (const method of all.filter((each) => each.group === group)) {
      lines.push(...yield* section(call, firstBlock)(method))
    }
  }
  return `${lines.join("\n").trimEnd()}\n`
})

const directory = mkdtempSync(join(tmpdir(), "svcd-rpc-docs-"))

try {
  const text = await Effect.runPromise(Effect.scoped(Effect.provide(page, stores(directory))))
  if (!process.argv.includes("--check")) writeFileSync(file, text)
  else if (before !== text) {
    console.error(`${file} is not what the methods say: run scripts/write-rpc-docs.mjs after a build`)
    process.exitCode = 1
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
