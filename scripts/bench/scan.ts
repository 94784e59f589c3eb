import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { Snapshots } from "../../src/chain/Snapshots.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { load } from "./callerLoad.ts"
import { benchChain } from "./chain.ts"
import { COINS, headersOfSet, keyHashOf, nameOfCoin, writeCoinSet } from "./coinSet.ts"
import { NodeProcess } from "./nodeProcess.ts"

/** Searches that are timed; the median counts. */
const SCANS = 5

/** Scripts of a search: a few, and as many as a wallet's range. */
const FEW = 3
const MANY = 1_000

/** Seconds of calls meanwhile: longer than the searches take. */
const SECONDS = 12

/** A data directory with the chain state of a snapshot of a million coins. */
const fill = async (directory: string): Promise<void> => {
  for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))
  const headers = headersOfSet()
  const path = join(directory, "set.dat")
  const trusted = writeCoinSet(path, headers.at(-1)?.header.hash ?? new Uint8Array(32))
  const program = Effect.gen(function*() {
    yield* (yield* ChainSink).acceptHeaders(headers)
    yield* (yield* Snapshots).load(path)
  })
  const layer = Layer.merge(
    benchChain(directory, { verifyThreads: 0, snapshotHash: trusted }),
    Logger.remove(Logger.defaultLogger)
  )
  await Effect.runPromise(Effect.provide(program, layer))
  rmSync(path)
}

/** Descriptors of so many coins, spread over the set. None of them holds a name. */
const descriptors = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => 1 + 20 * Math.floor((i * COINS) / (20 * count)))
    .map((index) => `raw(76a914${toHex(keyHashOf(index))}88ac)`)

const isRecord = (answer: unknown): boolean => typeof answer === "object" && answer !== null

/** Seconds of one search, which has to find the coins of all descriptors. */
const scan = async (node: NodeProcess, count: number): Promise<number> => {
  const started = performance.now()
  const found = JSON.stringify(await node.call("scantxoutset", "start", descriptors(count)))
  const seconds = (performance.now() - started) / 1000
  const wanted = new RegExp(`"txouts":${COINS},.*"unspents":\\[(\\{[^}]*\\},?){${count}}\\]`)
  if (!wanted.test(found)) throw new Error(`the search has another result: ${found.slice(0, 300)}`)
  return seconds
}

/** Several searches one after the other: the median. */
const scans = async (node: NodeProcess, count: number): Promise<number> => {
  const seconds: Array<number> = []
  for (let run = 0; run < SCANS; run++) seconds.push(await scan(node, count))
  return seconds.toSorted((a, b) => a - b)[SCANS >> 1] ?? Number.NaN
}

/** `scantxoutset` over a million coins, alone and while callers ask for names as fast as they are answered. */
export const benchScan = async (): Promise<object> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  try {
    await fill(directory)
    const node = await NodeProcess.start({ directory, args: ["-maxpeers", "0", "-allowexpired", "-disablewallet"] })
    try {
      const name = nameOfCoin(20)
      await node.until("name_show", isRecord, { params: [name] })
      const call = JSON.stringify({ id: 1, method: "name_show", params: [name] })
      const quiet = await load(node.rpcPort, call)
      const alone = { few: await scans(node, FEW), many: await scans(node, MANY) }
      const calls = load(node.rpcPort, call, SECONDS)
      const busy = await scans(node, FEW)
      const during = await calls
      return {
        what:
          `scantxoutset over ${COINS} coins for ${FEW} and ${MANY} scripts: seconds; name_show meanwhile: milliseconds`,
        aloneSeconds: alone.few,
        aloneManyScriptsSeconds: alone.many,
        whileNamesAreAskedForSeconds: busy,
        nameShowWithout: quiet,
        nameShowMeanwhile: during
      }
    } finally {
      await node.stop()
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
