import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { virtualSize } from "../../../../src/mempool/policy/feeRate.ts"
import { COIN } from "../../../../src/protocol/amount.ts"
import { displayHash, fromHex } from "../../../../src/protocol/bytes.ts"
import { runSteps } from "../../../../src/protocol/steps.ts"
import {
  decodeTransaction,
  makeTransaction as remade,
  outpoint,
  outpointKey,
  type Transaction
} from "../../../../src/protocol/transaction.ts"
import { InvalidWalletRequest, WalletWatchOnly } from "../../../../src/wallet/errors.ts"
import { estimateInputWeight } from "../../../../src/wallet/signing/estimate.ts"
import { parsePsbtSteps } from "../../../../src/wallet/signing/psbtText.ts"
import { makeProvider } from "../../../../src/wallet/signing/SigningProvider.ts"
import { finalizePsbtSteps } from "../../../../src/wallet/signing/signPsbt.ts"
import { keyOf, ownScript } from "../../../support/fakeWallet.ts"
import { type Paying, payingWallet, paymentsOf } from "./paying.ts"

const ADDRESS = ownScript(9).address ?? ""
const OTHER = ownScript(10).address ?? ""

const invalid = (code: number, message: string) => ({ code, message })

const committed = ({ calls }: Paying): ReadonlyArray<Transaction> =>
  calls.flatMap(([member, transaction]) => member === "commit" ? [transaction as Transaction] : [])

const decoded = (hex: string): Transaction => decodeTransaction(fromHex(hex) ?? assert.fail("no hex"))

const valuesOf = ({ outputs }: Transaction): ReadonlyArray<number> => outputs.map(({ value }) => value)

const sumOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0)

