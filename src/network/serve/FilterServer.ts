import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { FilterIndex } from "../../chain/indexes/FilterIndex.ts"
import type { Cursor } from "../../chain/write/Follower.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer } from "../Peer.ts"
import type { GetCFCheckpt, GetCFHeaders, GetCFilters } from "../wire/messages/filters.ts"
import { isServable } from "./servingRules.ts"

// Answers requests of light clients for block filters (BIP 157). Source: upstream `net_processing.cpp`,
// `PrepareBlockFilterRequest`, `ProcessGetCFilters` and following.

/** Per request (BIP 157). */
const MAX_FILTERS = 1_000
const MAX_HASHES = 2_000

/** Blocks (BIP 157). */
const CHECKPOINT_INTERVAL = 1_000

const BASIC = 0

const AT_ONCE = 50

const NO_FILTER_HEADER = new Uint8Array(32)

interface Asked {
  readonly filterType: number
  readonly startHeight: number
  readonly stopHash: Uint8Array
}

export const make = (index: FilterIndex): Effect.Effect<NonNullable<MessageParts["filters"]>, never, Chain> =>
  Effect.map(Chain, ({ params, tree }) => {
    const leave = (peer: Peer, reason: string): undefined => {
      peer.disconnect({ reason, misbehaving: false })
      return undefined
    }

    /** The last block of a request; `undefined` for a request that ends the connection. */
    const stopOf = (peer: Peer, { filterType, startHeight, stopHash }: Asked, most: number): HeaderId | undefined => {
      if (filterType !== BASIC) return leave(peer, "unsupported: the peer requests another type of block filters")
      const stop = tree.find(stopHash)
      if (stop === NO_HEADER || !isServable(tree, params, stop)) {
        return leave(peer, "invalid filter request: the stop block is unknown")
      }
      const height = tree.height(stop)
      if (startHeight > height) return leave(peer, "invalid filter request: the start is above the stop block")
      if (height - startHeight >= most) return leave(peer, "invalid filter request: too many blocks")
      return stop
    }

    const placeOf = (id: HeaderId): Cursor => ({ height: tree.height(id), hash: tree.hash(id).slice() })

    const rangeTo = (stop: HeaderId, from: number): ReadonlyArray<Cursor> => {
      const places: Array<Cursor> = []
      for (let id = stop; id !== NO_HEADER && tree.height(id) >= from; id = tree.parent(id)) places.push(placeOf(id))
      return places.reverse()
    }

    /** Gives other peers turns; `undefined` if a row is missing. */
    const inParts = <A>(
      peer: Peer,
      places: ReadonlyArray<Cursor>,
      read: (some: ReadonlyArray<Cursor>) => Effect.Effect<ReadonlyArray<A> | undefined, StorageFailure>
    ): Effect.Effect<ReadonlyArray<A> | undefined, StorageFailure> =>
      Effect.gen(function*() {
        const all: Array<A> = []
        for (let from = 0; from < places.length; from += AT_ONCE) {
          const part = yield* read(places.slice(from, from + AT_ONCE))
          if (part === undefined) return undefined
          all.push(...part)
          yield* peer.turn
        }
        return all
      })

    const getcfilters = (peer: Peer, asked: GetCFilters): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        const stop = stopOf(peer, asked, MAX_FILTERS)
        if (stop === undefined) return
        const places = rangeTo(stop, asked.startHeight)
        // The answer is all or nothing; the hashes show whether all filters are there.
        if ((yield* inParts(peer, places, index.hashes)) === undefined) return
        for (let from = 0; from < places.length && !peer.closed; from += AT_ONCE) {
          yield* peer.ready
          for (const { filter, hash } of (yield* index.filters(places.slice(from, from + AT_ONCE))) ?? []) {
            yield* peer.send({ type: "cfilter", filterType: BASIC, blockHash: hash, filter })
          }
          yield* peer.turn
        }
      })

    const getcfheaders = (peer: Peer, asked: GetCFHeaders): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        const stop = stopOf(peer, asked, MAX_HASHES)
        if (stop === undefined) return
        yield* peer.ready
        const rows = yield* inParts(peer, rangeTo(stop, Math.max(0, asked.startHeight - 1)), index.hashes)
        if (rows === undefined) return
        const [before, ...rest] = rows
        const isFirst = asked.startHeight === 0
        yield* peer.send({
          type: "cfheaders",
          filterType: BASIC,
          stopHash: asked.stopHash,
          previousHeader: isFirst ? NO_FILTER_HEADER : before?.header ?? NO_FILTER_HEADER,
          filterHashes: (isFirst ? rows : rest).map(({ filterHash }) => filterHash)
        })
      })

    const getcfcheckpt = (peer: Peer, asked: GetCFCheckpt): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        const stop = stopOf(peer, { ...asked, startHeight: 0 }, Infinity)
        if (stop === undefined) return
        yield* peer.ready
        const places: Array<Cursor> = []
        for (let height = CHECKPOINT_INTERVAL; height <= tree.height(stop); height += CHECKPOINT_INTERVAL) {
          places.push(placeOf(tree.ancestor(stop, height)))
        }
        const rows = yield* inParts(peer, places, index.hashes)
        if (rows === undefined) return
        yield* peer.send({
          type: "cfcheckpt",
          filterType: BASIC,
          stopHash: asked.stopHash,
          filterHeaders: rows.map(({ header }) => header)
        })
      })

    /** Sends no answer while the index is unreadable, as it is being rebuilt. */
    const answered = (answer: Effect.Effect<void, StorageFailure>): Effect.Effect<void> =>
      Effect.catchAll(
        answer,
        (failure) => Effect.logError("block filters requested by a peer cannot be read", { reason: failure.message })
      )

    return {
      getcfilters: (peer, message) => answered(getcfilters(peer, message)),
      getcfheaders: (peer, message) => answered(getcfheaders(peer, message)),
      getcfcheckpt: (peer, message) => answered(getcfcheckpt(peer, message))
    }
  })
