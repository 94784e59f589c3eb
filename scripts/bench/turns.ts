import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { load } from "./callerLoad.ts"
import { NodeProcess, pause } from "./nodeProcess.ts"
import { connectBlocks, magic, sizeOf, someName } from "./rpc.ts"

/** Seconds of a scenario. */
const SECONDS = 6

/** Blocks that are held back, to be connected in scenarios: some of them one after the other. */
const HELD_BACK = 400
const ONE_BY_ONE = 50

/** Blocks that are disconnected, so that their transactions are in the mempool. */
const DISCONNECTED = 100

/** Milliseconds until the node has to answer the signal. */
const MOST_WAIT = 30_000

const PASSPHRASE = "a passphrase of the bench"

/** Names that the regtest chain has in its last blocks: a wide answer. */
const WIDE = 10_000

/** Delays of a timer of a millisecond in the node, in milliseconds. */
interface Turns {
  readonly count: number
  readonly p99: number
  readonly p999: number
  readonly longest: number
  /** Processor time between two runs of the timer. */
  readonly cpuP999: number
  readonly longestCpu: number
}

/** The turns of a node since the last call. */
const turnsOf = async (node: NodeProcess, file: string): Promise<Turns> => {
  node.child.kill("SIGUSR2")
  for (const until = performance.now() + MOST_WAIT; !existsSync(file);) {
    if (performance.now() > until) throw new Error("the node does not say how long its turns take")
    await pause(20)
  }
  const turns: Turns = JSON.parse(readFileSync(file, "utf8"))
  rmSync(file)
  return turns
}

const figuresOf = ({ count, cpuP999, longest, longestCpu, p99, p999 }: Turns) => ({
  samples: count,
  turnP99Ms: p99,
  turnP999Ms: p999,
  longestTurnMs: longest,
  turnCpuP999Ms: cpuP999,
  longestTurnCpuMs: longestCpu
})

