import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { withoutSpan } from "../../base/spans.ts"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { NamesFile } from "../NamesFile.ts"
import { buildFurther } from "./SearchWriter.ts"

/** Builds the search indexes in the background, while no blocks arrive: a sync has the machine for itself. */
export interface SearchBuilder {
  /** Blocks were applied or removed. `complete`: the indexes have them. */
  readonly changed: (complete: boolean) => void
}

/** Time without a block after which the background begins. */
const QUIET = Duration.seconds(2)

export const makeSearchBuilder = (file: NamesFile): Effect.Effect<SearchBuilder, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const wishes = yield* Queue.sliding<void>(1)
    let changes = 0

    const quiet = Effect.gen(function*() {
      for (;;) {
        const before = changes
        yield* Effect.sleep(QUIET)
        if (before === changes) return
      }
    })

    /** Builds until all is indexed, or blocks arrive. Returns whether all is indexed. */
    const building = Effect.gen(function*() {
      const before = changes
      while (before === changes) {
        if (yield* file.write(buildFurther)) return true
        yield* turnOfEventLoop
      }
      return false
    })

    const build = Effect.gen(function*() {
      yield* quiet
      yield* Effect.logInfo("search indexes are built in the background")
      const started = performance.now()
      while (!(yield* building)) yield* quiet
      yield* Effect.logInfo("search indexes are complete", {
        seconds: Math.round((performance.now() - started) / 1_000)
      })
    }).pipe(
      // A damaged file is rebuilt, and its new blocks start the next attempt.
      Effect.catchAll(({ message }) => Effect.logWarning("search indexes cannot be built", { reason: message })),
      Effect.annotateLogs("subsystem", "names")
    )

    const { all, done } = yield* file.point(() => file.search.progress())
    if (done < all) yield* Queue.offer(wishes, undefined)
    yield* Effect.forkScoped(withoutSpan(Effect.forever(Effect.zipRight(Queue.take(wishes), build))))
    return {
      changed: (complete) => {
        changes++
        if (!complete) Queue.unsafeOffer(wishes, undefined)
      }
    }
  })
