import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { attempt } from "../chain/attempt.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { requireSound } from "../storage/inspect.ts"
import { pagesOf } from "../storage/repair.ts"
import { type HookRow, HookStore, inspectedHooks } from "./HookStore.ts"

/** webhooks.db as the service uses it, created with the first hook. */
export interface HookFile {
  /** The hooks stored when the file was opened. */
  readonly rows: ReadonlyArray<HookRow>
  readonly put: (row: HookRow) => Effect.Effect<void, StorageFailure>
  readonly remove: (id: string) => Effect.Effect<void, StorageFailure>
}

export interface HookFileOptions {
  readonly filename: string
  readonly pageSize: number
}

/** Opens the file if it exists. Fails for a damaged one, which cannot be restored. */
export const openHookFile = (
  { filename, pageSize }: HookFileOptions
): Effect.Effect<HookFile, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const scope = yield* Effect.scope
    const inspected = inspectedHooks(filename)
    let store: HookStore | undefined
    yield* Effect.addFinalizer(() => Effect.sync(() => store?.close()))

    let isNoticed = false
    const noticed = ({ message: reason }: StorageFailure): Effect.Effect<void> =>
      Effect.gen(function*() {
        if (isNoticed) return
        isNoticed = true
        yield* health.damaged(inspected.what)
        yield* Effect.asVoid(health.notice({ what: inspected.what, reason }))
      })

    const open: Effect.Effect<HookStore, StorageFailure> = Effect.gen(function*() {
      if (store !== undefined) return store
      yield* requireSound(inspected)
      const opened = yield* attempt(() => new HookStore(filename, pageSize))
      store = opened
      yield* Scope.extend(health.register(pagesOf(inspected, () => opened.guard, noticed)), scope)
      return opened
    }).pipe(Effect.uninterruptible)

    return {
      rows: HookStore.exists(filename) ? yield* Effect.flatMap(open, (file) => attempt(() => file.all())) : [],
      put: (row) => Effect.flatMap(open, (file) => attempt(() => file.put(row))),
      remove: (id) => Effect.flatMap(open, (file) => attempt(() => file.remove(id)))
    }
  })
