import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { attempt } from "../../chain/attempt.ts"
import { OPTIONS } from "../../config/options.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { requireSound } from "../../storage/inspect.ts"
import type { KeyRing } from "../../wallet/keys/KeyRing.ts"
import { IndexStore, inspectedIndex } from "../../wallet/ledger/IndexStore.ts"
import { markUsed } from "../../wallet/ledger/scanBlocks.ts"

/** From the node's index file: marks the addresses that blocks pay to, as far as known. */
export const markStoredUse = (indexFile: string, ring: KeyRing): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    if (!existsSync(indexFile)) return
    yield* requireSound(inspectedIndex(indexFile))
    const store = yield* Effect.acquireRelease(
      attempt(() => new IndexStore(indexFile, Number(OPTIONS.pagesize.default))),
      (opened) => Effect.sync(() => opened.close())
    )
    const rows = yield* attempt(() => store.rows())
    // A payment to one address may extend the watched ones, which an earlier payment may be for.
    for (let grew = true; grew;) {
      grew = false
      for (const { transaction } of rows) if (markUsed(ring, transaction, true)) grew = true
    }
  }).pipe(Effect.scoped)
