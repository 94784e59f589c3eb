import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Chain } from "../chain/Chain.ts"
import { ChainControl } from "../chain/ChainControl.ts"
import type { BlocksPruned } from "../chain/errors.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { Cursor, Follower } from "../chain/write/Follower.ts"
import { Mempool } from "../mempool/Mempool.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { Publication } from "./Publication.ts"
import { Publishers } from "./Publishers.ts"

/**
 * Publishes from now on in the reference node's order: disconnected blocks, then what the mempool takes back and loses,
 * then connected blocks. So `registerPool`, which registers the mempool with the chain, runs between the followers
 * here.
 */
export const publishing = <R>(
  registerPool: Effect.Effect<void, BlocksPruned | StorageFailure, R>
): Effect.Effect<
  void,
  BlocksPruned | StorageFailure,
  R | Chain | ChainControl | Mempool | Publishers | SyncStatus | Scope.Scope
> =>
  Effect.gen(function*() {
    const { active, publish } = yield* Publishers
    if (active.length === 0) return yield* registerPool
    const chain = yield* Chain
    const control = yield* ChainControl
    const mempool = yield* Mempool
    const status = yield* SyncStatus
    const publication = new Publication(new Set(active.map(({ topic }) => topic)))
    const tip = Effect.map(chain.tip, ({ hash, height }): Cursor => ({ hash, height }))
    let cursor = yield* tip

    /** An unreadable block has no messages. */
    const disconnect = (hash: Cursor["hash"]) =>
      chain.block(hash).pipe(
        Effect.tap((block) => Effect.sync(() => publish(publication.disconnected(block)))),
        Effect.catchAll((failure) =>
          Effect.as(Effect.logDebug("a disconnected block cannot be read", { reason: failure.message }), undefined)
        )
      )

    const before: Follower = {
      name: "publishers of disconnected blocks",
      cursor: tip,
      apply: (blocks) => Effect.sync(() => void (cursor = blocks.at(-1) ?? cursor)),
      rewind: (to) =>
        Effect.gen(function*() {
          let { hash } = cursor
          for (let { height } = cursor; height > to.height; height--) {
            const block = yield* disconnect(hash)
            if (block === undefined) break
            hash = block.header.prevHash
          }
          cursor = to
        })
    }

    const after: Follower = {
      name: "publishers of connected blocks",
      last: true,
      cursor: tip,
      apply: (blocks) =>
        Effect.map(status.initialDownload, (downloads) => {
          for (const { block } of blocks) publish(publication.connected(block))
          const last = blocks.at(-1)
          if (last !== undefined && !downloads) publish(publication.tip(last.block))
        }),
      rewind: () => Effect.void
    }

    yield* control.register(before)
    yield* registerPool
    yield* control.register(after)
    yield* mempool.listen((event) => Effect.sync(() => publish(publication.changed(event))))
  })
