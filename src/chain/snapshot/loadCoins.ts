import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { type Bytes, displayHash, equal } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import type { ChainParts } from "../ChainParts.ts"
import { NONE } from "../index/BlockIndex.ts"
import type { ChainState } from "../state/ChainState.ts"
import { CoinStats } from "../state/coinStats.ts"
import type { HeldWriter } from "../write/ChainWriter.ts"
import { BulkCoins } from "./BulkCoins.ts"
import { claimOf, type FoundClaim } from "./ClaimsOfCoins.ts"
import { type SnapshotMetadata, SnapshotRefused } from "./snapshotFile.ts"
import { BadSnapshot, SnapshotReader } from "./SnapshotReader.ts"
import { beginSnapshot, dropSnapshot, invalidSnapshot, type SnapshotBase, useSnapshot } from "./snapshotState.ts"

export interface LoadRequest {
  /** Absolute. */
  readonly path: string
  /** The directory of the new chain state. */
  readonly directory: string
  readonly pageSize: number
  /** The hash of the coins that the operator trusts, in wire order (`-snapshothash`). */
  readonly trusted: Bytes | undefined
}

export interface SnapshotLoaded {
  readonly coins: number
  readonly base: Bytes
  readonly height: number
}

/** Coins loaded per turn of the event loop: some milliseconds. */
const COINS_A_TURN = 1_000

const REPORT_MS = 10_000

const refusedBecause = (reason: string, { path: file }: Pick<LoadRequest, "path">): SnapshotRefused =>
  new SnapshotRefused({ file, cause: "load", reason })

/** Why a base block is refused, in the reference node's words (`validation.cpp`, `ActivateSnapshot`). */
const unfit = (state: ChainState, base: Bytes): string | undefined => {
  const { forks: { best }, index } = state
  const id = index.find(base)
  const shown = displayHash(base)
  if (id === NONE) {
    return `The base block header (${shown}) must appear in the headers chain. Make sure all headers are syncing, and ` +
      "call loadtxoutset again"
  }
  if (index.isFailed(id)) return `The base block header (${shown}) is part of an invalid chain`
  if (index.height(id) > index.height(best.reachable) || index.ancestor(best.reachable, index.height(id)) !== id) {
    return "A forked headers-chain with more work than the chain with the snapshot base block header exists. Please " +
      "proceed to sync without AssumeUtxo."
  }
  return index.compareWork(id, state.active.tip) > 0
    ? undefined
    : "Population failed: Work does not exceed active chainstate"
}

/** The required hash of the coins, or the reason if no source vouches for the snapshot. */
const expectedHash = (
  { state: { params }, stores }: ChainParts,
  { base }: SnapshotMetadata,
  { directory, trusted }: Pick<LoadRequest, "directory" | "trusted">
): Bytes | { readonly reason: string } => {
  // Even if it is validated: its files become the node's own at the next start.
  if (stores.isIn(directory)) return { reason: "Can't activate a snapshot-based chainstate more than once" }
  const known = params.snapshots.find(({ block }) => equal(block, base))
  const expected = known?.coins ?? trusted
  const invalid = invalidSnapshot(directory)
  if (invalid !== undefined && expected !== undefined && equal(invalid.hash, base) && equal(invalid.coins, expected)) {
    return {
      reason:
        `This snapshot was loaded before and is invalid: ${invalid.reason}. Take one from another source, or stop ` +
        `the node and delete ${directory} to load it again`
    }
  }
  if (expected !== undefined) return expected
  const heights = params.snapshots.map(({ height }) => height).join(", ")
  return {
    reason: `assumeutxo block hash in snapshot metadata not recognized (hash: ${displayHash(base)}). The following ` +
      `snapshot heights are available: ${heights}. To trust another snapshot, start the node with -snapshothash and ` +
      "its txoutset_hash"
  }
}

const opened = (path: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => new SnapshotReader(path),
      catch: () => new SnapshotRefused({ file: path, cause: "path", reason: `Couldn't open file ${path} for reading.` })
    }),
    (reader) => Effect.sync(() => reader.close())
  )

const reading = <A>(path: string, work: () => A): Effect.Effect<A, SnapshotRefused> =>
  Effect.try({
    try: work,
    catch: (cause) =>
      refusedBecause(
        cause instanceof BadSnapshot
          ? `Population failed: ${cause.message}`
          : `Population failed: reading the file failed: ${reasonOf(codeOf(cause))}`,
        { path }
      )
  })

interface Filling {
  readonly state: ChainState
  readonly reader: SnapshotReader
  readonly bulk: BulkCoins
  readonly base: HeaderId
  readonly total: number
}

