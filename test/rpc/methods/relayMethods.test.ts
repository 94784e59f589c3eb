import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FeeEstimator, layerWithoutEstimates } from "../../../src/mempool/fees/FeeEstimator.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { NameOperation } from "../../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { relayMethods } from "../../../src/rpc/methods/relayMethods.ts"
import { servicesOf } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { ADDRESS, FEE, nameTx, output, pay, reward } from "../../support/mempool.ts"
import { callsOf, MethodNode, methodNode } from "../../support/methodNode.ts"
import { noWallets } from "../../support/noWallets.ts"
import { currency, input, text } from "../../support/regtest.ts"
import { hexOf, mine, spendableNode } from "../../support/spendableNode.ts"

const idOf = ({ txid }: { readonly txid: Uint8Array }): string => displayHash(txid)

const FEE_EXCEEDED = "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"
const BURN_EXCEEDED = "Unspendable output exceeds maximum configured by user (maxburnamount)"
const RATE_REFUSED = { code: -8, message: "Fee rates larger than or equal to 1BTC/kvB are not accepted" }

/** Version 1, one input that spends an unknown coin, one output. */
const LOST = "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

layer(spendableNode)("sendrawtransaction", (it) => {
  it.effect("accepts a transaction, returns its txid again, and refuses it once it is mined", () =>
    Effect.gen(function*() {
      const { call, pool, refusal } = yield* MethodNode
      const transaction = pay([reward(1)], { outputs: 2 })
      const { text } = yield* call("sendrawtransaction", hexOf(transaction))
      assert.strictEqual(text, `"${idOf(transaction)}"`)
      assert.isTrue(pool.isUnbroadcast(transaction.txidKey))
      pool.broadcastDone(transaction.txidKey)
      assert.strictEqual((yield* call("sendrawtransaction", hexOf(transaction).toUpperCase())).text, text)
      assert.isFalse(pool.isUnbroadcast(transaction.txidKey), "some peer has requested it")
      // One unspent output is enough to detect that.
      yield* mine(transaction, pay([output(transaction)]))
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(transaction)), {
        code: -27,
        message: "Transaction outputs already in utxo set"
      })
    }))

  it.effect("refuses the transactions that the mempool refuses, with its reason", () =>
    Effect.gen(function*() {
      const { pool, refusal } = yield* MethodNode
      for (const maxfeerate of [undefined, 0]) {
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", LOST, maxfeerate), {
          code: -25,
          message: "bad-txns-inputs-missingorspent"
        })
        const operation: NameOperation = { op: "name_update", name: text("d/x"), value: text("1") }
        assert.deepStrictEqual(
          yield* refusal("sendrawtransaction", hexOf(nameTx(operation, [reward(2)])), maxfeerate),
          {
            code: -26,
            message: "tx-nameupdate-without-name-input, Name update has no previous name input"
          }
        )
        const cheap = pay([reward(2)], { fee: 1 })
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(cheap), maxfeerate), {
          code: -26,
          message: `min relay fee not met, 1 < ${Math.ceil(cheap.virtualSize * 100)}`
        })
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(pay([reward(120)])), maxfeerate), {
          code: -26,
          message: "bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 21"
        })
      }
      assert.strictEqual(pool.info().size, 0)
    }))

  it.effect("refuses an undecodable transaction", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      // The last one has an output, but no inputs: only methods that build transactions read it.
      const empty = "0200000000010000000000000000015100000000"
      for (const given of ["", "c0ffee", "zz", LOST.slice(2), `${LOST}00`, empty]) {
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", given), {
          code: -22,
          message: "TX decode failed. Make sure the tx has at least one input."
        })
      }
      assert.strictEqual((yield* refusal("sendrawtransaction", 1)).code, -3)
    }))

  it.effect("refuses a fee above the limit, and accepts one at it", () =>
    Effect.gen(function*() {
      const { call, pool, refusal } = yield* MethodNode
      const size = pay([reward(3)]).virtualSize
      const most = Math.ceil((0.1e8 * size) / 1000)
      const tooMuch = { code: -25, message: FEE_EXCEEDED }
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(pay([reward(3)], { fee: most + 1 }))), tooMuch)
      assert.strictEqual(pool.info().size, 0)
      yield* call("sendrawtransaction", hexOf(pay([reward(3)], { fee: most })))
      const dear = hexOf(pay([reward(4)], { fee: 11 * most }))
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear), tooMuch)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, "0.2"), tooMuch)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, 1), RATE_REFUSED)
      assert.strictEqual((yield* refusal("sendrawtransaction", "c0ffee", 1)).code, -22, "the transaction comes first")
      assert.strictEqual((yield* refusal("sendrawtransaction", "c0ffee", [])).code, -22)
      assert.strictEqual((yield* refusal("sendrawtransaction", "c0ffee", 1, [])).code, -3, "but not before the burning")
      assert.strictEqual((yield* refusal("sendrawtransaction", dear, [])).code, -3)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, "1.00000001"), RATE_REFUSED)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, "0.99999999"), tooMuch)
      yield* call("sendrawtransaction", dear, 0)
      assert.strictEqual(pool.info().size, 2)
    }))

  it.effect("refuses to burn more than its caller allows", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const burning = (script: Uint8Array) => hexOf(pay([reward(5)], { more: [{ value: 1000, script }] }))
      const nullData = burning(Uint8Array.of(Op.OP_RETURN, 1, 7))
      const refused = { code: -25, message: BURN_EXCEEDED }
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", nullData), refused)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", nullData, null, "0.00000999"), refused)
      // These outputs are unspendable too: an unknown opcode, a truncated push.
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", burning(Uint8Array.of(0xff))), refused)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", burning(Uint8Array.of(5, 1))), refused)
      yield* call("sendrawtransaction", nullData, null, "0.00001")
    }))
})

