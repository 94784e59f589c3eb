import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { matchesFilter } from "../../chain/indexes/blockFilter.ts"
import type { FilterIndex, StoredFilter } from "../../chain/indexes/FilterIndex.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import type { Cursor } from "../../chain/write/Follower.ts"
import { type Bytes, displayHash, fromBinaryString, toHex } from "../../protocol/bytes.ts"
import { decodedOr } from "../../protocol/Reader.ts"
import { GETBLOCKFILTER, SCANBLOCKS, UNKNOWN_TYPE } from "../contract/chain/filter.ts"
import { readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import type { ReadThread } from "../reader/ReadThread.ts"
import type { SearchedPlace } from "../shapes/activity.ts"
import { blockError, storageError } from "./errors.ts"
import { makeBlockSearch, type SearchedBlocks } from "./hashOrHeight.ts"
import { OneScan } from "./OneScan.ts"
import { scanScriptSteps } from "./scanObjects.ts"

/** Source: upstream `rpc/blockchain.cpp`, `getblockfilter`, `scanblocks` (reference/rpc.md 3.2). */

/** Filters per read. */
const AT_ONCE = 100

const indexOf = (filters: FilterIndex | undefined, type: string): Effect.Effect<FilterIndex, RpcError> =>
  Effect.suspend(() => {
    if (type !== "basic") return RpcError.invalidAddressOrKey(UNKNOWN_TYPE)
    return filters === undefined
      ? RpcError.misc(`Index is not enabled for filtertype ${type}`)
      : Effect.succeed(filters)
  })

const matches = ({ filter, hash }: StoredFilter, scripts: ReadonlyArray<Bytes>): Effect.Effect<boolean, RpcError> =>
  Effect.suspend(() =>
    decodedOr(
      () => Effect.succeed(matchesFilter(filter, hash, scripts)),
      ({ message }) => RpcError.internal(`the filter of a block is malformed: ${message}`)
    )
  )

export const filterMethods: Methods<Chain | Indexes | ReadThread> = Effect.gen(function*() {
  const chain = yield* Chain
  const { tree } = chain
  const { filters } = yield* Indexes
  const { search } = yield* makeBlockSearch
  const scan = new OneScan()
  let scannedHeight = 0

  const isReady = (index: FilterIndex): Effect.Effect<boolean, RpcError> =>
    Effect.gen(function*() {
      const cursor = yield* index.follower.cursor
      return (cursor?.height ?? -1) >= (yield* chain.tip).height
    }).pipe(Effect.mapError(storageError))

  const getblockfilter = method(GETBLOCKFILTER, ({ blockhash, filtertype }) =>
    Effect.gen(function*() {
      const index = yield* indexOf(filters, filtertype)
      const info = yield* Effect.mapError(chain.header(blockhash), blockError)
      const found = yield* Effect.mapError(index.filter(info), storageError)
      if (found !== undefined) return { filter: toHex(found.filter), header: displayHash(found.header) }
      const missing = "Filter not found."
      if (!tree.wasConnected(tree.find(blockhash))) {
        return yield* RpcError.invalidAddressOrKey(`${missing} Block was not connected to active chain.`)
      }
      return yield* (yield* isReady(index))
        ? RpcError.internal(`${missing} This error is unexpected and indicates index corruption.`)
        : RpcError.misc(`${missing} Block filters are still in the process of being indexed.`)
    }))

  /** Drops blocks whose filter only matches by chance. An empty script that is spent is in no filter. */
  const withScript = (blocks: SearchedBlocks): Effect.Effect<ReadonlyArray<SearchedPlace>, RpcError> =>
    Effect.gen(function*() {
      const places: Array<SearchedPlace> = []
      yield* search(blocks, (place, matches) => {
        if (matches.some(({ script, type }) => type === "receive" || script.length > 0)) places.push(place)
      })
      return places
    })

  const rangeOf = ({ start, stop }: { readonly start: number; readonly stop: number | undefined }) =>
    Effect.gen(function*() {
      const tip = yield* chain.tip
      const first = yield* chain.headerAt(start)
      if (first === undefined) return yield* RpcError.misc("Invalid start_height")
      const last = stop === undefined ? tip : yield* chain.headerAt(stop)
      if (last === undefined || last.height < first.height) return yield* RpcError.misc("Invalid stop_height")
      return { first: first.height, last: last.height }
    })

  const scanblocks = method(
    SCANBLOCKS,
    ({ action, filtertype, options, scanobjects = [], start_height, stop_height }, { turns }) => {
      const start = Effect.gen(function*() {
        const index = yield* indexOf(filters, filtertype)
        const { first, last } = yield* rangeOf({ start: start_height, stop: stop_height })
        const { keys } = yield* readInTurns(turns, scanScriptSteps(chain.params.network, scanobjects))
        const scripts = Array.from(keys.keys(), fromBinaryString)
        const relevant: Array<string> = []
        scannedHeight = first
        for (let from = first; from <= last && !scan.aborted;) {
          const to = Math.min(last, from + AT_ONCE - 1)
          const blocks: Array<Cursor> = []
          for (let height = from; height <= to; height++) {
            const info = yield* chain.headerAt(height)
            if (info !== undefined) blocks.push(info)
          }
          const found = yield* Effect.mapError(index.filters(blocks), storageError)
          const matching: Array<SearchedPlace> = []
          for (const [i, one] of (found ?? []).entries()) {
            if (turns.isOver()) yield* turns.next
            if (yield* matches(one, scripts)) matching.push({ height: from + i, hash: one.hash })
          }
          const counts = options?.filter_false_positives === true
            ? yield* withScript({ places: matching, scripts: keys, turns })
            : matching
          for (const { hash } of counts) relevant.push(displayHash(hash))
          scannedHeight = to
          scan.progress = last > first ? Math.floor(100 * (to - first) / (last - first)) : 100
          from = to + 1
        }
        return { from_height: first, to_height: scannedHeight, relevant_blocks: relevant, completed: !scan.aborted }
      })
      return scan.act(action, {
        start,
        status: () => ({ progress: scan.progress, current_height: scannedHeight })
      })
    }
  )

  return [getblockfilter, scanblocks]
})
