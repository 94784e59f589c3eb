// Writes the generated part of docs/rpc.md, below the mark, from the method table of the build. The answers are those
// of a node with the chain of test/fixtures. The part above the mark is written by hand and stays.
// Usage: write-rpc-docs.mjs [--check] [file]; with --check it writes nothing and fails where the file differs.

import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import * as ExpiringNames from "../build/src/alerts/ExpiringNames.js"
import * as WatchList from "../build/src/alerts/WatchList.js"
import * as NodeClock from "../build/src/base/NodeClock.js"
import * as Scheduler from "../build/src/base/Scheduler.js"
import * as Chain from "../build/src/chain/Chain.js"
import { ChainControl } from "../build/src/chain/ChainControl.js"
import { ChainSink } from "../build/src/chain/ChainSink.js"
import * as Indexes from "../build/src/chain/indexes/Indexes.js"
import * as SyncStatus from "../build/src/chain/SyncStatus.js"
import * as TxIndex from "../build/src/chain/TxIndex.js"
import * as Warnings from "../build/src/chain/Warnings.js"
import { regtestParams } from "../build/src/consensus/params.js"
import * as LightPart from "../build/src/light/LightPart.js"
import * as NameAnswers from "../build/src/light/NameAnswers.js"
import * as SyncReporter from "../build/src/light/SyncReporter.js"
import * as FeeEstimator from "../build/src/mempool/fees/FeeEstimator.js"
import * as Mempool from "../build/src/mempool/Mempool.js"
import * as Miner from "../build/src/mempool/mining/Miner.js"
import * as NameDb from "../build/src/names/NameDb.js"
import { PeerManager } from "../build/src/network/PeerManager.js"
import { DebugSwitches } from "../build/src/node/logging.js"
import * as Publishers from "../build/src/publish/Publishers.js"
import { encodeJson, encodeString } from "../build/src/rpc/json/encodeJson.js"
import { JsonNumber, JsonObject } from "../build/src/rpc/json/json.js"
import { parseJson } from "../build/src/rpc/json/readJson.js"
import * as Lifecycle from "../build/src/rpc/Lifecycle.js"
import { LogControl } from "../build/src/rpc/LogControl.js"
import { synopsis } from "../build/src/rpc/method/help.js"
import { methodTable } from "../build/src/rpc/method/methodTable.js"
import { describedBy } from "../build/src/rpc/method/results.js"
import { allMethods } from "../build/src/rpc/methods/all.js"
import { NodeOptions } from "../build/src/rpc/NodeOptions.js"
import { AUXPOW, HEADER } from "../build/src/rpc/shapes/block.js"
import { NAME_INFO, NAME_OP } from "../build/src/rpc/shapes/name.js"
import { SCRIPT } from "../build/src/rpc/shapes/script.js"
import { TRANSACTION, TRANSACTION_WITH_COINS } from "../build/src/rpc/shapes/transaction.js"
import * as DataHealth from "../build/src/storage/DataHealth.js"
import { Wallets } from "../build/src/wallet/Wallets.js"
import { Webhooks } from "../build/src/webhooks/Webhooks.js"

const project = fileURLToPath(new URL("..", import.meta.url))
const file = process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? join(project, "docs/rpc.md")
const MARK = "<!-- From here on written by scripts/write-rpc-docs.mjs -->"
const before = readFileSync(file, "utf8")
if (!before.includes(MARK)) throw new Error(`${file} has no line ${MARK}`)

// Shapes

/** Shapes that several results share: shown once, and referred to by name elsewhere. The larger ones first. */
const SHARED = [
  ["Header", describedBy(HEADER), "A block header and its place in the chain."],
  ["Auxpow", describedBy(AUXPOW), "A merged-mining proof."],
  [
    "TransactionWithCoins",
    describedBy(TRANSACTION_WITH_COINS),
    "A transaction whose inputs show the coins that they spend."
  ],
  ["Transaction", describedBy(TRANSACTION), "A transaction."],
  ["Script", describedBy(SCRIPT), "An output script."],
  ["NameOp", describedBy(NAME_OP), "The name operation in a script."],
  ["NameInfo", describedBy(NAME_INFO), "A record of a name."]
]

