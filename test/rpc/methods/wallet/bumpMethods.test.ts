import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { COIN } from "../../../../src/protocol/amount.ts"
import { displayHash } from "../../../../src/protocol/bytes.ts"
import { type TxidKey } from "../../../../src/protocol/keys.ts"
import { outpointKey, type Transaction } from "../../../../src/protocol/transaction.ts"
import { FundsMissing, InvalidWalletRequest } from "../../../../src/wallet/errors.ts"
import type { WalletTx } from "../../../../src/wallet/ledger/WalletLedger.ts"
import type { PaymentRequest } from "../../../../src/wallet/payments/WalletPayments.ts"
import { parsePsbt } from "../../../../src/wallet/signing/psbtText.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import { fakeWallet, ownScript, walletTx } from "../../../support/fakeWallet.ts"
import { paidTo, type Paying, payingWallet, paymentsOf } from "./paying.ts"

const ADDRESS = ownScript(9).address ?? ""
const UNKNOWN = "11".repeat(32)

const invalid = (code: number, message: string) => ({ code, message })

/** A wallet that paid 1 NMC to a foreign address, and the payment. */
const paid = Effect.gen(function*() {
  const fake = payingWallet([10 * COIN, 10 * COIN])
  const funded = yield* fake.wallet.payments.fund({
    outputs: [{ value: COIN, script: ownScript(9).script }],
    changePosition: 1,
    version: 1
  })
  const place = (changes: Partial<WalletTx> = {}): void => {
    const at = fake.transactions.findIndex(({ transaction }) => transaction === funded.transaction)
    const tx = walletTx(funded.transaction, { spent: funded.coins, ...changes })
    fake.transactions.splice(at < 0 ? fake.transactions.length : at, at < 0 ? 0 : 1, tx)
  }
  place()
  fake.requests.length = 0
  return { fake, funded, place, txid: displayHash(funded.transaction.txid) }
})

const committed = ({ calls }: Paying): ReadonlyArray<Transaction> =>
  calls.flatMap(([member, transaction]) => member === "commit" ? [transaction as Transaction] : [])

