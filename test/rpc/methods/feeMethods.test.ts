import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FeeEstimator, layerWithoutEstimates } from "../../../src/mempool/fees/FeeEstimator.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { feeMethods } from "../../../src/rpc/methods/feeMethods.ts"
import { servicesOf } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { ADDRESS, FEE, pay, reward } from "../../support/mempool.ts"
import { callsOf, MethodNode, methodNode } from "../../support/methodNode.ts"
import { noWallets } from "../../support/noWallets.ts"
import { currency, input } from "../../support/regtest.ts"
import { spendableNode } from "../../support/spendableNode.ts"

const idOf = ({ txid }: { readonly txid: Uint8Array }): string => displayHash(txid)

layer(spendableNode)("prioritisetransaction", (it) => {
  it.effect("changes the fee with which a transaction counts, in the mempool or not yet", () =>
    Effect.gen(function*() {
      const { call, pool, refusal } = yield* MethodNode
      const here = pay([reward(1)])
      const toCome = pay([reward(2)])
      yield* Effect.orDie(pool.accept(here))
      assert.deepStrictEqual((yield* call("getprioritisedtransactions")).value, {})
      assert.isTrue((yield* call("prioritisetransaction", idOf(here), 0, 5000)).value)
      assert.isTrue((yield* call("prioritisetransaction", idOf(here), null, -2000)).value)
      assert.isTrue((yield* call("prioritisetransaction", idOf(toCome), 0.0, -7)).value)
      assert.deepStrictEqual((yield* call("getprioritisedtransactions")).value, {
        [idOf(here)]: { fee_delta: 3000, in_mempool: true, modified_fee: FEE + 3000 },
        [idOf(toCome)]: { fee_delta: -7, in_mempool: false }
      })
      assert.deepNestedInclude((yield* call("getmempoolentry", idOf(here))).value, {
        "fees.base": 0.001,
        "fees.modified": 0.00103
      })
      assert.deepStrictEqual(yield* refusal("prioritisetransaction", idOf(here), 1, 5000), {
        code: -8,
        message: "Priority is no longer supported, dummy argument to prioritisetransaction must be 0."
      })
      const outOfRange = { code: -8, message: "fee_delta is out of range" }
      assert.deepStrictEqual(yield* refusal("prioritisetransaction", idOf(here), 0, 21e14 + 1), outOfRange)
      assert.deepStrictEqual(yield* refusal("prioritisetransaction", idOf(here), 0, -21e14 - 1), outOfRange)
      assert.strictEqual((yield* refusal("prioritisetransaction", idOf(here), 0)).code, -1)
      const tooMuch = { code: -8, message: "The deltas of a transaction may not come to more than all money" }
      assert.deepStrictEqual(yield* refusal("prioritisetransaction", idOf(here), 0, 21e14 - 2999), tooMuch)
      assert.isTrue((yield* call("prioritisetransaction", idOf(here), 0, 21e14 - 3000)).value)
      assert.isTrue((yield* call("prioritisetransaction", idOf(toCome), 0, -21e14 + 7)).value)
      assert.deepStrictEqual(yield* refusal("prioritisetransaction", idOf(toCome), 0, -1), tooMuch)
    }))

  it.effect("refuses to change the fee of a transaction with dust", () =>
    Effect.gen(function*() {
      const { pool, refusal } = yield* MethodNode
      const dusty = currency(
        [input(reward(3), { scriptSig: pushData(Uint8Array.of(Op.OP_1)) })],
        [{ value: 50e8, script: ADDRESS }, { value: 0, script: ADDRESS }]
      )
      const entry = { ...(yield* Effect.orDie(pool.accept(pay([reward(4)])))), transaction: dusty }
      const { chain, fees } = yield* MethodNode
      const methods = yield* feeMethods.pipe(
        Effect.provideService(Mempool, { ...pool, get: () => entry }),
        Effect.provide(servicesOf(chain)),
        Effect.provideService(FeeEstimator, fees),
        Effect.provideService(AnswerOptions, OPTIONS),
        Effect.provide(noWallets)
      )
      assert.strictEqual((yield* refusal("prioritisetransaction", "zz", 0, 1)).code, -8)
      const refused = yield* callsOf(methodTable(methods)).refusal("prioritisetransaction", idOf(dusty), 0, 1)
      assert.deepStrictEqual(refused, {
        code: -8,
        message: "Priority is not supported for transactions with dust outputs."
      })
    }))
})

const OPTIONS: typeof AnswerOptions.Service = {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
}