const WORDS = {
  string: "text",
  hex: "hex",
  number: "number",
  integer: "integer",
  amount: "amount",
  time: "time",
  boolean: "true or false",
  null: "null",
  any: "any"
}

const isAll = (shape, shared) =>
  Object.entries(shared.members).every(([name, member]) => isDeepStrictEqual(shape.members[name], member))

/** The shared shapes that an object consists of, except itself. */
const partsOf = (shape, itself) =>
  SHARED.filter(([, shared]) => shared !== itself && shared.kind === "object" && isAll(shape, shared)).slice(0, 1)

/** The lines that document a shape: text and explanation. */
const linesOf = (shape, indent, prefix, suffix, itself) => {
  const same = shape.kind === "object" &&
    SHARED.find(([, shared]) => shared !== itself && isDeepStrictEqual(shared.members, shape.members))
  const words = shape.description === "" ? "" : shape.description
  if (same) return [[`${indent}${prefix}${same[0]}${suffix}`, words]]
  const inner = `${indent}  `
  switch (shape.kind) {
    case "array": {
      const items = linesOf(shape.items, inner, "", "")
      const [only] = items
      if (items.length > 1) {
        return [[`${indent}${prefix}[`, words], ...items, [`${inner}…`, ""], [`${indent}]${suffix}`, ""]]
      }
      return [[`${indent}${prefix}[${only[0].trim()}, …]${suffix}`, words === "" ? only[1] : words]]
    }
    case "map":
      return [
        [`${indent}${prefix}{`, words],
        ...linesOf(shape.values, inner, `<${shape.key}>: `, ""),
        [`${inner}…`, ""],
        [`${indent}}${suffix}`, ""]
      ]
    case "object": {
      const parts = partsOf(shape, itself)
      const within = new Set(parts.flatMap(([, part]) => Object.keys(part.members)))
      const own = Object.entries(shape.members).filter(([name]) => !within.has(name))
      return [
        [`${indent}${prefix}{`, words],
        ...parts.map(([name]) => [`${inner}…${name}`, `All members of ${name}`]),
        ...own.flatMap(([name, member]) => linesOf(member, inner, `${name}${member.optional ? "?" : ""}: `, "")),
        [`${indent}}${suffix}`, ""]
      ]
    }
    default:
      return [[`${indent}${prefix}${WORDS[shape.kind]}${suffix}`, words]]
  }
}

const block = (language, lines) => ["```" + language, ...lines, "```"]

const shapeBlock = (shape, itself) => {
  const lines = linesOf(shape, "", "", "", itself)
  const width = Math.min(48, Math.max(...lines.map(([left]) => left.length))) + 2
  return block("", lines.map(([left, right]) => right === "" ? left : `${left.padEnd(width)}${right}`))
}

// Parameters

const cell = (text) => text.replaceAll("|", "\\|")

