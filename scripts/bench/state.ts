import { Effect, Layer, Logger } from "effect"
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { Snapshots } from "../../src/chain/Snapshots.ts"
import { LATEST_MIGRATION } from "../../src/names/migrations.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { benchCache } from "../../test/support/shapedFile.ts"
import { benchChain } from "./chain.ts"
import { BASE_HEIGHT, type CoinSetSize, nameOfCoin, txidOf, writeCoinSet } from "./coinSet.ts"
import { cpuSecondsOf } from "./cpuTime.ts"
import { minedHeaders } from "./minedHeaders.ts"
import { NodeProcess, pause } from "./nodeProcess.ts"
import { percentileOf } from "./search.ts"

/** To be raised with each change of what is generated. */
const GENERATOR = 1

/** Headers that are accepted at once, as peers send them. */
const AT_ONCE = 2_000

/** Starts, of which the middle counts, and lookups of a kind. */
const STARTS = 3
const LOOKUPS = 5_000

/** Milliseconds after a start until memory counts. */
const REST = 20_000

/** Milliseconds between two looks at a node, and CPU seconds in which one that is idle takes less. */
const LOOK = 5_000
const IDLE = 0.25

const ARGS = ["-maxpeers", "0", "-disablewallet", "-allowexpired"]

/** A state that no chain led to. */
export interface StateSize extends CoinSetSize {
  readonly headers: number
}

const MILLIONS: StateSize = { headers: 1_000_000, coins: 5_000_000, namesEvery: 5 }

/** A chain of headers, and the coins of a snapshot of one of its first blocks. */
const fill = async (directory: string, size: StateSize): Promise<void> => {
  for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name), { recursive: true })
  const parts = [...minedHeaders({ atOnce: Math.min(AT_ONCE, size.headers), count: size.headers })]
  const path = join(directory, "set.dat")
  const trusted = writeCoinSet(path, parts[0]?.[BASE_HEIGHT - 1]?.header.hash ?? new Uint8Array(32), size)
  const program = Effect.gen(function*() {
    const sink = yield* ChainSink
    for (const part of parts) yield* sink.acceptHeaders(part)
    yield* (yield* Snapshots).load(path)
  })
  const layer = benchChain(directory, { verifyThreads: 0, snapshotHash: trusted })
  await Effect.runPromise(Effect.provide(program, Layer.provideMerge(layer, Logger.remove(Logger.defaultLogger))))
  rmSync(path)
}

const isRecord = (answer: unknown): boolean => typeof answer === "object" && answer !== null

/** The name of the last coin that has one. */
const lastName = ({ coins, namesEvery }: CoinSetSize): string =>
  nameOfCoin(Math.floor((coins - 1) / namesEvery) * namesEvery)

/** Waits until a node does nothing any more. */
const untilIdle = async (node: NodeProcess): Promise<void> => {
  for (let before = -1, now = cpuSecondsOf(node.child.pid); now - before > IDLE; now = cpuSecondsOf(node.child.pid)) {
    before = now
    await pause(LOOK)
  }
}

/** Waits until the names of all coins are in names.db, and until the search indexes of them are built. */
const withNames = async (directory: string, size: StateSize): Promise<void> => {
  const node = await NodeProcess.start({ directory, args: ARGS })
  try {
    await node.until("name_show", isRecord, { params: [lastName(size)] })
    await untilIdle(node)
  } finally {
    await node.stop()
  }
}

/** The data directory, which is made once and kept. */
const kept = async (size: StateSize): Promise<string> => {
  const directory = join(
    benchCache(),
    `state-${GENERATOR}-${LATEST_MIGRATION}-${size.headers}-${size.coins}-${size.namesEvery}`
  )
  if (existsSync(directory)) return directory
  const draft = `${directory}.${process.pid}`
  try {
    await fill(draft, size)
    await withNames(draft, size)
    renameSync(draft, directory)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return directory
}

/** Milliseconds of calls, one after the other, each of which has to have a result. */
const lookups = async (
  node: NodeProcess,
  method: string,
  paramsOf: (index: number) => ReadonlyArray<unknown>
): Promise<object> => {
  const times: Array<number> = []
  for (let i = 0; i < LOOKUPS; i++) {
    const began = performance.now()
    const result = await node.call(method, ...paramsOf(i))
    times.push(performance.now() - began)
    if (!isRecord(result)) throw new Error(`${method} ${JSON.stringify(paramsOf(i))} has no result`)
  }
  times.sort((a, b) => a - b)
  return { p50Milliseconds: percentileOf(times, 0.5), p99Milliseconds: percentileOf(times, 0.99) }
}

/** Start, memory and lookups of a node with millions of headers, names and coins. */
export const benchState = async (size = MILLIONS): Promise<object> => {
  const { coins, headers, namesEvery } = size
  const place = mkdtempSync(join(tmpdir(), "svcd-bench-state-"))
  try {
    // A copy: another build may change the files of the node.
    const directory = join(place, "node")
    cpSync(await kept(size), directory, { recursive: true })
    const names = Math.ceil(coins / namesEvery)
    const all = [...minedHeaders({ atOnce: Math.min(AT_ONCE, headers), count: Math.min(20 * LOOKUPS, headers) })].flat()
    const hashes = Array.from({ length: LOOKUPS }, (_, i) => {
      const found = all[(i * 7_919) % all.length]
      return found === undefined ? "" : displayHash(found.header.hash)
    })
    const knows = (answer: unknown): boolean =>
      isRecord(answer) && JSON.stringify(answer).includes(`"headers":${headers},`)
    const starts: Array<{ readonly seconds: number; readonly cpuSeconds: number }> = []
    for (let run = 0; run < STARTS; run++) {
      const node = await NodeProcess.start({ directory, args: ARGS })
      try {
        const seconds = await node.until("getblockchaininfo", knows)
        starts.push({ seconds, cpuSeconds: cpuSecondsOf(node.child.pid) })
      } finally {
        await node.stop()
      }
    }
    starts.sort((a, b) => a.seconds - b.seconds)
    const node = await NodeProcess.start({ directory, args: ARGS })
    try {
      await node.until("name_show", isRecord, { params: [lastName(size)] })
      await pause(REST)
      const afterStartMB = node.memoryMB
      const coin = (i: number): string => displayHash(txidOf((i * 7_919) % coins))
      return {
        what: "a node with a state that was generated; lookups over HTTP, one after the other",
        headers,
        names,
        coins,
        start: starts[STARTS >> 1],
        lookup: {
          coin: await lookups(node, "gettxout", (i) => [coin(i), 0]),
          name: await lookups(node, "name_show", (i) => [nameOfCoin(((i * 7_919) % names) * namesEvery)]),
          header: await lookups(node, "getblockheader", (i) => [hashes[i]])
        },
        memoryMB: { afterStart: afterStartMB, afterLookups: node.memoryMB, peak: node.peakMemoryMB }
      }
    } finally {
      await node.stop()
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
