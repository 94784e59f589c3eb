import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import { type CoinSearch, type CoinsFound, rowsAtOnce, type WantedScripts } from "./CoinReads.ts"

/** Goes through all stored rows in parts, yielding to the event loop after each. */

/** Rows of a part. */
export const VISIT_ROWS = 250

export const visit = <Key extends string, A>(
  page: (after: Key | undefined) => ReadonlyArray<readonly [key: Key, value: A]>,
  use: (rows: ReadonlyArray<readonly [key: Key, value: A]>) => void
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    for (let rows = yield* attempt(() => page(undefined)); rows.length > 0;) {
      const seen = rows
      yield* Effect.sync(() => use(seen))
      yield* turnOfEventLoop
      rows = yield* attempt(() => page(seen[seen.length - 1]?.[0]))
    }
  })

const NO_KEY = Buffer.alloc(0)

/** Searches all coins for some scripts. `goOn` gets what each step found, and ends the search by returning false. */
export const searchCoins = (
  step: (search: CoinSearch) => CoinsFound,
  scripts: WantedScripts,
  goOn: (found: CoinsFound) => boolean
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const limit = rowsAtOnce(scripts)
    for (let after: Buffer | undefined = NO_KEY; after !== undefined;) {
      const from: Buffer = after
      const found = yield* attempt(() => step({ after: from, limit, scripts }))
      if (!goOn(found)) return
      after = found.last
      yield* turnOfEventLoop
    }
  })
