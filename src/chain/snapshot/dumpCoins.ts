import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import { outpoint } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import type { ChainParts } from "../ChainParts.ts"
import { GENESIS, NONE } from "../index/BlockIndex.ts"
import type { ChainState } from "../state/ChainState.ts"
import { CoinStats } from "../state/coinStats.ts"
import { CoinSnapshot } from "./CoinSnapshot.ts"
import { EarlierCoins } from "./EarlierCoins.ts"
import { SnapshotRefused } from "./snapshotFile.ts"
import { draftOf, SnapshotWriter } from "./SnapshotWriter.ts"

export interface SnapshotWritten {
  readonly coins: number
  /** The hash of the base block, in wire order. */
  readonly base: Uint8Array
  readonly height: Height
  /** `hash_serialized_3` of the coins, wire order. */
  readonly hash: Uint8Array
  /** Transactions of the chain up to the base block. */
  readonly transactions: number
}

export interface DumpRequest {
  /** Absolute. */
  readonly path: string
  /** The tip, or an earlier block of the best chain. */
  readonly base: "tip" | HeaderId
  /** The memory limit for the difference from an earlier block, in bytes. */
  readonly memory: number
}

/** Coins written per turn of the event loop: a few milliseconds. */
const COINS_A_TURN = 50

const HEADERS_A_TURN = 50_000

/** The transactions of the chain up to a block. */
export const chainTransactions = (state: ChainState, id: HeaderId): Effect.Effect<number> =>
  Effect.gen(function*() {
    const { index } = state
    let total = 0
    let walk = id
    for (let seen = 1; walk !== NONE; seen++) {
      total += index.txCount(walk)
      walk = walk === GENESIS ? NONE : index.parent(walk)
      if (seen % HEADERS_A_TURN === 0) yield* turnOfEventLoop
    }
    return total
  })

const refused = (path: string, cause: SnapshotRefused["cause"], reason: string): SnapshotRefused =>
  new SnapshotRefused({ file: path, cause, reason })

/** The coins of `base`, as the difference from those of `tip`. */
const rollBack = (
  state: ChainState,
  { base, memory, path, tip }: DumpRequest & { readonly tip: HeaderId }
): Effect.Effect<EarlierCoins, SnapshotRefused> =>
  Effect.gen(function*() {
    const earlier = new EarlierCoins()
    const to = base === "tip" ? tip : base
    if (state.index.forkPoint(to, tip) !== to) {
      return yield* refused(path, "rollback", "Could not roll back to requested height.")
    }
    for (let id = tip; id !== to; id = state.index.parent(id)) {
      if (earlier.memory > memory) {
        const reason = "Could not roll back to requested height. The difference to the tip needs more memory than " +
          "-dbcache allows: choose a later block, or start the node with a larger -dbcache"
        return yield* refused(path, "rollback", reason)
      }
      yield* Effect.mapError(
        attempt(() => earlier.disconnect(state.stored.block(id), state.stored.undo(id))),
        (failure) => refused(path, "rollback", `Could not roll back to requested height. ${failure.message}`)
      )
      yield* turnOfEventLoop
    }
    earlier.begin()
    return earlier
  })

const failed = (path: string) => (cause: unknown): SnapshotRefused =>
  refused(path, "path", `Writing ${draftOf(path)} failed: ${reasonOf(codeOf(cause))}`)

const writing = <A>(path: string, work: () => A): Effect.Effect<A, SnapshotRefused> =>
  Effect.try({ try: work, catch: failed(path) })

const openWriter = ({ state }: ChainParts, path: string, base: HeaderId) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => new SnapshotWriter({ path, network: state.params.network, base: state.index.hash(base).slice() }),
      catch: () => refused(path, "path", `Couldn't open file ${draftOf(path)} for writing.`)
    }),
    (writer) => Effect.sync(() => writer.abandon())
  )

/**
 * Writes the coins at a block to a file while blocks are connected. Uses `memory` and a few megabytes. Leaves no file
 * after a failure or interruption.
 */
export const dumpCoins = (
  parts: ChainParts,
  request: DumpRequest
): Effect.Effect<SnapshotWritten, SnapshotRefused | StorageFailure> =>
  Effect.scoped(Effect.gen(function*() {
    const { state, stores, writer } = parts
    const { path } = request
    if (existsSync(path)) {
      const reason = `${path} already exists. If you are sure this is what you want, move it out of the way first`
      return yield* refused(path, "path", reason)
    }
    const { coins, tip } = yield* Effect.acquireRelease(
      writer.stored(attempt(() => ({ coins: new CoinSnapshot(stores.database.file), tip: state.active.tip }))),
      (open) => Effect.sync(() => open.coins.close())
    )
    const base = request.base === "tip" ? tip : request.base
    const file = yield* openWriter(parts, path, base)
    const earlier = yield* rollBack(state, { ...request, tip })
    const stats = new CoinStats("hash_serialized_3")
    for (let more = true; more;) {
      const stored = yield* attempt(() => coins.coins(COINS_A_TURN))
      more = stored.length > 0
      yield* writing(path, () => {
        for (const { coin, key } of earlier.merge(stored)) {
          const [txid, index] = [key.subarray(0, 32), key.readUInt32BE(32)]
          stats.add(outpoint(txid, index), coin)
          file.add(txid, index, coin)
        }
      })
      yield* turnOfEventLoop
    }
    yield* Effect.uninterruptible(Effect.tryPromise({ try: () => file.sync(), catch: failed(path) }))
    const count = yield* writing(path, () => file.finish())
    const { hash = new Uint8Array(0) } = stats.finish()
    return {
      coins: count,
      base: state.index.hash(base).slice(),
      height: state.index.height(base),
      hash,
      transactions: yield* chainTransactions(state, base)
    }
  })).pipe(Effect.withSpan("svcd.chain.dump"))