describe("bumpfee", () => {
  it.effect("leaves everything to the wallet without options", () =>
    Effect.gen(function*() {
      const { fake, funded, txid } = yield* paid
      const bumps: Array<unknown> = []
      const wallet: Wallet = {
        ...fake.wallet,
        payments: {
          ...fake.wallet.payments,
          bump: (...given) =>
            Effect.sync(() => {
              bumps.push(given)
              return { funded: { ...funded, fee: 50_000 }, oldFee: 22_600 }
            })
        }
      }
      const { call } = yield* paymentsOf({ wallet })
      assert.strictEqual(
        (yield* call("bumpfee", txid, { fee_rate: 250 })).text,
        `{"txid":"${txid}","origfee":0.00022600,"fee":0.00050000,"errors":[]}`
      )
      assert.deepStrictEqual(bumps, [[funded.transaction.txidKey, { feeRate: 250_000 }]])
    }))

  it.effect("replaces outputs with the same inputs, and records the replaced transaction", () =>
    Effect.gen(function*() {
      const { fake, funded, txid } = yield* paid
      const { call } = yield* paymentsOf(fake)
      const other = ownScript(12).address ?? ""
      const { value } = yield* call("bumpfee", txid, { outputs: [{ [other]: 2 }], fee_rate: 500 })
      const [sent] = committed(fake)
      assert.strictEqual(Object(value).txid, displayHash(sent?.txid ?? assert.fail()))
      assert.deepStrictEqual(fake.calls[0]?.[2], { replaces: funded.transaction.txidKey })
      const expected: Partial<PaymentRequest> & { readonly replaces: TxidKey } = {
        outputs: [{ value: 2 * COIN, script: ownScript(12).script }],
        inputs: funded.transaction.inputs.map(({ prevout }) => ({ outpoint: outpointKey(prevout) })),
        minConfirmations: 1,
        replaceable: true,
        feeRate: 500_000,
        replaces: funded.transaction.txidKey
      }
      assert.deepInclude(fake.requests[0], expected)
      yield* call("bumpfee", txid, { replaceable: false, original_change_index: 1 })
      const last = fake.requests.at(-1) ?? assert.fail()
      assert.deepInclude(last, { outputs: [{ value: COIN, script: ownScript(9).script }], replaceable: false })
      assert.deepStrictEqual(last.changeScript, ownScript(2).script)
      // The old fee, plus the wallet's increase.
      assert.isAbove(last.feeRate ?? 0, 200_000)
    }))

  it.effect("refuses with the reference node's words", () =>
    Effect.gen(function*() {
      const { fake, place, txid } = yield* paid
      const { refusal } = yield* paymentsOf(fake)
      const bumped = (options: object) => refusal("bumpfee", txid, options)
      assert.deepStrictEqual(
        yield* refusal("bumpfee", UNKNOWN),
        invalid(-5, "Invalid or non-wallet transaction id")
      )
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
        yield* bumped({ original_change_index: 2 }),
        invalid(-8, "Change position is out of range")
      )
      assert.deepStrictEqual(yield* bumped({ foo: 1 }), invalid(-3, "Unexpected key foo"))
      assert.match(
        (yield* bumped({ replaceable: false, fee_rate: 100 })).message,
        /^Insufficient total fee 0\.000\d+, must be at least 0\.000\d+ \(oldFee 0\.000\d+ \+ incrementalFee 0\.00000023\)$/
      )
      assert.match(
        (yield* bumped({ replaceable: false, fee_rate: 1 })).message,
        /^New fee rate \(0\.00001\) is lower than the minimum fee rate \(0\.001\) to get into the mempool -- $/
      )
      const special = bumped({ replaceable: false })
      place({ state: { type: "confirmed", height: 1, hash: new Uint8Array(32), index: 1, blockTime: 1 } })
      assert.deepStrictEqual(
        yield* special,
        invalid(-4, "Transaction has been mined, or is conflicted with a mined transaction")
      )
      place({ replacedBy: UNKNOWN })
      assert.deepStrictEqual(
        yield* special,
        invalid(-4, `Cannot bump transaction ${txid} which was already bumped by transaction ${UNKNOWN}`)
      )
      place({ spent: [undefined] })
      assert.deepStrictEqual(
        yield* special,
        invalid(-4, "Transaction contains inputs that don't belong to this wallet")
      )
    }))

  it.effect("returns the wallet's errors with their codes", () =>
    Effect.gen(function*() {
      const transaction = paidTo(1, COIN, 1)
      const txid = displayHash(transaction.txid)
      const refusedBy = (failure: InvalidWalletRequest | FundsMissing) =>
        Effect.flatMap(
          paymentsOf(fakeWallet({ bump: () => Effect.fail(failure) }, { transactions: [walletTx(transaction)] })),
          ({ refusal }) => refusal("bumpfee", txid)
        )
      const request = (code: InvalidWalletRequest["code"], reason: string) =>
        refusedBy(new InvalidWalletRequest({ code, reason }))
      assert.deepStrictEqual(
        yield* request("not-eligible", "Transaction has descendants in the wallet"),
        invalid(-8, "Transaction has descendants in the wallet")
      )
      assert.deepStrictEqual(
        yield* request("too-small", "Insufficient total fee 1"),
        invalid(-8, "Insufficient total fee 1")
      )
      assert.deepStrictEqual(yield* request("not-eligible", "so it is"), invalid(-4, "so it is"))
      assert.deepStrictEqual(
        yield* refusedBy(new FundsMissing({ needed: 2, available: 1 })),
        invalid(-4, "Unable to create transaction. Insufficient funds")
      )
    }))
})

describe("psbtbumpfee", () => {
  it.effect("makes a PSBT and sends nothing", () =>
    Effect.gen(function*() {
      const { fake, funded, txid } = yield* paid
      const { call } = yield* paymentsOf(fake)
      const { value } = yield* call("psbtbumpfee", txid)
      const parsed = parsePsbt(Object(value).psbt)
      const psbt = "psbt" in parsed ? parsed.psbt : assert.fail(parsed.error)
      assert.deepStrictEqual(
        psbt.transaction.inputs.map(({ prevout }) => prevout),
        funded.transaction.inputs.map(({ prevout }) => prevout)
      )
      assert.isAbove(Object(value).fee, Object(value).origfee)
      assert.strictEqual(psbt.inputs[0]?.partialSignatures.size, 0)
      assert.deepStrictEqual(fake.calls, [])
    }))
})
