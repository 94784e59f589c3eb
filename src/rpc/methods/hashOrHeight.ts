import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { RpcError } from "../method/RpcError.ts"
import type { StoredBlock } from "../reader/readMessage.ts"
import { ReadThread } from "../reader/ReadThread.ts"
import { type Match, matchesOf, type SearchedPlace } from "../shapes/activity.ts"
import type { CallTurns } from "../SlowLane.ts"
import { LARGE_BLOCK, missingBlock, recordOfBlock, spentByBlock } from "./blockMethods.ts"
import { blockError } from "./errors.ts"

/** Source: upstream `rpc/blockchain.cpp`, `ParseHashOrHeight`. */

export const findBlock = (
  chain: typeof Chain.Service,
  wanted: number | Bytes
): Effect.Effect<HeaderInfo, RpcError> =>
  Effect.gen(function*() {
    if (typeof wanted !== "number") return yield* Effect.mapError(chain.header(wanted), blockError)
    if (wanted < 0) return yield* RpcError.invalidParameter(`Target block height ${wanted} is negative`)
    const info = yield* chain.headerAt(wanted)
    const { height } = yield* chain.tip
    return info ??
      (yield* RpcError.invalidParameter(`Target block height ${wanted} after current tip ${height}`))
  })

/** Bytes of blocks and undo data per message to the read thread, which gets the scripts each time. */
const BATCH_BYTES = 4 * 1024 * 1024

export interface SearchedBlocks {
  readonly places: ReadonlyArray<SearchedPlace>
  /** By `binaryString`. */
  readonly scripts: ReadonlyMap<string, unknown>
  readonly turns: CallTurns
}

export interface BlockSearch {
  /** Calls `found` for each block in order. The read thread searches all but small blocks, if it can. */
  readonly search: (
    blocks: SearchedBlocks,
    found: (place: SearchedPlace, matches: ReadonlyArray<Match>) => void
  ) => Effect.Effect<void, RpcError>
}

interface Stored {
  readonly place: SearchedPlace
  readonly stored: StoredBlock
}

const sizeOf = ({ stored: { block, undo } }: Stored): number => block.length + (undo?.length ?? 0)

export const makeBlockSearch: Effect.Effect<BlockSearch, never, Chain | ReadThread> = Effect.gen(function*() {
  const chain = yield* Chain
  const reader = yield* ReadThread

  const readOne = (place: SearchedPlace): Effect.Effect<Stored, RpcError> =>
    Effect.gen(function*() {
      const stored = yield* recordOfBlock(chain, place)
      if (stored.undo === undefined && place.height > 0) return yield* RpcError.misc("Undo data not available")
      return { place, stored }
    })

  const searchHere = (place: SearchedPlace, { scripts, turns }: SearchedBlocks) =>
    Effect.gen(function*() {
      const block = yield* Effect.mapError(chain.block(place.hash), missingBlock)
      const spent = place.height === 0 ? [] : yield* spentByBlock(chain, block, place.height)
      const known = spent ?? (yield* RpcError.misc("Undo data not available"))
      const matches: Array<Match> = []
      for (const [i, transaction] of block.transactions.entries()) {
        for (const match of matchesOf({ transaction, spent: known[i - 1] ?? [] }, scripts)) matches.push(match)
        if (turns.isOver()) yield* turns.next
      }
      return matches
    })

  /** `undefined` if the read thread does not answer. */
  const searchThere = (batch: ReadonlyArray<Stored>, scripts: ReadonlySet<string>) =>
    reader.read({ type: "blockSearch", blocks: batch.map(({ stored }) => stored), scripts }).pipe(
      Effect.catchTag("NotRead", () => Effect.succeed(undefined))
    )

  return {
    search: (blocks, found) =>
      Effect.gen(function*() {
        const { places, turns } = blocks
        let scripts: ReadonlySet<string> | undefined
        for (let at = 0; at < places.length;) {
          const batch: Array<Stored> = []
          for (let bytes = 0; at < places.length && bytes < BATCH_BYTES; at++) {
            const place = places[at]
            if (place === undefined) continue
            const one = yield* readOne(place)
            bytes += sizeOf(one)
            batch.push(one)
            if (turns.isOver()) yield* turns.next
          }
          const isSmall = batch.reduce((sum, one) => sum + sizeOf(one), 0) < LARGE_BLOCK
          const lists = isSmall ? undefined : yield* searchThere(batch, scripts ??= new Set(blocks.scripts.keys()))
          for (const [i, { place }] of batch.entries()) found(place, lists?.[i] ?? (yield* searchHere(place, blocks)))
        }
      })
  }
})
