import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import { type ChainParts, findHeader } from "./ChainParts.ts"
import { BelowSnapshot, BeyondPruned, type BlockNotFound, type BlocksPruned } from "./errors.ts"
import type { PruneOptions } from "./prune/Pruning.ts"
import { checkLastBlocks } from "./repair/checkLastBlocks.ts"
import { type CheckLimits, checkStored } from "./repair/checkStored.ts"
import type { VerifyOptions, VerifyReport } from "./repair/verifyChain.ts"
import type { Timings } from "./state/timings.ts"
import type { HeldWriter } from "./write/ChainWriter.ts"
import type { Follower } from "./write/Follower.ts"

/** Prunes old blocks. Without options, the node keeps all. */
export interface PruneControl {
  readonly options: PruneOptions | undefined
  /** The height of the last pruned block of the best chain; 0 for none. */
  readonly prunedTo: Effect.Effect<Height>
  /** Lets the chain prune by its target. Call it once all followers that need old blocks are registered. */
  readonly begin: Effect.Effect<void, StorageFailure>
  /** Prunes blocks up to a height, except the last ones and those that a follower needs. Requires options. */
  readonly upTo: (height: Height) => Effect.Effect<void, StorageFailure>
}

/** Operates the chain: the operator's decisions about blocks, followers, checks and sizes. */
export class ChainControl extends Context.Tag("svcd/ChainControl")<ChainControl, {
  /** Marks a block and its descendants as invalid, and moves to the best chain without them. */
  readonly invalidate: (
    hash: Bytes
  ) => Effect.Effect<void, BlockNotFound | BeyondPruned | BelowSnapshot | StorageFailure>
  /** Withdraws `invalidate` or a refusal. */
  readonly reconsider: (hash: Bytes) => Effect.Effect<void, BlockNotFound | StorageFailure>
  /** Until the node stops, treats a block as the first to arrive among those of equal work, and moves to it. */
  readonly prefer: (hash: Bytes) => Effect.Effect<void, BlockNotFound | StorageFailure>
  /**
   * Gives up the branch that waits for a missing block until that block arrives, and moves to the best chain without
   * it. Returns false if no branch waits, or if the tip is invalid so that the chain cannot stay.
   */
  readonly giveUpBranch: Effect.Effect<boolean, StorageFailure>
  /** Brings a follower to the tip and keeps it there. */
  readonly register: (follower: Follower) => Effect.Effect<void, BlocksPruned | StorageFailure>
  /** Removes a follower, none of whose steps runs afterwards. Ignores an unregistered follower. */
  readonly unregister: (follower: Follower) => Effect.Effect<void>
  /**
   * Verifies the last blocks of the best chain, which does not change meanwhile. Damaged blocks count as missing. If
   * the coins contradict the blocks, `failure` fails too.
   */
  readonly verify: (options: VerifyOptions) => Effect.Effect<VerifyReport, StorageFailure>
  /**
   * Checks stored blocks and undo data from a header on, within limits of time and bytes. Returns the next header to
   * check, or `undefined` at the end.
   */
  readonly checkStored: (from: HeaderId, limits: CheckLimits) => Effect.Effect<HeaderId | undefined, StorageFailure>
  readonly pruning: PruneControl
  readonly sizeOnDisk: Effect.Effect<number>
  /** Bytes of the database of coins, claims and headers. */
  readonly chainstateSize: Effect.Effect<number, StorageFailure>
  readonly repairs: ReadonlyArray<string>
  readonly timings: Effect.Effect<Timings>
  /** Fails if the chain cannot be stored. The node should then end. */
  readonly failure: Effect.Effect<never, StorageFailure>
}>() {}

export const make = (parts: ChainParts): Context.Tag.Service<ChainControl> => {
  const { decisions, state, stores, writer } = parts
  const { exclusively } = writer

  const move = ({ activate, flushAfter }: HeldWriter) => Effect.zipRight(activate(false), flushAfter(false))

  /** Refuses to disconnect a block that is pruned or not validated yet. */
  const stays = (id: HeaderId): Effect.Effect<void, BeyondPruned | BelowSnapshot> =>
    Effect.suspend((): Effect.Effect<void, BeyondPruned | BelowSnapshot> => {
      const [height, { prunedTo }, { snapshot }] = [state.index.height(id), state.losses, state]
      if (snapshot !== undefined && height <= snapshot.height && state.active.isActive(id)) {
        return Effect.fail(new BelowSnapshot({ height, base: snapshot.height }))
      }
      return prunedTo > 0 && height <= prunedTo && state.active.isActive(id)
        ? Effect.fail(new BeyondPruned({ height, prunedTo }))
        : Effect.void
    })

  const decide = <E>(invalid: boolean, allowed: (id: HeaderId) => Effect.Effect<void, E>) => (hash: Bytes) =>
    Effect.flatMap(findHeader(state, hash), (id) =>
      exclusively((held) =>
        allowed(id).pipe(
          Effect.zipRight(attempt(() => {
            if (invalid) state.forks.invalidate(id)
            else state.forks.reconsider(id)
            decisions.note(state, id, invalid)
          })),
          Effect.zipRight(move(held))
        )
      )).pipe(
        Effect.withSpan(invalid ? "svcd.chain.invalidate" : "svcd.chain.reconsider", {
          attributes: { hash: displayHash(hash) }
        })
      )

  return {
    invalidate: decide(true, stays),
    reconsider: decide(false, () => Effect.void),
    prefer: (hash) =>
      Effect.flatMap(
        findHeader(state, hash),
        (id) => exclusively((held) => Effect.zipRight(attempt(() => state.forks.prefer(id)), move(held)))
      ).pipe(
        Effect.withSpan("svcd.chain.prefer", { attributes: { hash: displayHash(hash) } })
      ),
    giveUpBranch: exclusively((held) => Effect.tap(attempt(() => state.forks.giveUp()), move(held))).pipe(
      Effect.withSpan("svcd.chain.giveUpBranch")
    ),
    register: (follower) => exclusively((held) => held.enlist(follower)).pipe(Effect.withSpan("svcd.chain.register")),
    unregister: (follower) => exclusively((held) => held.dismiss(follower)),
    verify: (wanted) => checkLastBlocks(parts, wanted),
    checkStored: (from, limits) => attempt(() => checkStored(state, from, limits)),
    pruning: {
      options: state.pruning.options,
      prunedTo: Effect.sync(() => state.losses.prunedTo),
      begin: exclusively((held) => {
        state.pruning.begin()
        return state.pruning.due ? held.prune() : Effect.void
      }),
      upTo: (height) => exclusively((held) => held.prune(height))
    },
    sizeOnDisk: Effect.sync(() => stores.blockFilesSize()),
    chainstateSize: attempt(() => stores.databaseSize()),
    repairs: stores.repairs(),
    timings: Effect.sync(() => state.timings()),
    failure: writer.failure
  }
}
