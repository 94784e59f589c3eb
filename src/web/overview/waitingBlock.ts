import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { attempt } from "../../chain/attempt.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { RESERVED_WEIGHT, selectChunks } from "../../mempool/mining/selectChunks.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"

/** What a block made now would hold. */
export interface WaitingBlock {
  /** Without the coinbase. */
  readonly transactions: number
  /** Operations that set names. */
  readonly operations: number
  /** Weight units of the transactions. */
  readonly weight: number
}

/** Milliseconds for which a block is kept although the mempool has changed. */
const FRESH_MS = 5_000

/** A large mempool takes longer. Making blocks takes at most this part of the time. */
const SHARE = 1 / 100

/** Made by the rules of mining, and kept while tip and mempool are the same. */
export const makeWaitingBlock = Effect.gen(function*() {
  const coins = yield* ChainCoins
  const pool = yield* Mempool
  let kept:
    | { readonly height: Height; readonly changes: number; readonly until: number; readonly block: WaitingBlock }
    | undefined

  const make = coins.atTip(({ coin, tip: { height, medianTimePast } }) =>
    attempt((): WaitingBlock => {
      const { entries, weight } = selectChunks(pool.chunks(), { height: height + 1, medianTimePast, coin })
      const setsName = entries.filter(({ name }) => name !== undefined && name.script.operation.op !== "name_new")
      return { transactions: entries.length, operations: setsName.length, weight: weight - RESERVED_WEIGHT }
    })
  )

  return (height: Height): Effect.Effect<WaitingBlock, StorageFailure> =>
    Effect.gen(function*() {
      const started = monotonic()
      const { changes } = pool.info()
      if (kept?.height === height && (kept.changes === changes || started < kept.until)) return kept.block
      const block = yield* make
      const now = monotonic()
      kept = { height, changes, until: now + Math.max(FRESH_MS, (now - started) / SHARE), block }
      return block
    })
})