describe("estimatesmartfee and estimaterawfee", () => {
  layer(methodNode({ blocks: false }))((it) => {
    it.effect("report that they have no estimate on a new node", () =>
      Effect.gen(function*() {
        const { call, refusal } = yield* MethodNode
        const none = "{\"errors\":[\"Insufficient data or no feerate found\"],\"blocks\":0}"
        assert.strictEqual((yield* call("estimatesmartfee", 6)).text, none)
        for (const mode of ["unset", "Economical", "CONSERVATIVE"]) {
          assert.strictEqual((yield* call("estimatesmartfee", 1008, mode)).text, none)
        }
        const horizon = (decay: number, scale: number) =>
          `{"decay":${decay},"scale":${scale},"fail":{"startrange":0,"endrange":1e+99,"withintarget":0,` +
          "\"totalconfirmed\":0,\"inmempool\":0,\"leftmempool\":0},\"errors\":[\"Insufficient data or no feerate " +
          "found which meets threshold\"]}"
        const long = `"long":${horizon(0.99931, 24)}`
        const medium = `"medium":${horizon(0.9952, 2)}`
        assert.strictEqual(
          (yield* call("estimaterawfee", 12)).text,
          `{"short":${horizon(0.962, 1)},${medium},${long}}`
        )
        assert.strictEqual((yield* call("estimaterawfee", 13, 0)).text, `{${medium},${long}}`)
        assert.strictEqual((yield* call("estimaterawfee", 49, 1)).text, `{${long}}`)

        const target = { code: -8, message: "Invalid conf_target, must be between 1 and 1008" }
        for (const method of ["estimatesmartfee", "estimaterawfee"]) {
          assert.deepStrictEqual(yield* refusal(method, 0), target)
          assert.deepStrictEqual(yield* refusal(method, 1009), target)
          assert.strictEqual((yield* refusal(method)).code, -1)
          assert.strictEqual((yield* refusal(method, "6")).code, -3)
        }
        assert.deepStrictEqual(yield* refusal("estimatesmartfee", 6, "fast"), {
          code: -8,
          message: "Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\""
        })
        for (const threshold of [-0.01, 1.01]) {
          assert.deepStrictEqual(yield* refusal("estimaterawfee", 6, threshold), {
            code: -8,
            message: "Invalid threshold"
          })
        }
      }))

    it.effect("return the estimator's rate, but never less than the mempool's minimum", () =>
      Effect.gen(function*() {
        const { chain, pool } = yield* MethodNode
        const range = { start: 99.6, end: 1e99, withinTarget: 1.236, confirmed: 2, inPool: 3, left: 0.004 }
        let rate = 123_456
        const methods = yield* feeMethods.pipe(
          Effect.provideService(Mempool, pool),
          Effect.provide(servicesOf(chain)),
          Effect.provideService(FeeEstimator, {
            isOff: false,
            estimateSmart: (target, mode) => ({ feeRate: rate, blocks: mode === "conservative" ? target + 1 : target }),
            estimateRaw: (horizon, { threshold }) =>
              horizon === "short"
                ? { feeRate: rate, pass: range, fail: undefined, decay: threshold, scale: 1 }
                : undefined,
            save: Effect.void
          }),
          Effect.provideService(AnswerOptions, OPTIONS),
          Effect.provide(noWallets)
        )
        const { call } = callsOf(methodTable(methods))
        assert.strictEqual((yield* call("estimatesmartfee", 6)).text, "{\"feerate\":0.00123456,\"blocks\":6}")
        assert.strictEqual(
          (yield* call("estimatesmartfee", 6, "conservative")).text,
          "{\"feerate\":0.00123456,\"blocks\":7}"
        )
        assert.strictEqual(
          (yield* call("estimaterawfee", 6)).text,
          "{\"short\":{\"feerate\":0.00123456,\"decay\":0.95,\"scale\":1,\"pass\":{\"startrange\":100," +
            "\"endrange\":1e+99,\"withintarget\":1.24,\"totalconfirmed\":2,\"inmempool\":3,\"leftmempool\":0}}}"
        )
        rate = 99_999
        assert.strictEqual((yield* call("estimatesmartfee", 6)).text, "{\"feerate\":0.00100000,\"blocks\":6}")
      }))

    it.effect("fail on a node that takes no transactions from peers", () =>
      Effect.gen(function*() {
        const { chain, pool } = yield* MethodNode
        const methods = yield* feeMethods.pipe(
          Effect.provideService(Mempool, pool),
          Effect.provide(Layer.mergeAll(servicesOf(chain), layerWithoutEstimates, noWallets)),
          Effect.provideService(AnswerOptions, OPTIONS)
        )
        const { refusal } = callsOf(methodTable(methods))
        const off = { code: -32603, message: "Fee estimation disabled" }
        assert.deepStrictEqual(yield* refusal("estimatesmartfee", 2), off)
        assert.deepStrictEqual(yield* refusal("estimaterawfee", 2), off)
      }))
  })
})
