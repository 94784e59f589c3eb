import { Context, Effect, Layer, Stream } from "effect"
import * as ExpiringNames from "../../src/alerts/ExpiringNames.ts"
import type { ExpiringQuery } from "../../src/alerts/ExpiringNames.ts"
import * as WatchList from "../../src/alerts/WatchList.ts"
import { paramsOf } from "../../src/consensus/params.ts"
import { CommitSignal } from "../../src/names/CommitSignal.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { networks } from "../../src/protocol/networks.ts"
import { Wallets } from "../../src/wallet/Wallets.ts"
import { keptNames, nameOf, NAMES_PER_BLOCK, openNames } from "./nameDb.ts"
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

/** Blocks that change watched names. */
const BLOCKS = 100

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
    // The file is kept, so no block is connected: the lists are told of commits that change watched names.
    const commits = new CommitSignal()
    const context = yield* Layer.build(
      ExpiringNames.layerFor(params).pipe(
        Layer.provideMerge(WatchList.layerMemory),
        Layer.provideMerge(NO_WALLETS),
        Layer.provideMerge(Layer.succeed(NameDb.NameDb, { ...db, commits: Effect.succeed(commits) }))
      )
    )
    const { list } = Context.get(context, ExpiringNames.ExpiringNames)
    const watch = Context.get(context, WatchList.WatchList)
    const onTheList = Array.from({ length: WATCHED }, (_, i) => nameOf((i * 7919) % names))
    yield* watch.add(onTheList)
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
    const afterABlock: Array<number> = []
    yield* times(() => ({ blocks: 4_032, whose: watched }), 1)
    for (let i = 0; i < BLOCKS; i++) {
      const changed = onTheList.slice(i * NAMES_PER_BLOCK, (i + 1) * NAMES_PER_BLOCK)
      commits.tell(new Map(changed.map((name) => [nameKey(name), undefined])))
      const { p50Milliseconds } = yield* times(() => ({ blocks: 4_032 + i, whose: watched }), 1)
      afterABlock.push(p50Milliseconds)
    }
    afterABlock.sort((a, b) => a - b)
    return {
      expiringAll: yield* times((i) => ({ blocks: 100 + 10 * i, whose: { of: "all" } })),
      expiringOfOwner: yield* times(
        (i) => ({ blocks: 30_000 + i, whose: { of: "owner", script: some?.address ?? new Uint8Array(0) } }),
        20
      ),
      expiringWatchedNewBlock: {
        p50Milliseconds: percentileOf(afterABlock, 0.5),
        p99Milliseconds: percentileOf(afterABlock, 0.99)
      },
      expiringWatched: yield* times((i) => ({ blocks: 100 + 80 * i, whose: watched }))
    }
  }).pipe(Effect.scoped)

/** The lists over many names. */
export const benchExpiring = async ({ names }: { readonly names: number }): Promise<object> => {
  const tipHeight = Math.ceil(names / NAMES_PER_BLOCK) - 1
  const filename = await keptNames(names)
  const lists = await Effect.runPromise(Effect.provide(expiringLists({ names, tipHeight }), openNames(filename)))
  return { names, ...lists }
}
