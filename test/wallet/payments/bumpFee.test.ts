import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { feeOf } from "../../../src/mempool/policy/feeRate.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import { bumpFeeOf } from "../../../src/wallet/payments/bumpFee.ts"
import { fundedDirectory, withWallets } from "../../support/liveWallets.ts"
import { ADDRESS } from "../../support/mempool.ts"

const payment = (value: number, feeRate: number) => ({
  outputs: [{ value, script: ADDRESS }],
  feeRate,
  anyRate: true
})

describe("a payment that spends unconfirmed change", () => {
  it.scopedLive("pays what the transactions before it lack at its fee rate, and no more", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          const low = yield* wallet.payments.pay(payment(COIN, 120_000))
          const next = yield* wallet.payments.pay(payment(COIN, 180_000))
          const sizes = [low, next].map(({ transaction }) => transaction.virtualSize)
          const [first = 0, second = 0] = sizes
          // Sizes of signatures vary by a few bytes.
          assert.closeTo(low.fee + next.fee, feeOf(180_000, first + second), 2_000)
          const keys = [next.transaction.txidKey, low.transaction.txidKey]
          assert.strictEqual(
            bumpFeeOf(pool, keys, 600_000),
            feeOf(600_000, first + second) - low.fee - next.fee
          )
          assert.strictEqual(bumpFeeOf(pool, keys.slice(0, 1), 600_000), bumpFeeOf(pool, keys, 600_000))
          assert.strictEqual(bumpFeeOf(pool, keys, 100_000), 0)
          assert.strictEqual(bumpFeeOf(pool, [], 600_000), 0)
          // The transactions before it together have this rate: nothing is lacking.
          const third = yield* wallet.payments.pay(payment(COIN, 170_000))
          assert.closeTo(third.fee, feeOf(170_000, third.transaction.virtualSize), 1_000)
        }))
    }))
})
