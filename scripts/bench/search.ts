import { Context, Effect, Layer, Logger, Stream } from "effect"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ExpiringNames from "../../src/alerts/ExpiringNames.ts"
import type { ExpiringQuery } from "../../src/alerts/ExpiringNames.ts"
import * as WatchList from "../../src/alerts/WatchList.ts"
import { paramsOf } from "../../src/consensus/params.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { networks } from "../../src/protocol/networks.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { Wallets } from "../../src/wallet/Wallets.ts"
import { importNames, nameOf, NAMES_PER_BLOCK } from "./nameDb.ts"

/** Searches of a kind that are timed. */
const QUERIES = 400

const PAGE = 100

const NO_WALLETS = Layer.mock(Wallets, {
  enabled: false,
  loaded: () => [],
  get: () => undefined,
  changes: Stream.empty
})

const percentileOf = (sorted: ReadonlyArray<number>, share: number): number =>
  Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 100) / 100

/** Names on the watch list: as many as it has room for. */
const WATCHED = 10_000

/**
 * Lists of names that expire soon, one page each: of all owners, of one, and of a full watch list, at first after each block and
 * then while the block stays.
 */
const expiringLists = ({ names, tipHeight }: { readonly names: number; readonly tipHeight: number }) =>
  Effect.gen(function*() {
    const db = yield* NameDb.NameDb
    const params = paramsOf(networks.mainnet)
    const { records: [some] } = yield* db.find({ changedSince: tipHeight }, { clock: { tipHeight, params }, limit: 1 })
    const context = yield* Layer.build(
      ExpiringNames.layerFor(params).pipe(
        Layer.provideMerge(WatchList.layerMemory),
        Layer.provideMerge(NO_WALLETS),
        Layer.provideMerge(Layer.succeed(NameDb.NameDb, db))
      )
    )
    const { list } = Context.get(context, ExpiringNames.ExpiringNames)
    const watch = Context.get(context, WatchList.WatchList)
    yield* watch.add(Array.from({ length: WATCHED - 1 }, (_, i) => nameOf((i * 7919) % names)))
    const times = (queryAt: (index: number) => Pick<ExpiringQuery, "blocks" | "whose">, rounds = QUERIES) =>
      Effect.gen(function*() {
        const found: Array<number> = []
        for (let i = 0; i < rounds; i++) {
          const started = performance.now()
          yield* list({ ...queryAt(i), limit: PAGE })
          found.push(performance.now() - started)
        }
        found.sort((a, b) => a - b)
        return { p50Milliseconds: percentileOf(found, 0.5), p99Milliseconds: percentileOf(found, 0.99) }
      })
    const watched = { of: "subjects", mine: true, watched: true } as const
    let fresh = 0
    const afterABlock = times((i) => ({ blocks: 4_032 + i, whose: watched }), 1)
    const cold: Array<number> = []
    for (; fresh < 20; fresh++) {
      yield* watch.add([Buffer.from(`d/new-${fresh % 2}`)])
      yield* watch.remove([Buffer.from(`d/new-${fresh % 2}`)])
      const { p50Milliseconds } = yield* afterABlock
      cold.push(p50Milliseconds)
    }
    cold.sort((a, b) => a - b)
    return {
      expiringAll: yield* times((i) => ({ blocks: 100 + 10 * i, whose: { of: "all" } })),
      expiringOfOwner: yield* times(
        (i) => ({ blocks: 30_000 + i, whose: { of: "owner", script: some?.address ?? new Uint8Array(0) } }),
        20
      ),
      expiringWatchedNewBlock: { p50Milliseconds: percentileOf(cold, 0.5), p99Milliseconds: percentileOf(cold, 0.99) },
      expiringWatched: yield* times((i) => ({ blocks: 100 + 80 * i, whose: watched }))
    }
  }).pipe(Effect.scoped)

/**
 * Searches over many names, one page each: a text of one name, a part of a text that some names have, a text that all
 * have from any page on, an item of values, and names that expire. First the time until the indexes are built behind
 * the import.
 */
export const benchSearch = async ({ names }: { readonly names: number }): Promise<object> => {
  const folder = mkdtempSync(join(tmpdir(), "svcd-bench-search-"))
  const filename = join(folder, "names.db")
  const tipHeight = Math.ceil(names / NAMES_PER_BLOCK) - 1
  const clock = { tipHeight, params: paramsOf(networks.mainnet) }
  const label = (index: number): string => Buffer.from(nameOf((index * 7919) % names)).toString("latin1")

  const timed = (queryAt: (index: number) => { readonly asked: NameDb.NameQuery; readonly cursor?: string }) =>
    Effect.gen(function*() {
      const db = yield* NameDb.NameDb
      const times: Array<number> = []
      let found = 0
      for (let i = 0; i < QUERIES; i++) {
        const { asked, cursor } = queryAt(i)
        const started = performance.now()
        const { records } = yield* db.find({ includeExpired: true, ...asked }, { clock, limit: PAGE, cursor })
        times.push(performance.now() - started)
        found += records.length
      }
      times.sort((a, b) => a - b)
      return {
        p50Milliseconds: percentileOf(times, 0.5),
        p99Milliseconds: percentileOf(times, 0.99),
        namesFound: Math.round(found / QUERIES)
      }
    })

  const measured = Effect.gen(function*() {
    const db = yield* NameDb.NameDb
    const importSeconds = yield* importNames(names)
    const started = performance.now()
    for (let indexed = 0; indexed < 1;) {
      yield* Effect.sleep("500 millis")
      indexed = (yield* db.find({ changedSince: tipHeight }, { clock, limit: 1 })).indexed
    }
    const buildSeconds = (performance.now() - started) / 1000
    return {
      names,
      ...yield* expiringLists({ names, tipHeight }),
      importSeconds: Math.round(10 * importSeconds) / 10,
      buildSeconds: Math.round(buildSeconds),
      oneName: yield* timed((i) => ({ asked: { text: label(i) } })),
      threeCharacters: yield* timed((i) => ({ asked: { text: label(i).slice(3, 6) } })),
      fourCharacters: yield* timed((i) => ({ asked: { text: label(i).slice(2, 6) } })),
      everyName: yield* timed((i) => ({
        asked: { text: "198.51.100.7" },
        cursor: `1.text.${Math.floor((names * i) / QUERIES)}`
      })),
      absent: yield* timed((i) => ({ asked: { text: `no such ${i} text` } })),
      pair: yield* timed((i) => ({ asked: { key: "ip", value: `192.0.2.${i % 256}` } })),
      key: yield* timed(() => ({ asked: { key: "ip" } })),
      expiring: yield* timed((i) => ({ asked: { expiresWithin: 100 + 10 * i } })),
      changed: yield* timed((i) => ({ asked: { changedSince: tipHeight - i } }))
    }
  })

  try {
    const figures = await Effect.runPromise(measured.pipe(
      Effect.provide(
        NameDb.layer({ filename, pageSize: 4096 }).pipe(
          Layer.provide(DataHealth.layer),
          Layer.provide(Logger.remove(Logger.defaultLogger))
        )
      )
    ))
    return { ...figures, fileMB: Math.round(statSync(filename).size / 1e6) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