describe("send", () => {
  it.effect("pays and sends", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call } = yield* paymentsOf(fake)
      const { value } = yield* call("send", [{ [ADDRESS]: 1 }, { data: "c0ffee" }], 6, "economical")
      const [sent] = committed(fake)
      assert.deepStrictEqual(value, { txid: displayHash(sent?.txid ?? assert.fail()), complete: true })
      assert.deepInclude(fake.requests[0], { target: 6, conservative: false, addInputs: true, version: 1, inputs: [] })
      assert.notProperty(fake.requests[0], "lockTime")
    }))

  it.effect("blocks other payments from choosing coins before it stores its own", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const fake = payingWallet([10 * COIN, 10 * COIN])
      const { wallet } = fake
      const noted = {
        ...fake,
        wallet: {
          ...wallet,
          payments: {
            ...wallet.payments,
            exclusively: <A, E, R>(payment: Effect.Effect<A, E, R>) =>
              Effect.ensuring(
                Effect.zipRight(Effect.sync(() => order.push("begin")), payment),
                Effect.sync(() => order.push("end"))
              ),
            fund: (...given: Parameters<typeof wallet.payments.fund>) =>
              Effect.tap(wallet.payments.fund(...given), () => order.push("fund")),
            commit: (...given: Parameters<typeof wallet.payments.commit>) =>
              Effect.tap(wallet.payments.commit(...given), () => order.push("commit"))
          }
        }
      }
      const { call } = yield* paymentsOf(noted)
      yield* call("send", { [ADDRESS]: 1 })
      yield* call("sendall", [OTHER])
      const one = ["begin", "fund", "commit", "end"]
      assert.deepStrictEqual(order.slice(0, 4), one)
      assert.deepStrictEqual([order.at(4), ...order.slice(-3)], ["begin", "fund", "commit", "end"])
    }))

  it.effect("returns the transaction instead of sending it", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN, 10 * COIN])
      const { call } = yield* paymentsOf(fake)
      const options = { add_to_wallet: false, change_position: 0, lock_unspents: true, locktime: 3 }
      const { value } = yield* call("send", { [ADDRESS]: 1 }, null, null, 150, options)
      const transaction = decoded(Object(value).hex)
      assert.strictEqual(Object(value).txid, displayHash(transaction.txid))
      assert.strictEqual(Object(value).complete, true)
      assert.strictEqual(transaction.lockTime, 3)
      assert.strictEqual(valuesOf(transaction)[1], COIN)
      const parsed = runSteps(parsePsbtSteps(Object(value).psbt))
      assert.isTrue("psbt" in parsed && runSteps(finalizePsbtSteps(parsed.psbt)).complete)
      const { value: psbt } = yield* call("send", { [ADDRESS]: 1 }, null, null, null, { psbt: true })
      assert.hasAllKeys(Object(psbt), ["psbt", "txid", "hex", "complete"])
      assert.deepStrictEqual(fake.calls.map(([member]) => member), ["lockCoins"])
    }))

  it.effect("returns a PSBT if it cannot sign", () =>
    Effect.gen(function*() {
      const signing = payingWallet([10 * COIN])
      const fake = payingWallet([10 * COIN], {
        hasPrivateKeys: false,
        signer: Effect.dieMessage("a wallet that only watches has none"),
        fund: (request) =>
          Effect.map(signing.wallet.payments.fund(request), (funded) => {
            const { lockTime, outputs, version } = funded.transaction
            const inputs = funded.transaction.inputs.map((input) => ({ ...input, scriptSig: new Uint8Array(0) }))
            return { ...funded, transaction: remade({ version, inputs, outputs, lockTime }) }
          })
      })
      const keys = { ...fake.wallet.keys, signer: Effect.fail(new WalletWatchOnly()) }
      const watching = { ...fake, wallet: { ...fake.wallet, keys } }
      const { call } = yield* paymentsOf(watching)
      const { value } = yield* call("send", { [ADDRESS]: 1 })
      assert.hasAllKeys(Object(value), ["psbt", "complete"])
      assert.strictEqual(Object(value).complete, false)
      const parsed = runSteps(parsePsbtSteps(Object(value).psbt))
      assert.isTrue("psbt" in parsed && parsed.psbt.inputs[0]?.nonWitnessUtxo !== undefined)
      assert.deepStrictEqual(fake.calls, [])
    }))

  it.effect("spends the given inputs, with the given sequence numbers", () =>
    Effect.gen(function*() {
      const fake = payingWallet([2 * COIN, 3 * COIN, 4 * COIN])
      const { call } = yield* paymentsOf(fake)
      const [first, , third] = fake.sources.map(({ txid }) => displayHash(txid))
      const inputs = [{ txid: third, vout: 0 }, { txid: first, vout: 0, sequence: 5 }]
      yield* call("send", { [ADDRESS]: 5 }, null, null, null, { inputs, subtract_fee_from_outputs: [ADDRESS] })
      const [, , last] = fake.sources
      assert.deepInclude(fake.requests[0], {
        inputs: [
          { outpoint: outpointKey(outpoint(last?.txid ?? assert.fail(), 0)) },
          { outpoint: outpointKey(outpoint(fake.sources[0]?.txid ?? assert.fail(), 0)), sequence: 5 }
        ],
        addInputs: false,
        subtractFeeFrom: [0]
      })
    }))

  it.effect("refuses contradictory options, and options under outdated names", () =>
    Effect.gen(function*() {
      const { refusal } = yield* paymentsOf(payingWallet([10 * COIN]))
      const sent = (options: unknown, ...beside: ReadonlyArray<unknown>) =>
        refusal("send", { [ADDRESS]: 1 }, beside[0] ?? null, beside[1] ?? null, beside[2] ?? null, options)
      const both = "either as arguments or in the options object, but not both"
      assert.deepStrictEqual(
        yield* sent({ conf_target: 6 }, 6),
        invalid(-8, `Pass conf_target and estimate_mode ${both}`)
      )
      assert.deepStrictEqual(
        yield* sent({ fee_rate: 1 }, null, null, 1),
        invalid(-8, "Pass the fee_rate either as an argument, or in the options object, but not both")
      )
      assert.deepStrictEqual(yield* sent({}, 6), invalid(-8, "Specify estimate_mode"))
      assert.deepStrictEqual(
        yield* sent({ conf_target: 6, estimate_mode: "unset" }),
        invalid(-8, "Specify estimate_mode")
      )
      for (
        const [name, instead] of [
          ["feeRate", "fee_rate (sat/vB)"],
          ["changeAddress", "change_address"],
          ["changePosition", "change_position"],
          ["lockUnspents", "lock_unspents"],
          ["subtractFeeFromOutputs", "subtract_fee_from_outputs"]
        ] as const
      ) assert.deepStrictEqual(yield* sent({ [name]: 1 }), invalid(-8, `Use ${instead} instead of ${name}`))
      assert.deepStrictEqual(yield* sent({ foo: 1 }), invalid(-3, "Unexpected key foo"))
      assert.deepStrictEqual(
        yield* refusal("send", { [ADDRESS]: 100 }),
        invalid(-4, "Insufficient funds")
      )
      assert.deepStrictEqual(
        yield* refusal("send", null),
        invalid(-8, "Invalid parameter, output argument must be non-null")
      )
    }))
})

