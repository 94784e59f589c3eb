import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { Snapshots } from "../../src/chain/Snapshots.ts"
import { benchChain } from "./chain.ts"
import { COINS, headersOfSet, NAMES_EVERY, writeCoinSet } from "./coinSet.ts"

/** Seconds of a piece of work, and CPU seconds of all threads: those depend less on what else the machine does. */
const timed = <E>(work: Effect.Effect<unknown, E>) =>
  Effect.gen(function*() {
    const [started, before] = [performance.now(), process.cpuUsage()]
    yield* work
    const { system, user } = process.cpuUsage(before)
    return { seconds: (performance.now() - started) / 1000, cpuSeconds: (user + system) / 1e6 }
  })

/** Loads a snapshot of a million coins into a new chain, with its names, and writes it again. */
export const benchSnapshot = async (): Promise<object> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  try {
    for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))
    const headers = headersOfSet()
    const base = headers.at(-1)?.header.hash ?? new Uint8Array(32)
    const path = join(directory, "set.dat")
    const program = Effect.gen(function*() {
      const snapshots = yield* Snapshots
      yield* (yield* ChainSink).acceptHeaders(headers)
      const load = yield* timed(snapshots.load(path))
      const dump = yield* timed(snapshots.dump(join(directory, "again.dat"), "tip"))
      return {
        coins: COINS,
        names: COINS / NAMES_EVERY,
        megabytes: statSync(path).size / 1e6,
        loadedPerSecond: COINS / load.seconds,
        loadedPerCpuSecond: COINS / load.cpuSeconds,
        dumpedPerSecond: COINS / dump.seconds,
        dumpedPerCpuSecond: COINS / dump.cpuSeconds
      }
    })
    const trusted = writeCoinSet(path, base)
    return await Effect.runPromise(Effect.provide(program, quiet(directory, trusted)))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const quiet = (directory: string, snapshotHash?: Uint8Array) =>
  Layer.merge(benchChain(directory, { verifyThreads: 0, snapshotHash }), Logger.remove(Logger.defaultLogger))