/** Fills the new chain state. Returns the hash over the coins. */
const fill = (
  { base, bulk, reader, state, total }: Filling,
  path: string
): Effect.Effect<Bytes, SnapshotRefused | StorageFailure> =>
  Effect.gen(function*() {
    const height = state.index.height(base)
    const stats = new CoinStats("hash_serialized_3")
    let reported = monotonic()
    for (;;) {
      const coins = yield* reading(path, () => reader.coins(COINS_A_TURN))
      if (coins === undefined) break
      const claims: Array<FoundClaim> = []
      for (const each of coins) {
        stats.add(each.outpoint, each.coin)
        const claim = claimOf(each, height, state.params)
        if (claim === "unclear") {
          const reason = "Population failed: a block reward has a name script, and the coins do not tell whether it " +
            "holds the name. Choose a snapshot of a later block"
          return yield* refusedBecause(reason, { path })
        }
        if (claim !== undefined) claims.push(claim)
      }
      yield* attempt(() => {
        bulk.add(coins)
        bulk.claim(claims)
      })
      if (monotonic() - reported > REPORT_MS) {
        reported = monotonic()
        yield* Effect.logInfo("loading the snapshot", { coins: reader.read, of: total })
      }
      yield* turnOfEventLoop
    }
    return stats.finish().hash ?? new Uint8Array(32)
  })

/** Loads the coins beside the chain state in use. */
const populate = (
  parts: ChainParts,
  { directory, pageSize, path, trusted }: LoadRequest
): Effect.Effect<{ readonly metadata: SnapshotMetadata; readonly hash: Bytes }, SnapshotRefused | StorageFailure> =>
  Effect.scoped(Effect.gen(function*() {
    const { state } = parts
    const reader = yield* opened(path)
    const metadata = yield* reading(path, () => reader.metadata(state.params.network))
    if (typeof metadata === "string") {
      return yield* new SnapshotRefused({ file: path, cause: "metadata", reason: metadata })
    }
    const expected = yield* attempt(() => expectedHash(parts, metadata, { directory, trusted }))
    if ("reason" in expected) return yield* refusedBecause(expected.reason, { path })
    const reason = unfit(state, metadata.base)
    if (reason !== undefined) {
      const cause = state.index.find(metadata.base) === NONE ? "header" : "load"
      return yield* new SnapshotRefused({ file: path, cause, reason })
    }
    const base = state.index.find(metadata.base)
    reader.expect(state.index.height(base))
    yield* Effect.logInfo("loading the snapshot", { coins: 0, of: metadata.coins, height: state.index.height(base) })
    yield* attempt(() => beginSnapshot(directory))
    const bulk = yield* Effect.acquireRelease(
      attempt(() => new BulkCoins(directory, pageSize)),
      (open) => Effect.sync(() => open.abandon())
    )
    const hash = yield* fill({ state, reader, bulk, base, total: metadata.coins }, path)
    if (!equal(hash, expected)) {
      return yield* refusedBecause(
        `Population failed: Bad snapshot content hash: expected ${displayHash(expected)}, got ${displayHash(hash)}`,
        { path }
      )
    }
    yield* attempt(() => bulk.finish())
    return { metadata, hash }
  }))

/** Continues on the loaded chain state, and brings the followers there. */
const switchTo = (
  { state, stores }: ChainParts,
  snapshot: SnapshotBase,
  { directory, path }: LoadRequest
) =>
(held: HeldWriter): Effect.Effect<void, SnapshotRefused | StorageFailure> =>
  Effect.gen(function*() {
    const reason = unfit(state, snapshot.hash)
    if (reason !== undefined) return yield* refusedBecause(reason, { path })
    yield* held.flush
    yield* attempt(() => {
      const database = stores.prepare(directory, state.index.find(snapshot.hash))
      try {
        useSnapshot(directory, snapshot)
      } catch (cause) {
        database.close()
        throw cause
      }
      state.continueOn(database, directory, snapshot)
    })
    yield* held.catchUp
    yield* held.activate(false)
    yield* held.flushAfter(false)
  })

/** Removes the remains of a failed load. Leaves the directory of an earlier one. */
const dropUnfinished = ({ stores }: ChainParts, { directory }: LoadRequest): void => {
  if (!stores.isIn(directory) && invalidSnapshot(directory) === undefined) dropSnapshot(directory)
}

/**
 * Loads the coins of a snapshot with the claims of its names, checks them against their hash, and continues from its
 * base block, while blocks are connected and callers answered. After a failure or crash, the node continues from its
 * own chain state.
 */
export const loadCoins = (
  parts: ChainParts,
  request: LoadRequest
): Effect.Effect<SnapshotLoaded, SnapshotRefused | StorageFailure> =>
  Effect.gen(function*() {
    const { metadata, hash } = yield* populate(parts, request)
    const snapshot = { hash: metadata.base, coins: hash }
    yield* Effect.uninterruptible(parts.writer.exclusively(switchTo(parts, snapshot, request)))
    const height = parts.state.index.height(parts.state.index.find(metadata.base))
    yield* Effect.logInfo("snapshot loaded: the node continues from its base block, which is not validated", {
      coins: metadata.coins,
      height,
      hash: displayHash(metadata.base)
    })
    return { coins: metadata.coins, base: metadata.base, height }
  }).pipe(
    Effect.onError(() => Effect.ignore(attempt(() => dropUnfinished(parts, request)))),
    Effect.withSpan("svcd.chain.load")
  )
