import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { attempt } from "../../chain/attempt.ts"
import type { Chain } from "../../chain/Chain.ts"
import type { HeaderTree } from "../../chain/index/HeaderTree.ts"
import type { Cursor } from "../../chain/write/Follower.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageCorrupted, StorageFailure } from "../../storage/errors.ts"
import type { Inspected } from "../../storage/inspect.ts"
import { pagesOf } from "../../storage/repair.ts"
import type { KeyRing } from "../keys/KeyRing.ts"
import type { WalletFile } from "../keys/WalletFile.ts"
import { contentOf, earliest, load, sourcesOf } from "./indexContent.ts"
import { type IndexStore, inspectedIndex } from "./IndexStore.ts"
import type { Ledger } from "./Ledger.ts"

export interface IndexParts {
  readonly store: IndexStore
  readonly chain: typeof Chain.Service
  readonly ledger: Ledger
  readonly ring: KeyRing
  readonly file: WalletFile
  /** Whether the keys are new, so that no block up to the tip concerns the wallet. */
  readonly fresh: boolean
}

/** In seconds. Upstream `chain.h`, `TIMESTAMP_WINDOW`. */
const TIMESTAMP_WINDOW = 7_200

/** On regtest, tests set block times. */
export const hasRealTimes = ({ params }: IndexParts["chain"]): boolean => !params.noRetargeting

/** No earlier block concerns the wallet. */
export const firstTime = ({ document }: WalletFile): number => earliest(document) - TIMESTAMP_WINDOW

/** The first height that may be from this time (seconds since 1970) or later. */
export const heightOfTime = (tree: HeaderTree, time: number): number => {
  const top = tree.height(tree.tip())
  let height = 0
  while (height <= top && tree.time(tree.at(height)) < time - TIMESTAMP_WINDOW) height++
  return height
}

/** Rebuilds a damaged file from the ledger, which stays correct, and registers it for periodic checks. */
const mendFromLedger = (
  store: IndexStore,
  ledger: Ledger,
  inspected: Inspected
): Effect.Effect<void, never, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const runtime = yield* Effect.runtime()
    store.backUpFrom({
      content: () => contentOf(ledger),
      damaged: ({ found }) => {
        const said = Effect.logError(`${inspected.filename} is damaged (${found}): it is rebuilt from memory`)
        Runtime.runFork(runtime)(Effect.zipRight(health.damaged(inspected.what), said))
      }
    })
    const renew = (failure: StorageFailure): Effect.Effect<void> =>
      failure._tag === "StorageCorrupted"
        ? Effect.catchAll(attempt(() => store.renew(failure)), ({ message }) => Effect.logError(message))
        : Effect.void
    yield* health.register(pagesOf(inspected, () => store.guard, renew))
  })

/** Where a new index starts; `undefined` for the genesis block. */
const beginning = ({ chain, file, fresh }: IndexParts): Cursor | undefined => {
  const { tree } = chain
  const height = fresh
    ? tree.height(tree.tip())
    : hasRealTimes(chain)
    ? heightOfTime(tree, earliest(file.document)) - 1
    : -1
  return height < 0 ? undefined : { height, hash: tree.hash(tree.at(height)).slice() }
}

const empty = (parts: IndexParts): ReadonlyArray<string> => {
  parts.store.reset(sourcesOf(parts.file.document).keys(), beginning(parts))
  return []
}

/** Sources that need a rescan. An index of another wallet is emptied. */
const prepare = (parts: IndexParts): ReadonlyArray<string> => {
  const { file: { document }, store } = parts
  const wanted = sourcesOf(document)
  const known = store.sources()
  const foreign = [...known].some((source) => !wanted.has(source))
  if (foreign || (store.cursor() === undefined && known.size === 0)) return empty(parts)
  if (document.rescanFrom !== undefined) return [...wanted.keys()]
  return [...wanted.keys()].filter((source) => !known.has(source))
}

export interface MissingSource {
  readonly source: string
  readonly timestamp: number
}

/** Returns the sources that need a rescan. */
export const fillLedger = (
  parts: IndexParts
): Effect.Effect<ReadonlyArray<MissingSource>, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { file, ledger, store } = parts
    const inspected = inspectedIndex(store.filename)
    const filled = (begin: (parts: IndexParts) => ReadonlyArray<string>) =>
      attempt(() => {
        const sources = begin(parts)
        load(store, parts)
        return sources
      })
    /** Invalid rows are damage from before the file had page checksums. */
    const refilled = ({ found }: StorageCorrupted) =>
      Effect.gen(function*() {
        const { damaged } = yield* DataHealth
        yield* damaged(inspected.what)
        yield* Effect.logError(`${store.filename} is damaged (${found}) and is emptied: ${inspected.instead}`)
        return yield* filled(empty)
      })
    const sources = yield* Effect.catchTag(filled(prepare), "StorageCorrupted", refilled)
    const missing = yield* attempt(() => {
      const cursor = store.cursor()
      if (cursor !== undefined) ledger.tip = cursor
      const times = sourcesOf(file.document)
      const { rescanFrom = Number.POSITIVE_INFINITY } = file.document
      return sources.map((source) => ({ source, timestamp: Math.min(times.get(source) ?? 0, rescanFrom) }))
    })
    yield* mendFromLedger(store, ledger, inspected)
    return missing
  })
