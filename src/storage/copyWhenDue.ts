import * as Effect from "effect/Effect"
import { type FileWork, storageFailure } from "./Database.ts"
import type { StorageFailure } from "./errors.ts"
import type { PageGuard } from "./PageGuard.ts"

const copyAside = (guard: PageGuard, on: FileWork): Effect.Effect<void, StorageFailure> =>
  Effect.tryPromise({ try: () => guard.copyLogAside(), catch: (cause) => cause }).pipe(
    Effect.catchAll((cause) => Effect.suspend(() => Effect.fail(storageFailure(on)(cause))))
  )

/** Copies a large log without blocking the event loop. Writers wait for it after each commit, even if interrupted. */
export const copyWhenDue = (guard: PageGuard, on: FileWork): Effect.Effect<void, StorageFailure> =>
  Effect.try({ try: () => guard.isDue, catch: storageFailure(on) }).pipe(
    Effect.flatMap((isDue) => isDue ? copyAside(guard, on) : Effect.void),
    Effect.uninterruptible
  )