layer(spendableNode)("testmempoolaccept", (it) => {
  it.effect("reports whether one transaction would be accepted", () =>
    Effect.gen(function*() {
      const { call, pool } = yield* MethodNode
      const good = pay([reward(1)])
      const ids = { txid: idOf(good), wtxid: displayHash(good.wtxid) }
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(good)])).value, [{
        ...ids,
        allowed: true,
        vsize: good.virtualSize,
        fees: {
          base: 0.001,
          "effective-feerate": Math.floor((FEE * 1000) / good.virtualSize) / 1e8,
          "effective-includes": [ids.wtxid]
        }
      }])
      assert.strictEqual(pool.info().size, 0)
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(good)], "0.00100000")).value, [
        { ...ids, allowed: false, "reject-reason": "max-fee-exceeded" }
      ])
      const [lost] = Object((yield* call("testmempoolaccept", [LOST])).value)
      assert.deepInclude(lost, { allowed: false, "reject-reason": "missing-inputs" })
      assert.notProperty(lost, "reject-details")
      const cheap = pay([reward(1)], { fee: 1 })
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(cheap)])).value, [{
        txid: idOf(cheap),
        wtxid: displayHash(cheap.wtxid),
        allowed: false,
        "reject-reason": "min relay fee not met",
        "reject-details": `min relay fee not met, 1 < ${cheap.virtualSize * 100}`
      }])
      yield* Effect.orDie(pool.accept(good))
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(good)])).value, [{
        ...ids,
        allowed: false,
        "reject-reason": "txn-already-in-mempool",
        "reject-details": "txn-already-in-mempool"
      }])
    }))

  it.effect("reports the first failure of several transactions, and no verdict on the later ones", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const parent = pay([reward(2)])
      const child = pay([output(parent)])
      const ids = [parent, child].map((each) => ({ txid: idOf(each), wtxid: displayHash(each.wtxid) }))
      const verdicts = (...given: ReadonlyArray<string>) =>
        Effect.map(call("testmempoolaccept", given), ({ value }): ReadonlyArray<unknown> => Object(value))
      const good = yield* verdicts(hexOf(parent), hexOf(child))
      assert.deepInclude(good[0], { ...ids[0], allowed: true })
      assert.deepInclude(good[1], { ...ids[1], allowed: true })
      assert.deepStrictEqual(yield* verdicts(hexOf(child), hexOf(parent)), [
        { ...ids[1], "package-error": "package-not-sorted" },
        { ...ids[0], "package-error": "package-not-sorted" }
      ])
      const [before, refused] = yield* verdicts(hexOf(parent), LOST)
      assert.deepStrictEqual(before, ids[0])
      assert.deepInclude(refused, { allowed: false, "reject-reason": "missing-inputs" })
      // A transaction with too high a fee ends the list too; the ones before it are validated.
      const dear = pay([output(parent)], { fee: 3_000_000 })
      const last = pay([output(dear)])
      const [first, second, third] = yield* verdicts(hexOf(parent), hexOf(dear), hexOf(last))
      assert.deepInclude(first, { allowed: true })
      assert.deepInclude(second, { allowed: false, "reject-reason": "max-fee-exceeded" })
      assert.deepStrictEqual(third, { txid: idOf(last), wtxid: displayHash(last.wtxid) })
    }))

  it.effect("refuses invalid packages", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const count = { code: -8, message: "Array must contain between 1 and 25 transactions." }
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", []), count)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", Array.from({ length: 26 }, () => LOST)), count)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", [LOST, "c0ffee"]), {
        code: -22,
        message: "TX decode failed: c0ffee Make sure the tx has at least one input."
      })
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", [LOST], 1), RATE_REFUSED)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", ["c0ffee"], 1), RATE_REFUSED)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", [], 1), count)
      assert.strictEqual((yield* refusal("testmempoolaccept", [1])).code, -3)
    }))
})

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
      const methods = yield* relayMethods.pipe(
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
        const methods = yield* relayMethods.pipe(
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
        const methods = yield* relayMethods.pipe(
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
