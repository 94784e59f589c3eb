import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { join } from "node:path"
import { attempt } from "../../chain/attempt.ts"
import { toHex } from "../../protocol/bytes.ts"
import type { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { removeDamaged } from "../../storage/inspect.ts"
import { IndexStore, inspectedIndex } from "./IndexStore.ts"

/** The same on all file systems, case-sensitive or not. */
export const indexFileOf = (chainstate: string, { name }: { readonly name: string }): string =>
  join(chainstate, name === "" ? "wallet.db" : `wallet-${toHex(new TextEncoder().encode(name))}.db`)

/** A damaged file is removed: the blocks have its content. */
export const openStore = (
  filename: string,
  pageSize: number
): Effect.Effect<IndexStore, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.zipRight(
    removeDamaged(inspectedIndex(filename)),
    Effect.acquireRelease(
      attempt(() => new IndexStore(filename, pageSize)),
      (store) => Effect.sync(() => store.close())
    )
  )
