import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { Snapshots } from "../../chain/Snapshots.ts"
import { difficultyOf, targetOf } from "../../consensus/difficulty.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { DUMPTXOUTSET, GETCHAINSTATES, LOADTXOUTSET } from "../contract/chain/snapshot.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { compactBits, wide } from "./chainMethods.ts"
import { storageError } from "./errors.ts"
import { findBlock } from "./hashOrHeight.ts"

/** Source: upstream `rpc/blockchain.cpp`, `dumptxoutset` (reference/rpc.md 3.2). */

/** Cache of one connection, as in every database of the node. */
const DATABASE_CACHE_BYTES = 2_048_000

interface StateFacts {
  readonly cacheBytes: number
  /** 0 to 1. */
  readonly part: number
}

export const snapshotMethods: Methods<Chain | Mempool | Snapshots | SyncReporter> = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const snapshots = yield* Snapshots
  const reporter = yield* SyncReporter

  const dumptxoutset = method(DUMPTXOUTSET, ({ options: { rollback }, path, type }) =>
    Effect.gen(function*() {
      if (rollback !== undefined && type !== "" && type !== "rollback") {
        return yield* RpcError.invalidParameter(`Invalid snapshot type "${type}" specified with rollback option`)
      }
      if (rollback === undefined && type !== "latest") {
        const hint = type === "rollback" ? "the option rollback, or" : "\"rollback\" or"
        return yield* RpcError.invalidParameter(
          `Invalid snapshot type "${type}" specified. Please specify ${hint} "latest"`
        )
      }
      const base = rollback === undefined ? "tip" : chain.tree.find((yield* findBlock(chain, rollback)).hash)
      const written = yield* snapshots.dump(path, base)
      return {
        coins_written: written.coins,
        base_hash: displayHash(written.base),
        base_height: written.height,
        path: snapshots.pathOf(path),
        txoutset_hash: displayHash(written.hash),
        nchaintx: written.transactions
      }
    }).pipe(
      Effect.catchTags({
        SnapshotRefused: ({ cause, reason }) =>
          cause === "path" ? RpcError.invalidParameter(reason) : RpcError.misc(reason),
        StorageCorrupted: storageError,
        StorageUnavailable: storageError
      })
    ))

  const loadtxoutset = method(LOADTXOUTSET, ({ path }) =>
    Effect.gen(function*() {
      if (pool.info().size > 0) {
        const reason = "Can't activate a snapshot when mempool not empty"
        return yield* RpcError.internal(`Unable to load UTXO snapshot: ${reason}. (${snapshots.pathOf(path)})`)
      }
      const { base, coins, height } = yield* snapshots.load(path)
      return {
        coins_loaded: coins,
        tip_hash: displayHash(base),
        base_height: height,
        path: snapshots.pathOf(path)
      }
    }).pipe(
      Effect.catchTags({
        SnapshotRefused: ({ cause, file, reason }) => {
          if (cause === "path") return RpcError.invalidParameter(reason)
          if (cause === "metadata") return RpcError.deserialization(`Unable to parse metadata: ${reason}`)
          return RpcError.internal(`Unable to load UTXO snapshot: ${reason}. (${file})`)
        },
        StorageCorrupted: storageError,
        StorageUnavailable: storageError
      })
    ))

  const getchainstates = method(GETCHAINSTATES, () =>
    Effect.gen(function*() {
      const tip = yield* chain.toldTip
      const { headers } = yield* chain.progress
      const base = yield* snapshots.base
      const background = base === undefined ? undefined : yield* snapshots.background
      const verified = yield* reporter.verified
      const stateAt = ({ hash, header: { bits }, height }: HeaderInfo, { cacheBytes, part }: StateFacts) => ({
        blocks: height,
        bestblockhash: displayHash(hash),
        bits: compactBits(bits),
        target: wide(targetOf(bits, chain.params.powLimit) ?? 0n),
        difficulty: difficultyOf(bits),
        verificationprogress: part,
        coins_db_cache_bytes: DATABASE_CACHE_BYTES,
        coins_tip_cache_bytes: cacheBytes
      })
      const inUse = {
        ...stateAt(tip, { cacheBytes: snapshots.cacheBytes.inUse, part: verified }),
        snapshot_blockhash: base === undefined ? undefined : displayHash(base.hash),
        validated: base === undefined
      }
      if (background === undefined) return { headers, chainstates: [inUse] }
      const part = Math.min(1, background.height / Math.max(1, headers))
      const below = {
        ...stateAt(background, { cacheBytes: snapshots.cacheBytes.background, part }),
        validated: true
      }
      return { headers, chainstates: [below, inUse] }
    }))

  return [dumptxoutset, loadtxoutset, getchainstates]
})
