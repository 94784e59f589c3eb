import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { FeeEstimator } from "../../../src/mempool/fees/FeeEstimator.ts"
import type { Mempool } from "../../../src/mempool/Mempool.ts"
import { feesNow, feesView } from "../../../src/web/overview/fees.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

layer(methodNode())("feesView", (it) => {
  const shown = (
    rates: Readonly<Record<number, number>>,
    { isOff = false, minFeeRate }: { readonly isOff?: boolean; readonly minFeeRate?: number } = {}
  ) =>
    Effect.map(MethodNode, ({ fees, pool }) => {
      const estimator: typeof FeeEstimator.Service = {
        ...fees,
        isOff,
        estimateSmart: (target) => ({ feeRate: rates[target], blocks: target })
      }
      const mempool: typeof Mempool.Service = {
        ...pool,
        info: () => ({ ...pool.info(), ...(minFeeRate === undefined ? {} : { minFeeRate }) })
      }
      return feesView(feesNow(estimator, mempool)).text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ")
    })

  it.effect("suggests rates, rounded up to three digits, and what a payment and a registration cost with them", () =>
    Effect.map(
      shown({ 2: 1_234_567, 6: 400_000, 144: 100_000 }),
      (text) => {
        assert.include(text, "Next block or two 0.0124 NMC/kvB about 0.0018 NMC for a payment")
        assert.include(text, "Within an hour 0.004 NMC/kvB")
        assert.include(text, "Within a day 0.001 NMC/kvB")
        // 0.01, and 695 virtual bytes at the rate of an hour.
        assert.include(text, "Registering a name about 0.0128 NMC 0.01 NMC stays locked")
      }
    ))

  it.effect("says that there is not enough data, with the rate that is accepted", () =>
    Effect.map(shown({}), (text) => {
      assert.include(text, "Lowest fee rate accepted 0.001 NMC/kvB")
      assert.include(text, "not enough data for estimates yet")
      assert.notInclude(text, "Within")
      assert.include(text, "about 0.0107 NMC")
    }))

  it.effect("never suggests less than the mempool accepts", () =>
    Effect.map(
      shown({ 2: 200_000, 6: 150_000, 144: 100_000 }, { minFeeRate: 1_000_000 }),
      (text) => assert.strictEqual(text.match(/0\.01 NMC\/kvB/g)?.length, 3)
    ))

  it.effect("says why the node does not estimate", () =>
    Effect.map(shown({ 2: 1_000_000 }, { isOff: true }), (text) => {
      assert.include(text, "does not estimate fees")
      assert.notInclude(text, "Next block")
    }))
})
