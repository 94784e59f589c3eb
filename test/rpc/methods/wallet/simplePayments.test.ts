import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TransactionRejected } from "../../../../src/mempool/errors.ts"
import { COIN } from "../../../../src/protocol/amount.ts"
import { displayHash } from "../../../../src/protocol/bytes.ts"
import { paymentMethods } from "../../../../src/rpc/methods/wallet/paymentMethods.ts"
import { FundsMissing, InvalidWalletRequest } from "../../../../src/wallet/errors.ts"
import { fakeWallet, fakeWalletsLayer, noWallets, ownScript } from "../../../support/fakeWallet.ts"
import { chain, nodeOptions, paidTo, payingWallet, paymentsOf, poolOf } from "./paying.ts"

const ADDRESS = ownScript(9).address ?? ""
const OTHER = ownScript(10).address ?? ""

const invalid = (code: number, message: string) => ({ code, message })

describe("paymentMethods", () => {
  const namesOf = (wallets: typeof noWallets) =>
    Effect.map(
      Effect.provide(paymentMethods, Layer.mergeAll(chain, nodeOptions, poolOf(new Map()), wallets)),
      (methods) => methods.map(({ name }) => name)
    )

  it.effect("are empty without wallets", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* namesOf(noWallets), [])
      assert.deepStrictEqual(yield* namesOf(fakeWalletsLayer([])), [
        "sendtoaddress",
        "sendmany",
        "send",
        "sendall",
        "fundrawtransaction",
        "walletcreatefundedpsbt",
        "simulaterawtransaction",
        "bumpfee",
        "psbtbumpfee"
      ])
    }))
})

describe("sendtoaddress", () => {
  it.effect("pays an address, stores comments, and returns the txid", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call } = yield* paymentsOf(fake)
      const { value } = yield* call("sendtoaddress", ADDRESS, "0.1", "rent", "")
      const [, sent] = fake.calls.find(([member]) => member === "commit") ?? assert.fail("nothing was sent")
      assert.strictEqual(value, displayHash(Object(sent).txid))
      assert.deepStrictEqual(fake.requests, [{
        version: 1,
        outputs: [{ value: COIN / 10, script: ownScript(9).script }],
        subtractFeeFrom: [],
        comment: "rent"
      }])
    }))

  it.effect("accepts comments up to the wallet's maximum length", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call, refusal } = yield* paymentsOf(fake)
      const long = "x".repeat(10_000)
      yield* call("sendtoaddress", ADDRESS, 1, long, long)
      assert.deepInclude(fake.requests[0], { comment: long, commentTo: long })
      const tooLong = (name: string) => ({
        code: -8,
        message: `Invalid parameter, ${name} is longer than 10000 characters`
      })
      assert.deepStrictEqual(yield* refusal("sendtoaddress", ADDRESS, 1, `${long}x`), tooLong("comment"))
      assert.deepStrictEqual(yield* refusal("sendtoaddress", ADDRESS, 1, "", `${long}x`), tooLong("comment_to"))
      assert.deepStrictEqual(yield* refusal("sendmany", "", { [ADDRESS]: 1 }, 1, `${long}x`), tooLong("comment"))
      assert.strictEqual(fake.requests.length, 1)
    }))

  it.effect("passes the fee's payer and rate and replaceability to the wallet, and returns the fee reason", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call, callText } = yield* paymentsOf(fake)
      const { value, when } = yield* callText(
        "sendtoaddress",
        `{"address":"${ADDRESS}","amount":1,"subtractfeefromamount":true,"replaceable":false,"fee_rate":120.125,` +
          "\"verbose\":true}"
      )
      assert.strictEqual(when, "verbose is true")
      assert.strictEqual(Object(value).fee_reason, "Fallback fee")
      yield* call("sendtoaddress", ADDRESS, 1, null, null, null, null, 6, "CONSERVATIVE")
      yield* call("sendtoaddress", ADDRESS, 1, null, null, null, null, 1008, "unset")
      assert.deepInclude(fake.requests[0], { subtractFeeFrom: [0], replaceable: false, feeRate: 120_125 })
      assert.deepInclude(fake.requests[1], { target: 6, conservative: true })
      assert.deepInclude(fake.requests[2], { target: 1008 })
      assert.notProperty(fake.requests[2], "conservative")
    }))

  it.effect("refuses addresses, amounts and fees as the reference node does", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { refusal, refusalOfText } = yield* paymentsOf(fake)
      assert.deepStrictEqual(yield* refusal("sendtoaddress", "x", 1), invalid(-5, "Invalid address: x"))
      for (
        const [amount, message] of [
          [true, "Amount is not a number or string"],
          ["0.000000001", "Invalid amount"],
          [-1, "Amount out of range"],
          [21_000_001, "Amount out of range"]
        ] as const
      ) {
        assert.deepStrictEqual(yield* refusal("sendtoaddress", ADDRESS, amount), invalid(-3, message))
      }
      const withFees = (target: unknown, mode: unknown, rate: unknown) =>
        refusal("sendtoaddress", ADDRESS, 1, null, null, null, null, target, mode, null, rate)
      const range = invalid(-8, "Invalid conf_target, must be between 1 and 1008")
      assert.deepStrictEqual(yield* withFees(0, null, null), range)
      assert.deepStrictEqual(yield* withFees(1009, null, null), range)
      assert.deepStrictEqual(
        yield* withFees(null, "fast", null),
        invalid(-8, "Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\"")
      )
      // The mode is judged first.
      assert.deepStrictEqual(yield* withFees(0, "fast", null), yield* withFees(null, "fast", null))
      assert.deepStrictEqual(
        yield* withFees(6, null, 1),
        invalid(
          -8,
          "Cannot specify both conf_target and fee_rate. Please provide either a confirmation target in blocks for " +
            "automatic fee estimation, or an explicit fee rate."
        )
      )
      assert.deepStrictEqual(
        yield* withFees(null, "economical", 1),
        invalid(-8, "Cannot specify both estimate_mode and fee_rate")
      )
      assert.deepStrictEqual(yield* withFees(null, "unset", 1.0001), invalid(-3, "Invalid amount"))
      assert.deepStrictEqual(yield* withFees(null, "unset", -1), invalid(-3, "Amount out of range"))
      assert.deepStrictEqual(
        yield* refusalOfText("sendtoaddress", `{"address":"${ADDRESS}","amount":1,"avoid_reuse":true}`),
        invalid(-4, "wallet does not have the \"avoid reuse\" feature enabled")
      )
      assert.deepStrictEqual(fake.requests, [])
    }))

  it.effect("leaves out coins of addresses that the wallet has spent from, if the wallet does so", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN], { avoidsReuse: () => true })
      const { call } = yield* paymentsOf(fake)
      yield* call("sendtoaddress", ADDRESS, 1)
      yield* call("sendtoaddress", ADDRESS, 1, null, null, null, null, null, null, false)
      assert.deepInclude(fake.requests[0], { avoidReuse: true, avoidPartialSpends: true })
      assert.notProperty(fake.requests[1], "avoidReuse")
    }))

  it.effect("reports insufficient funds, a locked wallet, and missing keys", () =>
    Effect.gen(function*() {
      const refusedBy = (overrides: Parameters<typeof fakeWallet>[0]) =>
        Effect.flatMap(paymentsOf(fakeWallet(overrides)), ({ refusal }) => refusal("sendtoaddress", ADDRESS, 1))
      assert.deepStrictEqual(
        yield* refusedBy({ pay: () => Effect.fail(new FundsMissing({ needed: COIN, available: 0 })) }),
        invalid(-6, "Insufficient funds")
      )
      assert.deepStrictEqual(
        yield* refusedBy({
          pay: () =>
            Effect.fail(new InvalidWalletRequest({ code: "too-small", reason: "Transaction amount too small" }))
        }),
        invalid(-6, "Transaction amount too small")
      )
      assert.deepStrictEqual(
        yield* refusedBy({ encryption: () => "locked" }),
        invalid(-13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
      )
      assert.deepStrictEqual(
        yield* refusedBy({ hasPrivateKeys: false }),
        invalid(-4, "Error: Private keys are disabled for this wallet")
      )
    }))

  it.effect("answers with the reason if the wallet does not keep the transaction", () =>
    Effect.gen(function*() {
      const txid = displayHash(paidTo(9, COIN, 7).txid)
      const rejected = new TransactionRejected({ txid, reason: "min relay fee not met", kind: "policy" })
      const { refusal } = yield* paymentsOf(fakeWallet({ pay: () => Effect.fail(rejected) }))
      assert.deepStrictEqual(yield* refusal("sendtoaddress", ADDRESS, 1), invalid(-26, "min relay fee not met"))
    }))
})

