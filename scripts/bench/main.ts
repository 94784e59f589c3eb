// Measures the budgets of design, prints JSON, and with --write puts the figures into docs/performance.md.
// `--against PROGRAM` compares with another program instead: a `namecoind`, or the `svcd.js` of another build.
// It needs the load chain beside the project (shared/fixtures/regtest-load), and reports where that is missing.

import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { signatureBackend } from "../../src/consensus/signature.ts"
import { version } from "../../src/version.ts"
import { benchEmbedded } from "./embedded.ts"
import { benchEvents } from "./events.ts"
import { benchExpiring } from "./expiring.ts"
import { benchExport } from "./export.ts"
import { benchHeaderTree } from "./headerTree.ts"
import { benchLight } from "./light.ts"
import { benchMail } from "./mail.ts"
import { benchNameDb } from "./nameDb.ts"
import { NodeProcess, ROOT } from "./nodeProcess.ts"
import { blockPages, namePages } from "./pages.ts"
import { benchPairs } from "./pairs.ts"
import { benchParse } from "./parse.ts"
import { benchPeers } from "./peers.ts"
import { benchPrune } from "./prune.ts"
import { report, type Results, withLight } from "./report.ts"
import { benchRpc } from "./rpc.ts"
import { benchScan } from "./scan.ts"
import { benchSearch } from "./search.ts"
import { benchSnapshot } from "./snapshot.ts"
import { benchStart } from "./start.ts"
import { benchTurns } from "./turns.ts"

const PAGE = join(ROOT, "docs/performance.md")

const LOAD = join(ROOT, "../shared/fixtures/regtest-load")

/** Runs of a measurement; the median counts. */
const RUNS = 3

const middle = <A>(values: ReadonlyArray<A>, by: (value: A) => number): A | undefined =>
  values.toSorted((a, b) => by(a) - by(b))[values.length >> 1]

interface ImportRun {
  readonly seconds: number
  /** Of all threads. */
  readonly cpuSeconds: number
  readonly blocks: number
  readonly height: number
  readonly tip: string
  readonly timings: Readonly<Record<string, number>>
  readonly peakMemoryMB: number
}

const script = (name: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, [fileURLToPath(new URL(name, import.meta.url)), ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 26
  })

const importRun = (file: string, mode: string, threads: number, tip: string): ImportRun => {
  const runs = Array.from(
    { length: RUNS },
    (): ImportRun => JSON.parse(script("./importRun.js", file, mode, String(threads), tip))
  )
  const run = middle(runs, ({ seconds }) => seconds)
  if (run === undefined || run.tip !== tip) throw new Error(`the import ended at ${run?.tip} instead of ${tip}`)
  return run
}

/** The whole program from its start until it answers with the last block, as a user sees it. */
const wholeProgram = async (file: string, tip: string): Promise<{ seconds: number; peakMemoryMB: number }> => {
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-loadblock", file] })
  try {
    return { seconds: await node.untilTip(tip), peakMemoryMB: node.peakMemoryMB }
  } finally {
    await node.stop()
  }
}

const rates = ({ blocks, seconds, timings, peakMemoryMB }: ImportRun, transactions: number, bytes: number) => ({
  seconds,
  blocksPerSecond: blocks / seconds,
  transactionsPerSecond: transactions / seconds,
  megabytesPerSecond: bytes / seconds / 1e6,
  peakMemoryMB,
  milliseconds: timings
})

const records = (bytes: Buffer): ReadonlyArray<Uint8Array> => {
  const found: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32LE(at + 4)
    found.push(bytes.subarray(at + 8, at + 8 + size))
    at += 8 + size
  }
  return found
}