const rowsOf = (name, param) => {
  const names = [name, ...param.aliases].map((each) => `\`${each}\``).join(" or ")
  const presence = param.fallback === undefined ? "required" : param.fallback.text || "optional"
  const members = Object.entries(param.members ?? {})
  return [
    `| ${names} | ${cell(param.words.replace("json ", ""))} | ${cell(presence)} | ${cell(param.description)} |`,
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

// Examples: calls on the chain of test/fixtures/regtest-names, with their answers

const NAME = "d/kelp38c6"
const TXID = "83595cf06cdb702d224d7091b59742f5e9eec7dab2b41e8030d99a2a0bb5b295"
const NAME_SCRIPT = "5303642f6201316d7576a914333333333333333333333333333333333333333388ac"
const FIRST_BLOCK = "getblockhash 1"
const PAYMENT = "01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const EXAMPLES = {
  decoderawtransaction: [[PAYMENT]],
  decodescript: [[NAME_SCRIPT]],
  getbestblockhash: [[]],
  getblock: [[FIRST_BLOCK], [FIRST_BLOCK, 0], ["ab".repeat(32)]],
  getblockchaininfo: [[]],
  getblockcount: [[]],
  getblockhash: [[0], [601]],
  getblockheader: [[FIRST_BLOCK, false]],
  getchaintips: [[]],
  getcheckinfo: [[]],
  getconnectioncount: [[]],
  getdeploymentinfo: [[]],
  getdifficulty: [[]],
  getsyncstatus: [[]],
  getinfo: [[]],
  getmemoryinfo: [[]],
  getindexinfo: [[]],
  getmempoolinfo: [[]],
  getpeerinfo: [[]],
  getrawmempool: [[]],
  getrawtransaction: [[TXID], [TXID, 1], ["ab".repeat(32)]],
  gettxout: [[TXID, 0], [TXID, 9]],
  gettxoutsetinfo: [[]],
  help: [["getblockcount"]],
  name_checkdb: [[]],
  name_history: [[NAME]],
  name_scan: [["d/", 2, { prefix: "d/" }], ["", 1, { regexp: "(" }]],
  name_show: [[NAME], [NAME, { valueEncoding: "hex" }], ["d/absent"]],
  name_pending: [[]],
  submitblock: [["c0ffee"]],
  validateaddress: [["n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"], ["nowhere"]]
}

/** Replaces figures of the disk and the clock, which differ in every run. */
const steady = (text) => text.replace(/"(size_on_disk|disk_size|duration)":\d+/g, "\"$1\":466944")

const cut = (text, most) => text.length > most ? `${text.slice(0, most - 12)}…${text.slice(-8)}` : text

const printed = (json, indent = "") => {
  const whole = encodeJson(json)
  if (json === null || typeof json === "boolean" || json instanceof JsonNumber) return whole
  if (typeof json === "string") return encodeString(cut(json, 96))
  if (whole.length + indent.length < 100 && !/"[^"]{97}/.test(whole)) return whole
  const inner = `${indent}  `
  const lines = json instanceof JsonObject
    ? json.keys.map((key, at) => `${encodeString(key)}: ${printed(json.values[at] ?? null, inner)}`)
    : [...json.slice(0, 3).map((item) => printed(item, inner)), ...(json.length > 3 ? ["…"] : [])]
  const [open, close] = json instanceof JsonObject ? "{}" : "[]"
  return `${open}\n${lines.map((line) => inner + line).join(",\n")}\n${indent}${close}`
}

const shellWord = (value) => {
  const text = typeof value === "string" ? cut(value, 96) : JSON.stringify(value)
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text}'`
}

