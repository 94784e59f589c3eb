import { Effect, Layer, Logger } from "effect"
import { fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Client } from "pg"
import { NameClient } from "../../src/client/NameClient.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { PostgresNames } from "../../src/postgres.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { Cluster } from "../postgres/Cluster.ts"
import { cpuSecondsOf, ownCpuSeconds } from "./cpuTime.ts"
import { BenchChain } from "./eventLog.ts"
import { serve } from "./events.ts"
import { indexed, nameOf, NAMES_PER_BLOCK } from "./nameDb.ts"

/** Blocks at the tip, and milliseconds between two. */
const BLOCKS = 50
const PAUSE = 200

/** Milliseconds between two looks at the tables during the first copy. */
const LOOK = 50

/** Names that are resolved, one after the other and by many callers at once. */
const SEQUENTIAL = 3_000
const CONCURRENT = 60_000
const CALLERS = 64

const DATABASE = "names"

const percentileOf = (sorted: ReadonlyArray<number>, share: number): number =>
  Math.round(10 * (sorted[Math.floor((sorted.length - 1) * share)] ?? 0)) / 10

const column = (client: Client, statement: string): Effect.Effect<number> =>
  Effect.promise(async () => {
    try {
      const { rows: [row] } = await client.query<{ readonly value: string }>(statement)
      return Number(row?.value ?? -1)
    } catch {
      // The exporter has not made the tables yet.
      return -1
    }
  })

/** A connection for as long as the scope is open. */
const connected = (cluster: Cluster) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ connectionString: cluster.url(DATABASE) })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )

const until = (client: Client, { least, statement }: { readonly statement: string; readonly least: number }) =>
  Effect.gen(function*() {
    for (;;) {
      const value = yield* column(client, statement)
      if (value >= least) return value
      yield* Effect.sleep(LOOK)
    }
  })

/** Milliseconds from the commit of a block in names.db until readers of the tables are told. */
const lags = (chain: BenchChain, cluster: Cluster) =>
  Effect.gen(function*() {
    const { follower } = yield* NameDb.NameDb
    const listener = yield* connected(cluster)
    let heard: ((height: number) => void) | undefined
    listener.on("notification", ({ payload = "" }) => heard?.(Number(payload.split(" ")[0])))
    yield* Effect.promise(() => listener.query("LISTEN svcd_block"))
    const found: Array<number> = []
    for (let i = 0; i < BLOCKS; i++) {
      const block = chain.next()
      const told = new Promise<void>((resolve) => {
        heard = (height) => height === block.height ? resolve() : undefined
      })
      yield* follower.apply([block])
      const committed = performance.now()
      yield* Effect.promise(() => told)
      found.push(performance.now() - committed)
      yield* Effect.sleep(PAUSE)
    }
    found.sort((a, b) => a - b)
    return { p50Milliseconds: percentileOf(found, 0.5), p99Milliseconds: percentileOf(found, 0.99) }
  })

const resolving = (names: number) =>
  Effect.gen(function*() {
    const { resolveName } = yield* NameClient
    const decoder = new TextDecoder()
    const asked = (i: number): string => decoder.decode(nameOf((i * 7_919) % names))
    const rate = (count: number, concurrency: number) =>
      Effect.gen(function*() {
        const wanted = Array.from({ length: count }, (_, i) => asked(i))
        const started = performance.now()
        yield* Effect.forEach(wanted, (name) => resolveName(name), { concurrency, discard: true })
        return Math.round(count / ((performance.now() - started) / 1000))
      })
    yield* rate(SEQUENTIAL, CALLERS)
    return { oneCaller: yield* rate(SEQUENTIAL, 1), callers64: yield* rate(CONCURRENT, CALLERS) }
  })

const measured = (cluster: Cluster, chain: BenchChain, operations: number) =>
  Effect.scoped(Effect.gen(function*() {
    yield* indexed
    const port = yield* serve(chain)
    const client = yield* connected(cluster)
    const cursor = yield* (yield* NameDb.NameDb).cursor
    const height = cursor?.height ?? 0
    const started = performance.now()
    const exporter = yield* Effect.acquireRelease(
      Effect.sync(() =>
        fork(fileURLToPath(new URL("./exportFollower.js", import.meta.url)), [
          String(port),
          cluster.url(DATABASE),
          String(height)
        ])
      ),
      (child) => Effect.sync(() => child.kill())
    )
    const reached = "SELECT height AS value FROM svcd.cursor"
    const backend = "SELECT pid AS value FROM pg_stat_activity WHERE application_name = 'svcd-export'"
    // From the first transaction on: the start of a program is not part of a copy.
    const first = yield* until(client, { statement: reached, least: 0 })
    const server = yield* column(client, backend)
    const spent = () => [ownCpuSeconds(), cpuSecondsOf(exporter.pid), cpuSecondsOf(server)] as const
    const [copyBegan, before] = [performance.now(), spent()]
    yield* until(client, { statement: reached, least: height })
    const copied = (performance.now() - copyBegan) / 1000
    const [node, exporting, postgres] = spent()
    const cpu = { node: node - before[0], exporter: exporting - before[1], postgres: postgres - before[2] }
    const copiedOperations = (height - first) * NAMES_PER_BLOCK
    yield* until(client, { statement: "SELECT complete::int AS value FROM svcd.cursor", least: 1 })
    const complete = (performance.now() - started) / 1000
    const bytes = yield* column(client, `SELECT pg_database_size('${DATABASE}') AS value`)
    return {
      backfill: {
        operations,
        startSeconds: Math.round((copyBegan - started) / 100) / 10,
        copySeconds: Math.round(10 * copied) / 10,
        copiedPerSecond: Math.round(copiedOperations / copied),
        cpuSeconds: cpu,
        copiedPerCpuSecond: Math.round(copiedOperations / Math.max(...Object.values(cpu))),
        completeSeconds: Math.round(10 * complete) / 10,
        completePerSecond: Math.round(operations / complete),
        databaseMB: Math.round(bytes / 1e6)
      },
      lagAtTheTip: yield* lags(chain, cluster),
      resolvedPerSecond: yield* Effect.provide(
        resolving(operations / 2),
        PostgresNames.layer({ url: cluster.url(DATABASE) })
      )
    }
  }))

export const benchExport = async ({ operations }: { readonly operations: number }): Promise<object> => {
  const cluster = await Cluster.start()
  if (cluster === undefined) return { skipped: "PostgreSQL is not installed" }
  const folder = mkdtempSync(join(tmpdir(), "svcd-bench-export-"))
  try {
    await cluster.query("postgres", `CREATE DATABASE ${DATABASE}`)
    const chain = new BenchChain(operations / 2)
    const program = Effect.zipRight(chain.grow(operations), measured(cluster, chain, operations))
    const figures = await Effect.runPromise(program.pipe(
      Effect.provide(Layer.merge(
        Layer.provide(NameDb.layer({ filename: join(folder, "names.db"), pageSize: 4096 }), DataHealth.layer),
        Logger.remove(Logger.defaultLogger)
      ))
    ))
    return {
      what: "svcd-export: a first copy, then blocks of 20 operations; names resolved from the tables by one process",
      ...figures
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await cluster.remove()
  }
}
