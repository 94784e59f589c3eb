import { Effect, Layer, Logger } from "effect"
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { paramsOf } from "../../src/consensus/params.ts"
import type { NameEffect } from "../../src/consensus/view.ts"
import { LATEST_MIGRATION } from "../../src/names/migrations.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { scriptOf } from "../../src/protocol/address.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { hash160, sha256 } from "../../src/protocol/hash.ts"
import { networks, regtest } from "../../src/protocol/networks.ts"
import { makeTransaction } from "../../src/protocol/transaction.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import type { StorageFailure } from "../../src/storage/errors.ts"
import { benchCache } from "../../test/support/shapedFile.ts"

/** Names that change in one block, and blocks that are connected at once. */
export const NAMES_PER_BLOCK = 20
const BLOCKS_PER_BATCH = 256

/** Names that are asked for repeatedly. */
const HOT_NAMES = 1_000

const WARM_CALLS = 300_000
const COLD_CALLS = 50_000
const TIMED_CALLS = 50_000

const text = new TextEncoder()

/** A name that cannot be predicted from the one before it, so that the order of names is not the order of blocks. */
export const nameOf = (index: number): Uint8Array =>
  text.encode(`d/${Buffer.from(sha256(text.encode(`name ${index}`))).toString("hex").slice(0, 6 + index % 12)}${index}`)

const valueOf = (index: number): Uint8Array =>
  text.encode(
    JSON.stringify({ ip: `192.0.2.${index % 256}`, map: { "*": { ip: "198.51.100.7" } }, n: "x".repeat(index % 300) })
  )

const genesis = decodeBlock(regtest.genesisBlock)

/** Names one after the other, which are registered in the first round and updated in the others. */
export interface NamesOfBlock {
  readonly first: number
  readonly count: number
  readonly round: number
}

/** A block of operations. Only the parts that a follower reads are real. */
export const blockOf = (height: number, { count, first, round }: NamesOfBlock): ConnectedBlock => {
  const transaction = makeTransaction({ version: 0x7100, inputs: [], outputs: [], lockTime: height })
  const effects = Array.from({ length: count }, (_, i): NameEffect => {
    const name = nameOf(first + i)
    return {
      name,
      operation: round === 0
        ? { op: "name_firstupdate", name, rand: new Uint8Array(20), value: valueOf(first + i) }
        : { op: "name_update", name, value: valueOf(first + i + round) },
      height,
      transaction,
      vout: i,
      value: 1_000_000,
      address: scriptOf({ kind: "pubkeyhash", hash: hash160(name) })
    }
  })
  return { height, hash: sha256(text.encode(`block ${height}`)), block: genesis, effects }
}

const percentile = (sorted: Float64Array, share: number): number =>
  Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 1e5) / 100

/** Asks for names one after the other in one fiber, as a program would. Returns calls a second. */
const rate = (names: ReadonlyArray<Uint8Array>, calls: number) =>
  Effect.gen(function*() {
    const db = yield* NameDb.NameDb
    const started = performance.now()
    for (let i = 0; i < calls; i++) yield* db.resolve(names[i % names.length] ?? text.encode(""))
    return Math.round(calls / ((performance.now() - started) / 1000))
  })

/** The same with a clock around each call. Returns microseconds. */
const latencies = (names: ReadonlyArray<Uint8Array>, calls: number) =>
  Effect.gen(function*() {
    const db = yield* NameDb.NameDb
    const times = new Float64Array(calls)
    for (let i = 0; i < calls; i++) {
      const started = performance.now()
      yield* db.resolve(names[i % names.length] ?? text.encode(""))
      times[i] = performance.now() - started
    }
    times.sort()
    return { p50Microseconds: percentile(times, 0.5), p99Microseconds: percentile(times, 0.99) }
  })

