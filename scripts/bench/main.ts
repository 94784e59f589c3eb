// Measures what design budgets, prints JSON, and with --write puts the figures into docs/performance.md.
// Needs the load chain beside the project (shared/fixtures/regtest-load); says so where it is not there.

import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { signatureBackend } from "../../src/consensus/signature.ts"
import { version } from "../../src/version.ts"
import { benchHeaderTree } from "./headerTree.ts"
import { benchNameDb } from "./nameDb.ts"
import { benchParse } from "./parse.ts"
import { report, type Results } from "./report.ts"

// From build/scripts/bench.
const ROOT = fileURLToPath(new URL("../../../", import.meta.url))
const LOAD = join(ROOT, "../shared/fixtures/regtest-load")

/** Runs of a measurement; the middle one counts. */
const RUNS = 3

const middle = <A>(values: ReadonlyArray<A>, by: (value: A) => number): A | undefined =>
  values.toSorted((a, b) => by(a) - by(b))[values.length >> 1]

interface ImportRun {
  readonly seconds: number
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

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const tipOf = async (port: number): Promise<string | undefined> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}`, {
      method: "POST",
      body: JSON.stringify({ id: 1, method: "getbestblockhash" })
    })
    const answer: unknown = await response.json()
    return typeof answer === "object" && answer !== null && "result" in answer ? String(answer.result) : undefined
  } catch {
    return undefined
  }
}

/** The whole program from its start until it answers with the last block, as a user sees it. */
const wholeProgram = async (file: string, tip: string): Promise<{ seconds: number; peakMemoryMB: number }> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  const port = await freePort()
  const started = performance.now()
  const node = spawn(process.execPath, [
    join(ROOT, "build/src/bin/svcd.js"),
    "-network",
    "regtest",
    "-datadir",
    directory,
    "-rpcaddr",
    `127.0.0.1:${port}`,
    "-maxpeers",
    "0",
    "-loadblock",
    file,
    "-loglevel",
    "error"
  ], { stdio: "ignore" })
  const ended = new Promise((resolve) => node.once("exit", resolve))
  try {
    while ((await tipOf(port)) !== tip) {
      if (node.exitCode !== null) throw new Error(`svcd ended with code ${node.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const seconds = (performance.now() - started) / 1000
    const status = `/proc/${node.pid}/status`
    const peak = existsSync(status) ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, "utf8"))?.[1] ?? 0) / 1024 : 0
    return { seconds, peakMemoryMB: Math.round(peak) }
  } finally {
    node.kill()
    await ended
    rmSync(directory, { recursive: true, force: true })
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

const benchImport = async (): Promise<object> => {
  const expected: { tipHash: string; transactions: number; blockFileBytes: number } = JSON.parse(
    readFileSync(join(LOAD, "expected.json"), "utf8")
  )
  const { blockFileBytes, tipHash, transactions } = expected
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  const file = join(directory, "blk00000.dat")
  const bytes = gunzipSync(readFileSync(join(LOAD, "blocks.dat.gz")))
  writeFileSync(file, bytes)
  try {
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
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
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
    signatures: signatureBackend
  },
  import: existsSync(LOAD) ? await benchImport() : { skipped: "shared/fixtures/regtest-load is not there" },
  names10k: await benchNameDb({ names: 10_000 }),
  names1M: await benchNameDb({ names: 1_000_000 }),
  headerTree
}

process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`)
if (process.argv.includes("--write")) writeFileSync(join(ROOT, "docs/performance.md"), report(results))