describe("sendall", () => {
  it.effect("spends everything, and shares the rest after the given amounts", () =>
    Effect.gen(function*() {
      const fake = payingWallet([2 * COIN, 3 * COIN])
      const { call } = yield* paymentsOf(fake)
      const third = ownScript(11).address ?? ""
      const { value } = yield* call("sendall", [ADDRESS, { [OTHER]: 1 }, third])
      const sent = committed(fake)[0] ?? assert.fail("nothing was sent")
      assert.strictEqual(Object(value).txid, displayHash(sent.txid))
      const values = valuesOf(sent)
      assert.strictEqual(values.length, 3)
      assert.strictEqual(values[1], COIN)
      const [a = 0, , b = 0] = values
      assert.isAtMost(Math.abs(a - b), 1)
      const fee = 5 * COIN - sumOf(values)
      assert.isAtLeast(fee, (sent.virtualSize - 4) * 100)
      assert.isAtMost(fee, (sent.virtualSize + 4) * 100)
    }))

  it.effect("spends only the given inputs", () =>
    Effect.gen(function*() {
      const fake = payingWallet([2 * COIN, 3 * COIN])
      const { call, refusal } = yield* paymentsOf(fake)
      const [first] = fake.sources.map(({ txid }) => displayHash(txid))
      yield* call("sendall", [ADDRESS], null, null, null, { inputs: [{ txid: first, vout: 0 }] })
      assert.strictEqual(committed(fake)[0]?.inputs.length, 1)
      const withInput = (options: object) =>
        refusal("sendall", [ADDRESS], null, null, null, { inputs: [{ txid: first, vout: 0 }], ...options })
      assert.deepStrictEqual(
        yield* withInput({ send_max: false }),
        invalid(-8, "Cannot combine send_max with specific inputs.")
      )
      assert.deepStrictEqual(
        yield* withInput({ minconf: 0 }),
        invalid(-8, "Cannot combine minconf or maxconf with specific inputs.")
      )
      const unknown = "11".repeat(32)
      assert.deepStrictEqual(
        yield* withInput({ inputs: [{ txid: unknown, vout: 0 }] }),
        invalid(-8, `Input not found. UTXO (${unknown}:0) is not part of wallet.`)
      )
      fake.coins.shift()
      assert.deepStrictEqual(
        yield* withInput({}),
        invalid(-8, `Input not available. UTXO (${first}:0) was already spent.`)
      )
    }))

  it.effect("omits, on request, coins that cost more than they are worth", () =>
    Effect.gen(function*() {
      const weight = estimateInputWeight(ownScript(1).script, makeProvider({ keys: [keyOf(1)] })) ?? assert.fail()
      const cost = virtualSize(weight) * 100
      const fake = payingWallet([2 * COIN, cost - 1, cost])
      const { call } = yield* paymentsOf(fake)
      const inputs = () => committed(fake).map(({ inputs }) => inputs.length)
      yield* call("sendall", [ADDRESS], null, null, 100, { send_max: true })
      yield* call("sendall", [ADDRESS], null, null, null, { send_max: true })
      yield* call("sendall", [ADDRESS], null, null, 100)
      assert.deepStrictEqual(inputs(), [2, 2, 3])
    }))

  it.effect("judges the fee rate first", () =>
    Effect.gen(function*() {
      const { refusal } = yield* paymentsOf(payingWallet([COIN]))
      const tooLow = {
        code: "low-fee-rate",
        reason: "Fee rate (1.000 sat/vB) is lower than the minimum fee rate"
      } as const
      const { refusal: strict } = yield* paymentsOf(
        payingWallet([COIN], { feeRate: () => Either.left(new InvalidWalletRequest(tooLow)) })
      )
      // Without the fee rate, the inputs are what is wrong.
      assert.deepStrictEqual(
        yield* refusal("sendall", [ADDRESS], null, null, null, { inputs: [], send_max: true }),
        invalid(-8, "Cannot combine send_max with specific inputs.")
      )
      assert.deepStrictEqual(
        yield* strict("sendall", [ADDRESS], null, null, 1, { inputs: [], send_max: true }),
        invalid(-8, tooLow.reason)
      )
    }))

  it.effect("refuses amounts that cannot be shared", () =>
    Effect.gen(function*() {
      const refusedBy = (values: ReadonlyArray<number>, recipients: ReadonlyArray<unknown>, options: object = {}) =>
        Effect.flatMap(
          paymentsOf(payingWallet(values)),
          ({ refusal }) => refusal("sendall", recipients, null, null, null, options)
        )
      assert.deepStrictEqual(
        yield* refusedBy([COIN], [{ [ADDRESS]: 0.1 }]),
        invalid(-8, "Must provide at least one address without a specified amount")
      )
      assert.deepStrictEqual(
        yield* refusedBy([COIN], [ADDRESS, { [OTHER]: 1.1 }]),
        invalid(-6, "Assigned more value to outputs than available funds.")
      )
      assert.deepStrictEqual(
        yield* refusedBy([COIN], [ADDRESS, { [OTHER]: 0.9999 }]),
        invalid(-6, "Insufficient funds for fees after creating specified outputs.")
      )
      assert.deepStrictEqual(
        yield* refusedBy([COIN], [ADDRESS, { [OTHER]: "0.000001" }]),
        invalid(-8, `Specified output amount to ${OTHER} is below dust threshold.`)
      )
      const low = "Total value of UTXO pool too low to pay for transaction"
      assert.deepStrictEqual(
        yield* refusedBy([10_000], [ADDRESS]),
        invalid(-6, `${low}. Try using lower feerate or excluding uneconomic UTXOs with 'send_max' option.`)
      )
      assert.deepStrictEqual(
        yield* refusedBy([COIN], [ADDRESS], { minconf: -1 }),
        invalid(-8, "Invalid minconf (minconf cannot be negative): -1")
      )
      assert.deepStrictEqual(
        yield* refusedBy([COIN], [ADDRESS, ADDRESS]),
        invalid(-8, `Invalid parameter, duplicated address: ${ADDRESS}`)
      )
      // One input and one output take 192 bytes.
      assert.deepStrictEqual(
        yield* refusedBy([192 * 100 + 300], [ADDRESS]),
        invalid(-6, "Dynamically assigned remainder results in dust output.")
      )
    }))
})
