import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { turnOfEventLoop } from "../../base/turns.ts"
import { attempt, isStorageFailure } from "../../chain/attempt.ts"
import { BlockIndex, NONE } from "../../chain/index/BlockIndex.ts"
import { ChainDatabase, inspected } from "../../chain/state/ChainDatabase.ts"
import { OPTIONS } from "../../config/options.ts"
import { COINBASE_MATURITY } from "../../consensus/params.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { requireSound } from "../../storage/inspect.ts"
import type { KeyRing } from "../../wallet/keys/KeyRing.ts"

/** The balance in a node's stored blocks, while no node runs. Smallest units. */
export interface StoredBalance {
  readonly height: number
  readonly spendable: number
  readonly immature: number
  /** Including expired ones; their amounts are not counted. */
  readonly names: number
}

const BATCH = 5_000

interface Sums {
  spendable: number
  immature: number
  names: number
}

/** Returns whether scripts were found that extend the wallet's lookahead. */
const scan = (
  database: ChainDatabase,
  ring: KeyRing,
  { height, sums }: { readonly height: number; readonly sums: Sums }
) =>
  Effect.gen(function*() {
    let last: string | undefined
    let more = false
    for (;;) {
      const batch = yield* attempt(() => database.coinsAfter(last, BATCH))
      for (const [outpoint, { coinbase, height: made, script, value }] of batch) {
        last = outpoint
        const own = ring.own(script)
        if (own === undefined) continue
        if (ring.markUsed(script, true)) more = true
        if (parseNameScript(script) !== undefined) sums.names++
        // One block more than the rules require, as in the reference node's wallet (`GetTxBlocksToMaturity`).
        else if (coinbase && height - made < COINBASE_MATURITY) sums.immature += value
        else sums.spendable += value
      }
      if (batch.length < BATCH) return more
      yield* turnOfEventLoop
    }
  })

const tipHeight = (database: ChainDatabase): number | undefined => {
  const state = database.state()
  if (state === undefined) return undefined
  const index = new BlockIndex()
  try {
    index.load(database.pages(), state.headerCount)
  } catch (cause) {
    throw isStorageFailure(cause) || !(cause instanceof Error) ? cause : database.corrupted(cause.message)
  }
  const tip = index.find(state.bestHash)
  return tip === NONE ? undefined : index.height(tip)
}

/** `undefined` without a stored chain. */
export const storedBalance = (
  chainstate: string,
  ring: KeyRing
): Effect.Effect<StoredBalance | undefined, StorageFailure> =>
  Effect.gen(function*() {
    if (!existsSync(join(chainstate, "chainstate.db"))) return undefined
    yield* requireSound(inspected(chainstate))
    const database = yield* Effect.acquireRelease(
      attempt(() => new ChainDatabase(chainstate, Number(OPTIONS.pagesize.default))),
      (opened) => Effect.sync(() => opened.close())
    )
    const height = yield* attempt(() => tipHeight(database))
    if (height === undefined) return undefined
    for (;;) {
      const sums = { spendable: 0, immature: 0, names: 0 }
      if (!(yield* scan(database, ring, { height, sums }))) return { height, ...sums }
    }
  }).pipe(Effect.scoped)
