import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { eventLoopDelay } from "../../src/metrics/metrics.ts"
import { load } from "./callerLoad.ts"
import { freePort, NodeProcess } from "./nodeProcess.ts"
import { connectBlocks, magic, sizeOf, someName } from "./rpc.ts"

/** Seconds of a scenario. */
const SECONDS = 6

/** Blocks that are held back, to be connected in a scenario. */
const HELD_BACK = 50

const PASSPHRASE = "a passphrase of the bench"

/** Names that the regtest chain has in its last blocks: a wide answer. */
const WIDE = 10_000

/** Counts of the histogram of the node: those up to each bucket, and all. */
interface Delays {
  readonly upTo: ReadonlyArray<number>
  readonly all: number
}

const delaysOf = async (port: number): Promise<Delays> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const value = (line: string): number =>
    Number(text.split("\n").find((found) => found.startsWith(line))?.slice(line.length) ?? Number.NaN)
  return {
    upTo: (eventLoopDelay.buckets ?? []).map((bound) => value(`${eventLoopDelay.name}_bucket{le="${bound}"} `)),
    all: value(`${eventLoopDelay.name}_count `)
  }
}

/** The bound of the bucket that holds the quantile, in milliseconds: the quantile is not above it. */
const boundOf = (before: Delays, after: Delays, quantile: number): number => {
  const wanted = quantile * (after.all - before.all)
  const at = after.upTo.findIndex((count, i) => count - (before.upTo[i] ?? 0) >= wanted)
  return 1_000 * (eventLoopDelay.buckets?.[at] ?? Number.POSITIVE_INFINITY)
}

const post = async (node: NodeProcess, body: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${node.rpcPort}`, { method: "POST", body })
  await response.arrayBuffer()
}

/** Runs work over and over for some seconds. */
const repeated = (work: () => Promise<unknown>) => async (): Promise<void> => {
  const until = performance.now() + 1_000 * SECONDS
  while (performance.now() < until) await work()
}

/** What a node does beside the callers. */
const scenarios = (
  node: NodeProcess,
  { blocks, tall }: { readonly blocks: ReadonlyArray<Uint8Array>; readonly tall: unknown }
): ReadonlyArray<readonly [string, () => Promise<unknown>]> => {
  const call = (method: string, ...params: ReadonlyArray<unknown>) => () => node.call(method, ...params)
  const batch = JSON.stringify(Array.from({ length: 100_000 }, (_, id) => ({ id, method: "getblockcount" })))
  const nested = `{"id":1,"method":"getblockcount","params":[${"[".repeat(500_000)}${"]".repeat(500_000)}]}`
  const wide = JSON.stringify({ id: 1, method: "decodescript", params: ["0".repeat(8_000_000)] })
  return [
    ["nothing", () => new Promise((resolve) => setTimeout(resolve, 1_000 * SECONDS))],
    ["blocksConnect", () => connectBlocks(node.rpcPort, blocks)],
    ["walletUnlocks", repeated(call("walletpassphrase", PASSPHRASE, 60))],
    ["longList", repeated(call("name_scan", "", WIDE))],
    ["filteredList", repeated(call("name_scan", "", 100, { regexp: "e.*7" }))],
    ["blockWithPrevouts", repeated(call("getblock", tall, 3))],
    ["coinSet", repeated(call("gettxoutsetinfo"))],
    ["coinScan", repeated(call("scantxoutset", "start", ["raw(51)"]))],
    ["batch", repeated(() => post(node, batch))],
    ["nestedBody", repeated(() => post(node, nested))],
    ["longBody", repeated(() => post(node, wide))]
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
  // Names live for 30 blocks on regtest: an answer must be the same before and after the blocks that are held back.
  const metricsPort = await freePort()
  const args = ["-maxpeers", "0", "-allowexpired", "-metricsaddr", `127.0.0.1:${metricsPort}`, "-loadblock", file]
  const node = await NodeProcess.start({ args })
  try {
    const blocks = records.slice(-HELD_BACK)
    await node.until("getblockcount", (count) => count === early.length - 1)
    const none: Delays = { upTo: [], all: 0 }
    const imported = await delaysOf(metricsPort)
    await node.call("createwallet", "bench", false, false, PASSPHRASE)
    const tallest = early.reduce((best, record, i) => record.length > (early[best]?.length ?? 0) ? i : best, 0)
    const tall = await node.call("getblockhash", tallest)
    const body = JSON.stringify({ id: 1, method: "name_show", params: [await someName(node.rpcPort)] })
    const figures: Record<string, object> = {
      import: { turnP999Ms: boundOf(none, imported, 0.999), longestTurnMs: boundOf(none, imported, 1) }
    }
    for (const [what, work] of scenarios(node, { blocks, tall })) {
      const before = await delaysOf(metricsPort)
      const calls = load(node.rpcPort, body, SECONDS)
      await work()
      const { max, p50, p99 } = await calls
      const after = await delaysOf(metricsPort)
      figures[what] = {
        turnP99Ms: boundOf(before, after, 0.99),
        turnP999Ms: boundOf(before, after, 0.999),
        longestTurnMs: boundOf(before, after, 1),
        nameShow: { p50, p99, max }
      }
    }
    return {
      what: "turns of the event loop, as upper bounds; name_show over HTTP meanwhile; milliseconds",
      ...figures
    }
  } finally {
    await node.stop()
  }
}
