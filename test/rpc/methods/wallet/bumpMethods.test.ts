import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { COIN } from "../../../../src/protocol/amount.ts"
import { displayHash } from "../../../../src/protocol/bytes.ts"
import { runSteps } from "../../../../src/protocol/steps.ts"
import { FundsMissing, InvalidWalletRequest } from "../../../../src/wallet/errors.ts"
import type { WalletPayments } from "../../../../src/wallet/payments/WalletPayments.ts"
import { parsePsbtSteps } from "../../../../src/wallet/signing/psbtText.ts"
import { ownScript } from "../../../support/fakeWallet.ts"
import { payingWallet, paymentsOf } from "./paying.ts"

const ADDRESS = ownScript(9).address ?? ""
const UNKNOWN = "11".repeat(32)

const invalid = (code: number, message: string) => ({ code, message })

/** A wallet whose replacements are recorded: each is the same payment. */
const bumping = Effect.gen(function*() {
  const asked: Array<Parameters<WalletPayments["bump"]>> = []
  const made = payingWallet([10 * COIN])
  const funded = yield* made.wallet.payments.fund({
    outputs: [{ value: COIN, script: ownScript(9).script }],
    version: 1
  })
  const answer = (...given: Parameters<WalletPayments["bump"]>) =>
    Effect.sync(() => {
      asked.push(given)
      return { funded: { ...funded, fee: 50_000 }, oldFee: 22_600 }
    })
  const { payments } = made.wallet
  const wallet = { ...made.wallet, payments: { ...payments, bump: answer, replacement: answer } }
  return { asked, funded, txid: displayHash(funded.transaction.txid), calls: yield* paymentsOf({ wallet }) }
})

/** A wallet that refuses each replacement. */
const refusing = (failure: InvalidWalletRequest | FundsMissing) =>
  Effect.flatMap(
    paymentsOf(payingWallet([COIN], { bump: () => Effect.fail(failure) })),
    ({ refusal }) => refusal("bumpfee", UNKNOWN)
  )

describe("bumpfee", () => {
  it.effect("passes all options to the wallet", () =>
    Effect.gen(function*() {
      const { asked, calls, funded, txid } = yield* bumping
      assert.strictEqual(
        (yield* calls.call("bumpfee", txid, { fee_rate: 250 })).text,
        `{"txid":"${txid}","origfee":0.00022600,"fee":0.00050000,"errors":[]}`
      )
      yield* calls.call("bumpfee", txid, { outputs: [{ [ADDRESS]: 2 }], confTarget: 3, replaceable: false })
      yield* calls.call("bumpfee", txid, { original_change_index: 1, estimate_mode: "conservative" })
      const key = funded.transaction.txidKey
      const outputs = [{ value: 2 * COIN, script: ownScript(9).script }]
      assert.deepStrictEqual(asked, [
        [key, { feeRate: 250_000, replaceable: true }],
        [key, { outputs, target: 3, replaceable: false }],
        [key, { changeIndex: 1, conservative: true, replaceable: true }]
      ])
    }))

  it.effect("refuses invalid options with the reference node's words", () =>
    Effect.gen(function*() {
      const { calls: { refusal }, txid } = yield* bumping
      const bumped = (options: object) => refusal("bumpfee", txid, options)
      assert.deepStrictEqual(
        yield* refusal("bumpfee", "zz"),
        invalid(-8, "txid must be of length 64 (not 2, for 'zz')")
      )
      assert.deepStrictEqual(
        yield* bumped({ outputs: [] }),
        invalid(-8, "Invalid parameter, output argument cannot be an empty array")
      )
      assert.match((yield* bumped({ outputs: { [ADDRESS]: 1 }, original_change_index: 0 })).message, /^The options/)
      assert.deepStrictEqual(
        yield* bumped({ confTarget: 3, conf_target: 3 }),
        invalid(
          -8,
          "confTarget and conf_target options should not both be set. Use conf_target (confTarget is deprecated)."
        )
      )
      assert.deepStrictEqual(yield* bumped({ foo: 1 }), invalid(-3, "Unexpected key foo"))
    }))

  it.effect("returns the wallet's errors with their codes", () =>
    Effect.gen(function*() {
      const request = (code: InvalidWalletRequest["code"], reason: string) =>
        refusing(new InvalidWalletRequest({ code, reason }))
      assert.deepStrictEqual(yield* request("range", "it is too low"), invalid(-8, "it is too low"))
      assert.deepStrictEqual(yield* request("not-eligible", "so it is"), invalid(-4, "so it is"))
      assert.deepStrictEqual(yield* request("spent", "x:0 is already spent"), invalid(-1, "x:0 is already spent"))
      assert.deepStrictEqual(
        yield* request("unknown-transaction", "any"),
        invalid(-5, "Invalid or non-wallet transaction id")
      )
      assert.deepStrictEqual(
        yield* request("fee-too-high", "Fee exceeds maximum"),
        invalid(-4, "Unable to create transaction. Fee exceeds maximum")
      )
      assert.deepStrictEqual(
        yield* refusing(new FundsMissing({ needed: 2, available: 1 })),
        invalid(-4, "Unable to create transaction. Insufficient funds")
      )
    }))
})

describe("psbtbumpfee", () => {
  it.effect("makes a PSBT without signatures", () =>
    Effect.gen(function*() {
      const { calls, funded, txid } = yield* bumping
      const { value } = yield* calls.call("psbtbumpfee", txid)
      const parsed = runSteps(parsePsbtSteps(Object(value).psbt))
      const psbt = "psbt" in parsed ? parsed.psbt : assert.fail(parsed.error)
      assert.deepStrictEqual(
        psbt.transaction.inputs.map(({ prevout }) => prevout),
        funded.transaction.inputs.map(({ prevout }) => prevout)
      )
      assert.strictEqual(psbt.inputs[0]?.partialSignatures.size, 0)
    }))
})