export const importNames = (count: number) =>
  Effect.gen(function*() {
    const { follower } = yield* NameDb.NameDb
    let seconds = 0
    let height = 0
    for (let first = 0; first < count;) {
      const blocks: Array<ConnectedBlock> = []
      for (; blocks.length < BLOCKS_PER_BATCH && first < count; first += NAMES_PER_BLOCK) {
        const names = { first, count: Math.min(NAMES_PER_BLOCK, count - first), round: 0 }
        blocks.push(blockOf(height++, names))
      }
      const started = performance.now()
      yield* follower.apply(blocks)
      seconds += (performance.now() - started) / 1000
    }
    return seconds
  })

/** Waits until the search indexes are built: they take the time of the process too. */
export const indexed = Effect.gen(function*() {
  const { find } = yield* NameDb.NameDb
  const clock = { tipHeight: 0, params: paramsOf(networks.mainnet) }
  while ((yield* find({ changedSince: 1 }, { clock, limit: 1 })).indexed < 1) yield* Effect.sleep("100 millis")
})

/** To be raised with each change of `blockOf`. */
const GENERATOR = 1

/**
 * A `names.db` of `importNames` with its search indexes, for measurements that only read. It is made once, which takes some
 * minutes, and kept beside the generated chains.
 */
export const keptNames = async (names: number): Promise<string> => {
  const directory = join(benchCache(), `names-${GENERATOR}-${LATEST_MIGRATION}-${names}`)
  if (!existsSync(directory)) {
    const draft = `${directory}.${process.pid}`
    mkdirSync(draft, { recursive: true })
    try {
      await Effect.runPromise(
        Effect.zipRight(importNames(names), indexed).pipe(
          Effect.provide(openNames(join(draft, "names.db")))
        )
      )
      renameSync(draft, directory)
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  }
  return join(directory, "names.db")
}

/** names.db as a node opens it, without its log. */
export const openNames = (filename: string): Layer.Layer<NameDb.NameDb, StorageFailure> =>
  NameDb.layer({ filename, pageSize: 4096 }).pipe(
    Layer.provide(DataHealth.layer),
    Layer.provide(Logger.remove(Logger.defaultLogger))
  )

/** Every so many of the names, in a shuffled order. */
const sample = (names: number, size: number, offset: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.min(size, names) }, (_, i) => nameOf((offset + i * 7919) % names))

/**
 * Resolving names through the Effect API of `NameDb`: warm, with records in its cache, and cold, each name for the
 * first time since the file was opened (the operating system has read it before).
 */
export const benchNameDb = async ({ names }: { readonly names: number }): Promise<object> => {
  const folder = mkdtempSync(join(tmpdir(), "svcd-bench-names-"))
  const filename = join(folder, "names.db")
  const opened = <A, E>(program: Effect.Effect<A, E, NameDb.NameDb>): Promise<A> =>
    Effect.runPromise(program.pipe(
      Effect.provide(Layer.merge(
        Layer.provide(NameDb.layer({ filename, pageSize: 4096 }), DataHealth.layer),
        Logger.remove(Logger.defaultLogger)
      ))
    ))
  try {
    const importSeconds = await opened(importNames(names))
    const cold = await opened(rate(sample(names, COLD_CALLS, 1), Math.min(COLD_CALLS, names)))
    const coldLatency = await opened(latencies(sample(names, TIMED_CALLS, 2), Math.min(TIMED_CALLS, names)))
    const hot = sample(names, HOT_NAMES, 3)
    const [warm, warmLatency] = await opened(
      Effect.zipRight(rate(hot, hot.length), Effect.all([rate(hot, WARM_CALLS), latencies(hot, TIMED_CALLS)]))
    )
    return {
      what: "NameDb.resolve, one fiber on one core",
      names,
      warmPerSecond: warm,
      warm: warmLatency,
      coldPerSecond: cold,
      cold: coldLatency,
      importNamesPerSecond: Math.round(names / importSeconds),
      fileMB: Math.round(statSync(filename).size / 1e6)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
