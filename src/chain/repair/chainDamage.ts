import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { findDamage } from "../../storage/inspect.ts"
import { pagesOf } from "../../storage/repair.ts"
import { attempt } from "../attempt.ts"
import { inspected } from "../state/ChainDatabase.ts"
import type { ChainStores, ChainStoresOptions } from "../state/ChainStores.ts"
import { rebuildRequested, removeForRebuild, requestRebuild } from "./rebuild.ts"

/** Removes a damaged chain state before it is opened. Returns the reason, or `undefined` if it is intact. */
export const removeDamagedChainState = (
  { blocksDirectory, chainstateDirectory }: Pick<ChainStoresOptions, "blocksDirectory" | "chainstateDirectory">
): Effect.Effect<string | undefined, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    if (!rebuildRequested(chainstateDirectory)) {
      const found = yield* findDamage(inspected(chainstateDirectory))
      if (found !== undefined) yield* attempt(() => requestRebuild({ chainstateDirectory, reason: found }))
    }
    const reason = yield* attempt(() => removeForRebuild({ blocksDirectory, chainstateDirectory }))
    if (reason !== undefined) yield* Effect.logError("chain state damaged: rebuilding it", { reason })
    return reason
  })

/** Registers the pages for the background check. Damage ends the node, and the next start rebuilds the chain state. */
export const checkPages = (
  options: Pick<ChainStoresOptions, "chainstateDirectory">,
  stores: ChainStores,
  end: (damage: Effect.Effect<never, StorageFailure>) => Effect.Effect<void>
): Effect.Effect<void, never, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const part = inspected(options.chainstateDirectory)
    const noticed = (failure: StorageFailure): Effect.Effect<void> =>
      failure._tag === "StorageCorrupted"
        ? Effect.zipRight(
          health.damaged(part.what),
          end(Effect.flatMap(attempt(() => stores.beyondRepair(failure.found)), Effect.fail))
        )
        : Effect.void
    yield* health.register(pagesOf(part, () => stores.database.sums, noticed))
  })