describe("sendmany", () => {
  it.effect("pays all addresses at once; the given ones pay the fee", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call } = yield* paymentsOf(fake)
      yield* call("sendmany", "", { [ADDRESS]: 1, [OTHER]: "0.5" }, 1, "both", [OTHER])
      assert.deepStrictEqual(fake.requests, [{
        version: 1,
        outputs: [
          { value: COIN, script: ownScript(9).script },
          { value: COIN / 2, script: ownScript(10).script }
        ],
        subtractFeeFrom: [1],
        comment: "both"
      }])
      yield* call("sendmany", "", { [ADDRESS]: 1, [OTHER]: "0.5" }, 1, "", [1, 0])
      assert.deepStrictEqual(fake.requests[1]?.subtractFeeFrom, [1, 0])
    }))

  it.effect("refuses a dummy, repeated addresses, and fee payers that are not paid", () =>
    Effect.gen(function*() {
      const { refusal, refusalOfText } = yield* paymentsOf(payingWallet([10 * COIN]))
      assert.deepStrictEqual(
        yield* refusal("sendmany", "x", { [ADDRESS]: 1 }),
        invalid(-8, "Dummy value must be set to \"\"")
      )
      assert.deepStrictEqual(
        yield* refusalOfText("sendmany", `["", {"${ADDRESS}": 1, "${ADDRESS}": 2}]`),
        invalid(-8, `Invalid parameter, duplicated address: ${ADDRESS}`)
      )
      const withPayers = (payers: ReadonlyArray<string | number | boolean>) =>
        refusal("sendmany", "", { [ADDRESS]: 1 }, null, null, payers)
      const text = "Invalid parameter 'subtract fee from output'"
      assert.deepStrictEqual(
        yield* withPayers([OTHER]),
        invalid(-8, `${text}, destination ${OTHER} not found in tx outputs`)
      )
      assert.deepStrictEqual(
        yield* withPayers([ADDRESS, ADDRESS]),
        invalid(-8, `${text}, duplicated position: 0`)
      )
      assert.deepStrictEqual(yield* withPayers([ADDRESS, 0]), invalid(-8, `${text}, duplicated position: 0`))
      assert.deepStrictEqual(yield* withPayers([1]), invalid(-8, `${text}, position too large: 1`))
      assert.deepStrictEqual(yield* withPayers([-1]), invalid(-8, `${text}, negative position: -1`))
      assert.deepStrictEqual(yield* withPayers([true]), invalid(-8, `${text}, invalid value type: bool`))
      assert.include(
        (yield* refusal("sendmany", "", 5)).message,
        "JSON value of type number is not of expected type object"
      )
    }))
})
