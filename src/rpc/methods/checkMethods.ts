import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import type { PruneOptions } from "../../chain/prune/Pruning.ts"
import type { Height } from "../../protocol/keys.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import { PRUNEBLOCKCHAIN } from "../contract/chain/chain.ts"
import { GETCHECKINFO, VERIFYCHAIN } from "../contract/chain/check.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { storageError } from "./errors.ts"

const LAST_LEVEL = 4

export const checkMethods: Methods<Chain | ChainControl | DataHealth> = Effect.gen(function*() {
  const { tree } = yield* Chain
  const control = yield* ChainControl
  const health = yield* DataHealth

  const verifychain = method(
    VERIFYCHAIN,
    ({ checklevel, nblocks }) =>
      control.verify({ level: Math.max(0, Math.min(checklevel, LAST_LEVEL)), blocks: Math.max(0, nblocks) }).pipe(
        Effect.map(({ damaged }) => damaged === 0),
        Effect.catchTag("StorageCorrupted", (damage) => Effect.as(Effect.logError(damage.message), false)),
        Effect.mapError(storageError)
      )
  )

  const getcheckinfo = method(GETCHECKINFO, () =>
    Effect.gen(function*() {
      const parts = (yield* health.progress).map(({ checked, damaged, passes, total, unit, what }) =>
        [what, { unit, checked, total, passes, damaged }] as const
      )
      return {
        parts: Object.fromEntries(parts),
        missing_blocks: tree.losses.count,
        doubts: (yield* health.doubts).map(({ reason, what }) => ({ what, reason })),
        notices: (yield* health.notices).map(({ reason, what }) => ({ what, reason }))
      }
    }))

  return [verifychain, getcheckinfo]
})

/** reference/rpc.md 3.2. */

/** A smaller parameter is a height, not a time (upstream `rpc/blockchain.cpp`, `pruneblockchain`). */
const FIRST_TIME = 1_000_000_001

/** Seconds by which a block may be older than its time (upstream `chain.h`, `TIMESTAMP_WINDOW`). */
const TIMESTAMP_WINDOW = 7_200

/** Members of `getblockchaininfo`, in order. */
export const pruneFacts = (options: PruneOptions | undefined, prunedTo: Height) =>
  options === undefined ? { pruned: false } : {
    pruned: true,
    pruneheight: prunedTo === 0 ? 0 : prunedTo + 1,
    automatic_pruning: options.target !== undefined,
    ...options.target === undefined ? {} : { prune_target_size: options.target }
  }

/** The first block of the best chain with at least this time. */
const heightOfTime = ({ tree }: typeof Chain.Service, time: number): Height | undefined => {
  const top = tree.height(tree.tip())
  for (let height = 0; height <= top; height++) if (tree.time(tree.at(height)) >= time) return height
  return undefined
}

export const pruneMethods: Methods<Chain | ChainControl> = Effect.gen(function*() {
  const chain = yield* Chain
  const { pruning } = yield* ChainControl

  const wanted = (height: number): Effect.Effect<Height, RpcError> => {
    if (height < 0) return RpcError.invalidParameter("Negative block height.")
    if (height < FIRST_TIME) return Effect.succeed(height)
    const found = heightOfTime(chain, height - TIMESTAMP_WINDOW)
    return found === undefined
      ? RpcError.invalidParameter("Could not find block with at least the specified timestamp.")
      : Effect.succeed(found)
  }

  const pruneblockchain = method(PRUNEBLOCKCHAIN, (params) =>
    Effect.gen(function*() {
      if (pruning.options === undefined) {
        return yield* RpcError.misc("Cannot prune blocks because node is not in prune mode.")
      }
      const height = yield* wanted(params.height)
      const tip = yield* chain.tip
      if (tip.height < pruning.options.after) return yield* RpcError.misc("Blockchain is too short for pruning.")
      if (height > tip.height) {
        return yield* RpcError.invalidParameter("Blockchain is shorter than the attempted prune height.")
      }
      yield* Effect.mapError(pruning.upTo(height), storageError)
      const last = yield* pruning.prunedTo
      return last === 0 ? -1 : last
    }))

  return [pruneblockchain]
})