/** Runs a measurement with the load chain in a file of its own. */
const withLoad = async (
  use: (load: {
    readonly file: string
    readonly bytes: Buffer
    readonly tipHash: string
    readonly transactions: number
    readonly blockFileBytes: number
  }) => Promise<object>
): Promise<object> => {
  if (!existsSync(LOAD)) return { skipped: "shared/fixtures/regtest-load is not there" }
  const expected: { tipHash: string; transactions: number; blockFileBytes: number } = JSON.parse(
    readFileSync(join(LOAD, "expected.json"), "utf8")
  )
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  const file = join(directory, "blk00000.dat")
  const bytes = gunzipSync(readFileSync(join(LOAD, "blocks.dat.gz")))
  writeFileSync(file, bytes)
  try {
    return await use({ file, bytes, ...expected })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const benchImport = () =>
  withLoad(async ({ blockFileBytes, bytes, file, tipHash, transactions }) => {
    const threads = availableParallelism() - 1
    const checked = importRun(file, "checked", threads, tipHash)
    const single = importRun(file, "checked", 0, tipHash)
    const assumed = importRun(file, "assumed", threads, tipHash)
    const programs: Array<{ seconds: number; peakMemoryMB: number }> = []
    for (let run = 0; run < RUNS; run++) programs.push(await wholeProgram(file, tipHash))
    return {
      what: "import of 6,000 blocks with 73,857 transactions",
      program: middle(programs, ({ seconds }) => seconds),
      checked: rates(checked, transactions, blockFileBytes),
      checkedOneThread: rates(single, transactions, blockFileBytes),
      scriptsAssumed: rates(assumed, transactions, blockFileBytes),
      assumedToChecked: checked.seconds / assumed.seconds,
      assumedToCheckedOneThread: single.seconds / assumed.seconds,
      parse: benchParse(records(bytes)),
      goal: "program <= 14.9 s (1.5 x 9.9 s of the reference node), assumed >= 3 x checked, memory < 400 MB"
    }
  })

const INDEXES = ["search", "transactions", "filters", "spenders", "coinStats"] as const

/** Imports without an index and with each one, in turns, since a machine is not equally fast all the time. */
const benchIndexes = () =>
  withLoad(async ({ file, tipHash }) => {
    const threads = String(availableParallelism() - 1)
    const run = (index: string): ImportRun =>
      JSON.parse(script("./importRun.js", file, "checked", threads, tipHash, index))
    const rounds = Array.from({ length: RUNS }, () => [run(""), ...INDEXES.map(run)])
    const column = (at: number): ReadonlyArray<ImportRun> => rounds.flatMap((round) => round[at] ?? [])
    const median = (values: ReadonlyArray<number>): number => middle(values, (value) => value) ?? Number.NaN
    const without = column(0)
    /** The ratio to the run without an index in the same round. */
    const times = (runs: ReadonlyArray<ImportRun>, by: (run: ImportRun) => number): number =>
      median(runs.flatMap((run, i) => without.slice(i, i + 1).map((bare) => by(run) / by(bare))))
    const figures = INDEXES.map((index, i) => {
      const runs = column(i + 1)
      return [index, {
        seconds: median(runs.map(({ seconds }) => seconds)),
        cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
        timesSeconds: times(runs, ({ seconds }) => seconds),
        timesCpu: times(runs, ({ cpuSeconds }) => cpuSeconds)
      }] as const
    })
    return {
      what: "import with every script checked, without an index and with each",
      none: {
        seconds: median(without.map(({ seconds }) => seconds)),
        cpuSeconds: median(without.map(({ cpuSeconds }) => cpuSeconds))
      },
      ...Object.fromEntries(figures),
      goal: "timesCpu of each <= 1.1"
    }
  })

const benchNetwork = () => withLoad(({ bytes, file, tipHash }) => benchPeers(file, records(bytes), tipHash))

/** Messages that go through the mail relay. */
const MESSAGES = 3_200

const benchRelay = () => benchMail(MESSAGES)

const benchPages = async (): Promise<object> => ({
  names: await namePages({ names: 1_000_000 }),
  blocks: await withLoad(({ file, tipHash }) => blockPages({ file, tip: tipHash })),
  goal: "a page of a name or a block < 30 ms and < 60 kB; name_show p99 < 5 ms beside pages"
})

const benchAnswers = () => withLoad(({ bytes, file }) => benchRpc(dirname(file), records(bytes)))

const benchLoop = () => withLoad(({ bytes, file }) => benchTurns(dirname(file), records(bytes)))

/** The program to compare with. */
const rival = process.argv[process.argv.indexOf("--against") + 1] ?? ""

const benchAgainst = () => withLoad(({ file, tipHash }) => benchPairs({ file, other: rival, tip: tipHash }))

// A flag selects one measurement alone.
for (
  const [flag, measure] of [
    ["--against", benchAgainst],
    ["--import", benchImport],
    ["--indexes", benchIndexes],
    ["--peers", benchNetwork],
    ["--rpc", benchAnswers],
    ["--embedded", benchEmbedded],
    ["--events", () => benchEvents({ operations: 200_000 })],
    ["--export", () => benchExport({ operations: 400_000 })],
    ["--light", benchLight],
    ["--mail", benchRelay],
    ["--pages", benchPages],
    ["--prune", benchPrune],
    ["--scan", benchScan],
    ["--expiring", () => benchExpiring({ names: 1_000_000 })],
    ["--search", () => benchSearch({ names: 1_000_000 })],
    ["--snapshot", benchSnapshot],
    ["--start", benchStart],
    ["--turns", benchLoop]
  ] as const
) {
  if (!process.argv.includes(flag)) continue
  const measured = await measure()
  process.stdout.write(`${JSON.stringify(measured, undefined, 2)}\n`)
  // The chain of this measurement takes minutes to make, so it can be written alone.
  if (flag === "--light" && process.argv.includes("--write")) {
    writeFileSync(PAGE, withLight(readFileSync(PAGE, "utf8"), measured))
  }
  process.exit()
}

// First, while nothing else is in memory.
const headerTree = await benchHeaderTree()

const results: Results = {
  environment: {
    svcd: version,
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    signatures: signatureBackend()
  },
  import: await benchImport(),
  indexes: await benchIndexes(),
  peers: await benchNetwork(),
  rpc: await benchAnswers(),
  turns: await benchLoop(),
  embedded: await benchEmbedded(),
  light: await benchLight(),
  mail: await benchRelay(),
  names10k: await benchNameDb({ names: 10_000 }),
  names1M: await benchNameDb({ names: 1_000_000 }),
  search1M: await benchSearch({ names: 1_000_000 }),
  pages: await benchPages(),
  events: await benchEvents({ operations: 200_000 }),
  export: await benchExport({ operations: 400_000 }),
  scan: await benchScan(),
  snapshot: await benchSnapshot(),
  prune: await benchPrune(),
  headerTree,
  start: await benchStart()
}

process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`)
if (process.argv.includes("--write")) writeFileSync(PAGE, report(results))