const post = async (node: NodeProcess, body: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${node.rpcPort}`, { method: "POST", body })
  await response.arrayBuffer()
}

/** Connects blocks without a pause until the log of names.db was copied into the file some times. */
const untilCopied = async (node: NodeProcess, blocks: ReadonlyArray<Uint8Array>): Promise<void> => {
  const log = join(node.directory, "names.db-wal")
  let [copies, before] = [0, 0]
  const watch = setInterval(() => {
    const { size } = statSync(log, { throwIfNoEntry: false }) ?? { size: 0 }
    if (size < before) copies++
    before = size
  }, 2)
  try {
    await connectBlocks(node.rpcPort, blocks, 0)
    await pause(1_000)
  } finally {
    clearInterval(watch)
  }
  if (copies === 0) throw new Error("no checkpoint of names.db was seen")
}

/** Runs work over and over for some seconds. */
const repeated = (work: () => Promise<unknown>) => async (): Promise<void> => {
  const until = performance.now() + 1_000 * SECONDS
  while (performance.now() < until) await work()
}

/** A call that has to have a result: a scenario whose work is refused says nothing. */
const ask = async (node: NodeProcess, method: string, ...params: ReadonlyArray<unknown>): Promise<unknown> => {
  const result = await node.call(method, ...params)
  if (result === null || result === undefined) throw new Error(`${method} has no result`)
  return result
}

/** Writes the coins to a file, and removes it. */
const dump = (node: NodeProcess) => async (): Promise<void> => {
  await ask(node, "dumptxoutset", "coins.dat", "latest")
  rmSync(join(node.directory, "coins.dat"))
}

/** Asks for the whole mempool, which has the transactions of blocks that were disconnected. */
const mempoolList = async (node: NodeProcess): Promise<void> => {
  await node.call(
    "invalidateblock",
    await node.call("getblockhash", Number(await node.call("getblockcount")) - DISCONNECTED)
  )
  await repeated(() => ask(node, "getrawmempool", true))()
}

/** What a node does beside the callers. */
const scenarios = (
  node: NodeProcess,
  { blocks, tall }: { readonly blocks: ReadonlyArray<Uint8Array>; readonly tall: string }
): ReadonlyArray<readonly [string, () => Promise<unknown>]> => {
  const call = (method: string, ...params: ReadonlyArray<unknown>) => () => ask(node, method, ...params)
  const batch = JSON.stringify(Array.from({ length: 100_000 }, (_, id) => ({ id, method: "getblockcount" })))
  const nested = `{"id":1,"method":"getblockcount","params":[${"[".repeat(500_000)}${"]".repeat(500_000)}]}`
  const wide = JSON.stringify({ id: 1, method: "decodescript", params: ["0".repeat(8_000_000)] })
  return [
    ["nothing", () => new Promise((resolve) => setTimeout(resolve, 1_000 * SECONDS))],
    ["blocksConnect", () => connectBlocks(node.rpcPort, blocks.slice(0, ONE_BY_ONE))],
    ["checkpoint", () => untilCopied(node, blocks.slice(ONE_BY_ONE))],
    ["walletUnlocks", repeated(() => node.call("walletpassphrase", PASSPHRASE, 60))],
    ["longList", repeated(call("name_scan", "", WIDE))],
    ["filteredList", repeated(call("name_scan", "", 100, { regexp: "e.*7" }))],
    ["blockWithPrevouts", repeated(call("getblock", tall, 3))],
    ["coinSet", repeated(call("gettxoutsetinfo"))],
    ["blockStats", repeated(call("getblockstats", tall))],
    ["blockScan", repeated(call("scanblocks", "start", ["raw(51)"]))],
    ["coinDump", repeated(dump(node))],
    ["nameFind", repeated(call("name_find", { text: "value", includeExpired: true, limit: 1_000 }))],
    ["coinScan", repeated(call("scantxoutset", "start", ["raw(51)"]))],
    ["batch", repeated(() => post(node, batch))],
    ["nestedBody", repeated(() => post(node, nested))],
    ["longBody", repeated(() => post(node, wide))],
    ["mempool", () => mempoolList(node)]
  ]
}

/**
 * How long one turn of the event loop takes, and how long callers wait for `name_show`, while the node imports a chain,
 * and beside work that is costly.
 */
export const benchTurns = async (directory: string, records: ReadonlyArray<Uint8Array>): Promise<object> => {
  const file = join(directory, "without-last.dat")
  const early = records.slice(0, -HELD_BACK)
  writeFileSync(file, Buffer.concat(early.flatMap((record) => [magic, sizeOf(record), record])))
  const watched = join(directory, "turns.json")
  const watch = new URL(`./turnWatch.js?file=${encodeURIComponent(watched)}`, import.meta.url)
  // Names live for 30 blocks on regtest: an answer must be the same before and after the blocks that are held back.
  const args = ["-maxpeers", "0", "-allowexpired", "-blockfilterindex=1", "-loadblock", file]
  const node = await NodeProcess.start({ args, runtime: ["--import", watch.href] })
  try {
    const blocks = records.slice(-HELD_BACK)
    await node.until("getblockcount", (count) => count !== undefined)
    const { longest: longestTurnMs, longestCpu: longestTurnCpuMs } = await turnsOf(node, watched)
    await node.until("getblockcount", (count) => count === early.length - 1)
    const imported = await turnsOf(node, watched)
    await node.call("createwallet", "bench", false, false, PASSPHRASE)
    const tallest = early.reduce((best, record, i) => record.length > (early[best]?.length ?? 0) ? i : best, 0)
    const tall = String(await node.call("getblockhash", tallest))
    const body = JSON.stringify({ id: 1, method: "name_show", params: [await someName(node.rpcPort)] })
    const figures: Record<string, object> = { start: { longestTurnMs, longestTurnCpuMs }, import: figuresOf(imported) }
    for (const [what, work] of scenarios(node, { blocks, tall })) {
      await turnsOf(node, watched)
      const calls = load(node.rpcPort, body, SECONDS)
      await work()
      const { max, p50, p99 } = await calls
      figures[what] = { ...figuresOf(await turnsOf(node, watched)), nameShow: { p50, p99, max } }
    }
    return {
      what: "turns of the event loop, by a timer of a millisecond; name_show over HTTP meanwhile; milliseconds",
      ...figures
    }
  } finally {
    await node.stop()
  }
}
