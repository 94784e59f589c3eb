import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { monotonic } from "../../base/clock.ts"
import { withoutSpan } from "../../base/spans.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { NamesFile } from "../NamesFile.ts"
import { fillScripts } from "../scriptWriter.ts"
import { buildFurther, FEW_BLOCKS } from "./SearchWriter.ts"

/** Builds the search indexes in the background while no blocks arrive, to leave the machine to a sync. */
export interface SearchBuilder {
  /** So many blocks were applied. `complete`: the indexes have their names. */
  readonly changed: (blocks: number, complete: boolean) => void
}

/** Time without a block before the background begins: after a few blocks, and after a part of an import or sync. */
const QUIET = { few: Duration.seconds(2), many: Duration.seconds(15) }

/** Script hashes come first: their index is small, and Electrum clients wait for it. */
const further = (connection: Connection): Effect.Effect<boolean, SqlError> =>
  Effect.flatMap(fillScripts(connection), (filled) => filled ? buildFurther(connection) : Effect.succeed(false))

/** `built` runs when a background build has completed the indexes. */
export const makeSearchBuilder = (
  file: NamesFile,
  built: Effect.Effect<void>
): Effect.Effect<SearchBuilder, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const wishes = yield* Queue.sliding<void>(1)
    let changes = 0
    let last = 0

    const quiet = Effect.gen(function*() {
      for (;;) {
        const before = changes
        yield* Effect.sleep(last > FEW_BLOCKS ? QUIET.many : QUIET.few)
        if (before === changes) return
      }
    })

    /** Builds until all is indexed or blocks arrive. Returns whether all is indexed. */
    const building = Effect.gen(function*() {
      const before = changes
      while (before === changes) {
        if (yield* file.write(further)) return true
        yield* turnOfEventLoop
      }
      return false
    })

    const build = Effect.gen(function*() {
      yield* quiet
      yield* Effect.logInfo("building search indexes in the background")
      const started = monotonic()
      while (!(yield* building)) yield* quiet
      yield* Effect.logInfo("search indexes are complete", {
        seconds: Math.round((monotonic() - started) / 1_000)
      })
      yield* built
    }).pipe(
      // A damaged file is rebuilt, and its new blocks start the next attempt.
      Effect.catchAll(({ message }) => Effect.logWarning("search indexes cannot be built", { reason: message })),
      Effect.annotateLogs("subsystem", "names")
    )

    const { all, done } = yield* file.point(() => file.search.progress())
    const isFilled = yield* file.point(() => file.scripts.isComplete())
    if (done < all || !isFilled) yield* Queue.offer(wishes, undefined)
    yield* Effect.forkScoped(withoutSpan(Effect.forever(Effect.zipRight(Queue.take(wishes), build))))
    return {
      changed: (blocks, complete) => {
        changes++
        last = blocks
        if (!complete) Queue.unsafeOffer(wishes, undefined)
      }
    }
  })
