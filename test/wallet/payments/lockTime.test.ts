import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layer as nodeClock, MockTime } from "../../../src/base/NodeClock.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import { fundedDirectory, withWallets } from "../../support/liveWallets.ts"
import { ADDRESS } from "../../support/mempool.ts"

/** Seconds since 1970: about the time of the blocks of `fundedDirectory`. */
const START = 1_296_688_602 + 102 * 600

describe("the lock time of a payment", () => {
  it.scopedLive("is about the height of the tip while the tip is at most eight hours old, and 0 after that", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const clock = yield* MockTime
      yield* withWallets(directory, ({ chain, wallet }) =>
        Effect.gen(function*() {
          const { header, height } = yield* chain.tip
          const lockTime = Effect.map(
            wallet.payments.fund({ outputs: [{ value: COIN, script: ADDRESS }] }),
            ({ transaction }) => transaction.lockTime
          )
          yield* clock.set(header.time + 8 * 3600)
          // A tenth of them are up to 100 blocks lower.
          const times = yield* Effect.replicateEffect(lockTime, 20)
          assert.include(times, height)
          assert.isTrue(times.every((time) => time > height - 100 && time <= height))
          yield* clock.set(header.time + 8 * 3600 + 1)
          assert.deepStrictEqual(yield* Effect.replicateEffect(lockTime, 5), [0, 0, 0, 0, 0])
        }))
    }).pipe(Effect.provide(nodeClock(START))))
})
