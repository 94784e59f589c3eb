import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { blockSubsidy } from "../../consensus/subsidy.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { GETBLOCKSTATS, GETCHAINTXSTATS, INVALID_COUNT } from "../contract/chain/stats.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { ReadThread } from "../reader/ReadThread.ts"
import { type BlockStatistics, blockStatsJson, isStatName } from "../shapes/blockStats.ts"
import { LARGE_BLOCK, missingBlock, recordOfBlock, spentByBlock } from "./blockMethods.ts"
import { blockError } from "./errors.ts"
import { findBlock } from "./hashOrHeight.ts"

/** reference/rpc.md 3.2. */

const MONTH_SECONDS = 30 * 24 * 60 * 60

/** Headers counted between two looks at the time. */
const STEP = 10_000

export const statsMethods: Methods<Chain | ReadThread> = Effect.gen(function*() {
  const chain = yield* Chain
  const reader = yield* ReadThread
  const { params, tree } = chain

  /** Refuses a block whose undo data were never stored or were pruned. */
  const lacksUndo = (info: HeaderInfo): Effect.Effect<never, RpcError> => {
    const lacking = tree.height(tree.find(info.hash)) <= tree.losses.prunedTo ? " (pruned data)" : ""
    return RpcError.misc(`Undo data not available${lacking}`)
  }

  const countedHere = (info: HeaderInfo): Effect.Effect<BlockStatistics, RpcError> =>
    Effect.gen(function*() {
      const block = yield* Effect.mapError(chain.block(info.hash), missingBlock)
      const undone = info.height === 0 ? [] : yield* spentByBlock(chain, block, info.height)
      const spent = undone ?? (yield* lacksUndo(info))
      return blockStatsJson({ block, info, spent, subsidy: blockSubsidy(info.height, params) })
    })

  /** `undefined` if the block is small or the thread does not answer. */
  const countedThere = (info: HeaderInfo): Effect.Effect<BlockStatistics | undefined, RpcError> =>
    Effect.gen(function*() {
      const { height, medianTimePast } = info
      const stored = yield* recordOfBlock(chain, info)
      if (stored.undo === undefined && height > 0) return yield* lacksUndo(info)
      if (stored.block.length < LARGE_BLOCK) return undefined
      return yield* reader.read({ type: "blockStats", stored, medianTimePast, subsidy: blockSubsidy(height, params) })
    }).pipe(Effect.catchTag("NotRead", () => Effect.succeed(undefined)))

  const getblockstats = method(GETBLOCKSTATS, ({ hash_or_height, stats = [] }) =>
    Effect.gen(function*() {
      const info = yield* findBlock(chain, hash_or_height)
      const all = (yield* countedThere(info)) ?? (yield* countedHere(info))
      if (stats.length === 0) return all
      const chosen: Record<string, unknown> = {}
      for (const name of [...new Set(stats)].sort()) {
        if (!isStatName(name)) return yield* RpcError.invalidParameter(`Invalid selected statistic '${name}'`)
        chosen[name] = all[name]
      }
      return chosen
    }))

  const windowEnd = (blockhash: Uint8Array | undefined): Effect.Effect<HeaderInfo, RpcError> =>
    Effect.gen(function*() {
      if (blockhash === undefined) return yield* chain.tip
      const info = yield* Effect.mapError(chain.header(blockhash), blockError)
      return info.confirmations > 0 ? info : yield* RpcError.invalidParameter("Block is not in main chain")
    })

  const getchaintxstats = method(GETCHAINTXSTATS, ({ blockhash, nblocks }, { turns }) =>
    Effect.gen(function*() {
      const end = yield* windowEnd(blockhash)
      const month = Math.floor(MONTH_SECONDS / params.targetSpacing)
      const blocks = nblocks ?? Math.max(0, Math.min(month, end.height - 1))
      if (blocks < 0 || (blocks > 0 && blocks >= end.height)) return yield* RpcError.invalidParameter(INVALID_COUNT)
      const last = tree.find(end.hash)
      const first = tree.ancestor(last, end.height - blocks)
      /** Counts transactions after `from`, down to genesis or `until`. */
      const count = (from: HeaderId, until: number) =>
        Effect.gen(function*() {
          let total = 0
          let id = from
          for (let height = tree.height(from); height > until; height--) {
            total += tree.transactions(id)
            id = tree.parent(id)
            if (height % STEP === 0 && turns.isOver()) yield* turns.next
          }
          return total
        })
      const inWindow = yield* count(last, end.height - blocks)
      const before = yield* count(first, -1)
      const interval = end.medianTimePast - tree.medianTimePast(first)
      const hasBlocks = blocks > 0
      return {
        time: end.header.time,
        txcount: before + inWindow,
        window_final_block_hash: displayHash(end.hash),
        window_final_block_height: end.height,
        window_block_count: blocks,
        window_interval: hasBlocks ? interval : undefined,
        window_tx_count: hasBlocks ? inWindow : undefined,
        txrate: hasBlocks && interval > 0 ? inWindow / interval : undefined
      }
    }))

  return [getblockstats, getchaintxstats]
})
