import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { type LiveParts, update } from "../parts.ts"
import { followPool } from "../payments/commit.ts"
import { documentEntry, withEntries } from "./entries.ts"
import { markUsed } from "./scanBlocks.ts"

/**
 * Follows what the mempool holds for the wallet. What pays to it is known for as long as the node runs; what spends from
 * it and was not made here is kept as all of ours. Returns what looks at the whole pool, for when more is watched.
 */
export const watchPool = (
  parts: LiveParts
): Effect.Effect<{ readonly lookAtAll: Effect.Effect<void, StorageFailure> }, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { ledger, mempool, ring } = parts

    const follow = ({ time, transaction }: PoolEntry): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        const { txid, txidKey } = transaction
        if (ledger.has(txidKey)) return followPool(parts, txidKey)
        if (mempool.get(txidKey) === undefined || !ledger.concerns(transaction)) return
        const entry = ledger.put({ transaction, time, state: { type: "pending" } })
        const grew = markUsed(ring, transaction)
        const kept = ledger.isOurs(entry) ? [documentEntry(entry)] : []
        if (grew || kept.length > 0) {
          yield* update(parts, (document) => withEntries(grew ? ring.save(document) : document, kept))
        }
        yield* parts.publish({ _tag: "TransactionAdded", txid })
        if (grew) yield* lookAtAll
      })

    const lookAtAll: Effect.Effect<void, StorageFailure> = Effect.suspend(() =>
      Effect.forEach([...mempool.entries()], follow, { discard: true })
    )

    // The chain says it as well when the disk fails, and ends the node; until then the wallet goes on.
    const said = Effect.catchAll((failure: StorageFailure) =>
      Effect.logError("wallet transaction could not be saved", { reason: failure.message })
    )
    const listening = yield* Effect.makeLatch()
    yield* mempool.events.pipe(
      Stream.onStart(listening.open),
      Stream.runForEach(({ entry }) => said(follow(entry))),
      Effect.interruptible,
      Effect.forkScoped
    )
    yield* listening.await
    yield* said(lookAtAll)
    return { lookAtAll }
  })