const example = (call, firstBlock, method) =>
  Effect.gen(function*() {
    const lines = []
    for (const given of EXAMPLES[method.name] ?? []) {
      const params = given.map((param) => param === FIRST_BLOCK ? firstBlock : param)
      lines.push(`> svcd-cli ${[method.name, ...params.map(shellWord)].join(" ")}`)
      const answer = yield* Effect.either(call(method, params))
      if (answer._tag === "Left") lines.push(`error ${answer.left.code}: ${answer.left.message}`)
      else if (typeof answer.right === "string") {
        lines.push(answer.right.includes("\n") ? answer.right : cut(answer.right, 120))
      } else lines.push(...printed(parseJson(steady(encodeJson(answer.right)))).split("\n"))
    }
    if (lines.length > 0) return block("", lines)
    const calls = method.examples.map((params) => `> svcd-cli ${[method.name, ...params.map(shellWord)].join(" ")}`)
    return calls.length === 0 ? [] : block("", calls)
  })

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
  lines.push("## Methods", "", "| method | group | what it does |", "|---|---|---|")
  for (const method of all) {
    const { group, name, summary } = method
    const link = `#${headingOf(method).replace(/[.()]/g, "").replaceAll(" ", "-")}`
    lines.push(`| [\`${name}\`](${link}) | ${group} | ${cell(summary.split(". ")[0].replace(/\.$/, ""))} |`)
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

/** A network without peers. */
const absent = Layer.mock(PeerManager, {
  peers: Effect.succeed([]),
  count: Effect.succeed({ inbound: 0, outbound: 0 }),
  services: 0x409n,
  userAgent: "/svcd/",
  proxy: undefined
})

/** Wallets are enabled, and none is loaded. */
const { all: parts } = new DebugSwitches({ level: "info", debugSubsystems: [] })
const log = { path: "", categories: { current: Effect.succeed(parts), set: () => Effect.void } }
const noWallet = Layer.mock(Wallets, { enabled: true, loaded: () => [], get: () => undefined })

const HOOK = "0123456789abcdef"

/** One webhook, whose receiver has all messages. */
const webhooks = Layer.mock(Webhooks, {
  list: Effect.succeed([{
    id: HOOK,
    source: "rpc",
    url: "https://example.com/hook",
    filter: { names: [], prefixes: ["d/"], owners: [], types: ["expired", "transferred"] },
    state: "active",
    cursor: "a0000600.08388608.0123456789abcdef",
    lag: 0,
    delivered: 12,
    deliveredAt: 1_700_000_000_000,
    failures: 0
  }]),
  add: () => Effect.succeed({ id: HOOK, secret: Redacted.make("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX") }),
  remove: () => Effect.void,
  resume: () => Effect.void,
  test: () => Effect.succeed({ _tag: "Answered", status: 204, milliseconds: 12, body: "" })
})

const directory = mkdtempSync(join(tmpdir(), "svcd-rpc-docs-"))
const stores = () => {
  const [blocksDirectory, chainstateDirectory] = ["blocks", "chainstate"].map((name) => join(directory, name))
  for (const path of [blocksDirectory, chainstateDirectory]) mkdirSync(path)
  const chain = Chain.layer({
    params: regtestParams,
    blocksDirectory,
    chainstateDirectory,
    temporaryDirectory: directory,
    pageSize: 4096,
    coinCacheBytes: 1e8,
    verifyThreads: 0
  }).pipe(Layer.provideMerge(DataHealth.layer))
  const waiting = Layer.merge(Miner.layer(), FeeEstimator.layer({ filename: undefined })).pipe(
    Layer.provideMerge(Mempool.layer({ filename: undefined })),
    Layer.provideMerge(Layer.merge(SyncStatus.layer({ offline: true }), Warnings.layer)),
    Layer.provideMerge(DataHealth.layer),
    Layer.provideMerge(chain)
  )
  const names = Layer.provide(
    NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 }),
    DataHealth.layer
  )
  const answers = SyncReporter.layer.pipe(
    Layer.provideMerge(NameAnswers.layer()),
    Layer.provideMerge(LightPart.layerWhole),
    Layer.provideMerge(Layer.merge(waiting, names))
  )
  const expiring = ExpiringNames.layer.pipe(
    Layer.provideMerge(WatchList.layerMemory),
    Layer.provideMerge(Layer.merge(answers, noWallet))
  )
  return Layer.mergeAll(
    expiring,
    absent,
    Scheduler.layer,
    DataHealth.layer,
    NodeClock.layer(),
    TxIndex.layerOff,
    Indexes.layerNone,
    Publishers.layerSilent,
    webhooks,
    Lifecycle.layer,
    Layer.succeed(LogControl, log),
    Layer.succeed(NodeOptions, {
      nameEncoding: "ascii",
      valueEncoding: "ascii",
      allowExpired: false,
      nameHistory: true,
      nameHashIndex: false
    })
  ).pipe(Layer.provideMerge(Logger.remove(Logger.defaultLogger)))
}

try {
  const text = await Effect.runPromise(Effect.scoped(Effect.provide(page, stores())))
  if (!process.argv.includes("--check")) writeFileSync(file, text)
  else if (before !== text) {
    console.error(`${file} is not what the methods say: run scripts/write-rpc-docs.mjs after a build`)
    process.exitCode = 1
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
