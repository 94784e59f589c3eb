import { Context, Effect, Layer, Logger, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
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
import { percentileOf } from "./search.ts"

/** Lists of a kind that are timed. */
const QUERIES = 400

const PAGE = 100

const NO_WALLETS = Layer.mock(Wallets, {
  enabled: false,
  loaded: () => [],
  get: () => undefined,
  twinsOf: () => [],
  changes: Stream.empty
})

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

/** The lists over many names. */
export const benchExpiring = async ({ names }: { readonly names: number }): Promise<object> => {
  const folder = mkdtempSync(join(tmpdir(), "svcd-bench-expiring-"))
  const tipHeight = Math.ceil(names / NAMES_PER_BLOCK) - 1
  const measured = Effect.gen(function*() {
    yield* importNames(names)
    return { names, ...yield* expiringLists({ names, tipHeight }) }
  })
  try {
    return await Effect.runPromise(measured.pipe(
      Effect.provide(
        NameDb.layer({ filename: join(folder, "names.db"), pageSize: 4096 }).pipe(
          Layer.provide(DataHealth.layer),
          Layer.provide(Logger.remove(Logger.defaultLogger))
        )
      )
    ))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
