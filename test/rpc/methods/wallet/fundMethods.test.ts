import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scriptOf } from "../../../../src/protocol/address.ts"
import { COIN } from "../../../../src/protocol/amount.ts"
import { displayHash, fromHex, toHex } from "../../../../src/protocol/bytes.ts"
import { hash160 } from "../../../../src/protocol/hash.ts"
import { NAME_TX_VERSION, nameScript } from "../../../../src/protocol/nameOperation.ts"
import { runSteps } from "../../../../src/protocol/steps.ts"
import {
  decodeTransaction,
  makeTransaction,
  NO_WITNESS,
  outpoint,
  outpointKey,
  type Transaction,
  type TransactionOutput
} from "../../../../src/protocol/transaction.ts"
import { parsePsbtSteps } from "../../../../src/wallet/signing/psbtText.ts"
import { ownScript } from "../../../support/fakeWallet.ts"
import { text } from "../../../support/regtest.ts"
import { payingWallet, paymentsOf } from "./paying.ts"

const ADDRESS = ownScript(9).address ?? ""

const invalid = (code: number, message: string) => ({ code, message })

const transactionOf = (
  outputs: ReadonlyArray<TransactionOutput>,
  prevouts: ReadonlyArray<Uint8Array> = [],
  changes: { readonly version?: number; readonly scriptSig?: Uint8Array } = {}
): Transaction =>
  makeTransaction({
    version: changes.version ?? 1,
    inputs: prevouts.map((prevout) => ({
      prevout,
      scriptSig: changes.scriptSig ?? new Uint8Array(0),
      sequence: 0xfffffffd,
      witness: NO_WITNESS
    })),
    outputs,
    lockTime: 0
  })

const hexOf = ({ bytes }: Transaction): string => toHex(bytes)

const PLAIN = hexOf(transactionOf([{ value: COIN, script: ownScript(9).script }]))

const decoded = (value: unknown): Transaction => decodeTransaction(fromHex(Object(value).hex) ?? assert.fail("no hex"))

const psbtIn = (value: unknown) => {
  const parsed = runSteps(parsePsbtSteps(Object(value).psbt))
  return "error" in parsed ? assert.fail(parsed.error) : parsed.psbt
}

describe("fundrawtransaction", () => {
  it.effect("reads the data and the weights of inputs of others", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call, refusal } = yield* paymentsOf(fake)
      const [source] = fake.sources
      const given = hexOf(
        transactionOf([{ value: COIN, script: ownScript(9).script }], [outpoint(source?.txid ?? assert.fail(), 0)])
      )
      const txid = displayHash(source?.txid ?? assert.fail())
      const { publicKey = assert.fail() } = ownScript(9)
      yield* call("fundrawtransaction", given, {
        solving_data: { pubkeys: [toHex(publicKey)], scripts: ["51"] },
        input_weights: [{ txid, vout: 0, weight: 300 }]
      })
      assert.lengthOf(fake.requests[0]?.inputs ?? [], 1, "the weight is that of the given input")
      yield* call("fundrawtransaction", PLAIN, { input_weights: [{ txid, vout: 0, weight: 300 }] })
      const weighed = { outpoint: outpointKey(outpoint(source?.txid ?? assert.fail(), 0)) }
      assert.deepStrictEqual(fake.requests[1]?.inputs, [weighed], "an input that the transaction does not have yet")
      const { known, weights } = fake.requests[0]?.external ?? assert.fail("no data")
      assert.deepStrictEqual([...weights], [[outpointKey(outpoint(source?.txid ?? assert.fail(), 0)), 300]])
      assert.deepStrictEqual(known.pubkey(hash160(publicKey)), publicKey)
      assert.deepStrictEqual(known.redeemScript(hash160(Uint8Array.of(0x51))), Uint8Array.of(0x51))
      const wrapped = scriptOf({ kind: "witness", version: 0, program: hash160(publicKey) })
      assert.deepStrictEqual(known.redeemScript(hash160(wrapped)), wrapped)

      const refusals: ReadonlyArray<readonly [object, number, string]> = [
        [{ solving_data: { pubkeys: ["no"] } }, -5, "Pubkey \"no\" must be a hex string"],
        [{ solving_data: { scripts: ["no"] } }, -5, "'no' is not hex"],
        [{ solving_data: { descriptors: ["no"] } }, -8, "Unable to parse descriptor 'no': Missing checksum"],
        [{ input_weights: [{ txid, vout: -1 }] }, -8, "Invalid parameter, vout cannot be negative"],
        [{ input_weights: [{ txid, vout: 0 }] }, -8, "Invalid parameter, missing weight key"],
        [
          { input_weights: [{ txid, vout: 0, weight: 400_001 }] },
          -8,
          "Invalid parameter, weight cannot be greater than the maximum standard tx weight of 400000"
        ]
      ]
      for (const [options, code, message] of refusals) {
        assert.deepInclude(yield* refusal("fundrawtransaction", given, options), invalid(code, message))
      }
      assert.deepInclude(
        yield* refusal("walletcreatefundedpsbt", [], [{ [ADDRESS]: 1 }], 0, { input_weights: [] }),
        invalid(-8, "Input weights should be specified in inputs rather than in options.")
      )
    }))

  it.effect("refuses null for an option, which is not the same as no option", () =>
    Effect.gen(function*() {
      const { refusal } = yield* paymentsOf(payingWallet([10 * COIN]))
      const wrong = (type: string) => invalid(-3, `JSON value of type null is not of expected type ${type}`)
      for (
        const [name, type] of [["change_type", "string"], ["changeAddress", "string"], [
          "lockUnspents",
          "bool"
        ]] as const
      ) assert.deepInclude(yield* refusal("fundrawtransaction", PLAIN, { [name]: null }), wrong(type))
      assert.deepInclude(
        yield* refusal("walletcreatefundedpsbt", [], [{ [ADDRESS]: 1 }], 0, { minconf: null }),
        wrong("number")
      )
    }))

  it.effect("adds inputs and change, and signs nothing", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call } = yield* paymentsOf(fake)
      const { value } = yield* call("fundrawtransaction", PLAIN, { changePosition: 1, fee_rate: "150.5" })
      const { inputs, lockTime, outputs, version } = decoded(value)
      assert.deepStrictEqual([version, lockTime, inputs.length, outputs.length], [1, 0, 1, 2])
      assert.deepStrictEqual(inputs.map(({ scriptSig }) => scriptSig.length), [0])
      assert.strictEqual(Object(value).changepos, 1)
      const [paid, change] = outputs.map(({ value }) => value)
      assert.strictEqual(paid, COIN)
      assert.strictEqual(Math.round(Object(value).fee * COIN), 9 * COIN - (change ?? 0))
      assert.deepInclude(fake.requests[0], { addInputs: true, feeRate: 150_500, version: 1, lockTime: 0 })
      assert.deepStrictEqual(fake.calls, [])
    }))

  it.effect("keeps version, name outputs, inputs and their signatures, and locks coins on request", () =>
    Effect.gen(function*() {
      const fake = payingWallet([5 * COIN])
      const { call } = yield* paymentsOf(fake)
      const [source] = fake.sources
      const prevout = outpoint(source?.txid ?? assert.fail(), 0)
      const script = nameScript({ op: "name_update", name: text("d/x"), value: text("v") }, ownScript(9).script)
      const given = transactionOf([{ value: COIN / 100, script }], [prevout], {
        version: NAME_TX_VERSION,
        scriptSig: Uint8Array.of(0x51)
      })
      const { value } = yield* call("fundrawtransaction", hexOf(given), { lockUnspents: true, changePosition: 1 })
      const { inputs, outputs, version } = decoded(value)
      assert.strictEqual(version, NAME_TX_VERSION)
      assert.deepStrictEqual(outputs[0]?.script, script)
      assert.deepStrictEqual(inputs.map(({ scriptSig }) => toHex(scriptSig)), ["51"])
      assert.deepStrictEqual(fake.requests[0]?.inputs, [{ outpoint: outpointKey(prevout), sequence: 0xfffffffd }])
      assert.deepStrictEqual(fake.calls, [["lockCoins", [outpointKey(prevout)], "lock"]])
    }))

  it.effect("accepts options by name, a boolean instead, and the older spelling of the rate", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN, 10 * COIN])
      const { call, callText } = yield* paymentsOf(fake)
      yield* call("fundrawtransaction", PLAIN, true)
      yield* callText("fundrawtransaction", `{"hexstring":"${PLAIN}","minconf":1,"maxconf":999,"include_unsafe":true}`)
      yield* call("fundrawtransaction", PLAIN, {
        feeRate: 0.002,
        changeAddress: ADDRESS,
        subtractFeeFromOutputs: [0],
        replaceable: false
      })
      assert.deepInclude(fake.requests[1], { minConfirmations: 1, maxConfirmations: 999, includeUnsafe: true })
      assert.deepInclude(fake.requests[2], {
        feeRate: 200_000,
        changeScript: ownScript(9).script,
        subtractFeeFrom: [0],
        replaceable: false
      })
    }))

  it.effect("refuses options as the reference node does", () =>
    Effect.gen(function*() {
      const { refusal } = yield* paymentsOf(payingWallet([10 * COIN]))
      const refused = (options: unknown) => refusal("fundrawtransaction", PLAIN, options)
      const payers = "Invalid parameter 'subtract fee from output'"
      for (
        const [options, code, message] of [
          [{ foo: 1 }, -3, "Unexpected key foo"],
          [{ add_inputs: 1 }, -3, "JSON value of type number for field add_inputs is not of expected type bool"],
          [{ changeAddress: "x" }, -5, "Change address must be a valid address"],
          [{ change_type: "x" }, -5, "Unknown change type 'x'"],
          [
            { change_type: "legacy", changeAddress: ADDRESS },
            -8,
            "Cannot specify both change address and address type options"
          ],
          [{ changePosition: 2 }, -8, "changePosition out of bounds"],
          [{ changePosition: -1 }, -8, "changePosition out of bounds"],
          [{ minconf: -1 }, -8, "Negative minconf"],
          [{ minconf: 2, maxconf: 1 }, -8, "maxconf can't be lower than minconf: 1 < 2"],
          [{ subtractFeeFromOutputs: [1] }, -8, `${payers}, position too large: 1`],
          [{ subtractFeeFromOutputs: [-1] }, -8, `${payers}, negative position: -1`],
          [{ subtractFeeFromOutputs: [0, 0] }, -8, `${payers}, duplicated position: 0`],
          [{ subtractFeeFromOutputs: [true] }, -8, `${payers}, invalid value type: bool`],
          [{ feeRate: 1, fee_rate: 1 }, -8, "Cannot specify both fee_rate (sat/vB) and feeRate (NMC/kvB)"],
          [{ feeRate: 1, estimate_mode: "unset" }, -8, "Cannot specify both estimate_mode and feeRate"],
          [{ max_tx_weight: 259 }, -4, "Maximum transaction weight must be between 260 and 400000"],
          [{ max_tx_weight: 400_001 }, -4, "Maximum transaction weight must be between 260 and 400000"]
        ] as const
      ) {
        assert.deepStrictEqual(yield* refused(options), invalid(code, message), JSON.stringify(options))
      }
      assert.match((yield* refused({ max_tx_weight: 260 })).message, /^Maximum transaction weight is too low, can not/)
    }))

  it.effect("refuses an invalid transaction, one without outputs, and one that cannot be paid", () =>
    Effect.gen(function*() {
      const { refusal } = yield* paymentsOf(payingWallet([COIN]))
      assert.deepStrictEqual(yield* refusal("fundrawtransaction", "c0ffee"), invalid(-22, "TX decode failed"))
      assert.deepStrictEqual(
        yield* refusal("fundrawtransaction", hexOf(transactionOf([]))),
        invalid(-8, "TX must have at least one output")
      )
      const tooMuch = hexOf(transactionOf([{ value: 2 * COIN, script: ownScript(9).script }]))
      assert.deepStrictEqual(yield* refusal("fundrawtransaction", tooMuch), invalid(-4, "Insufficient funds"))
    }))
})

describe("walletcreatefundedpsbt", () => {
  it.effect("makes a PSBT with the spent transactions and, on request, derivation paths", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call } = yield* paymentsOf(fake)
      const { value } = yield* call("walletcreatefundedpsbt", [], [{ [ADDRESS]: 1 }], 0, { changePosition: 0 })
      const psbt = psbtIn(value)
      assert.strictEqual(Object(value).changepos, 0)
      assert.deepStrictEqual(psbt.transaction.outputs.map(({ value }) => value).at(1), COIN)
      assert.strictEqual(psbt.inputs[0]?.nonWitnessUtxo?.txidKey, fake.sources[0]?.txidKey)
      assert.strictEqual(psbt.inputs[0]?.partialSignatures.size, 0)
      assert.isUndefined(psbt.inputs[0]?.finalScriptSig)
      const [origin] = psbt.inputs[0]?.origins.values() ?? []
      const hardened = 2 ** 31
      assert.deepStrictEqual(origin?.origin.path, [44 + hardened, 1 + hardened, hardened, 0, 1])
      const bare = psbtIn((yield* call("walletcreatefundedpsbt", [], { [ADDRESS]: 1 }, 0, {}, false)).value)
      assert.strictEqual(bare.inputs[0]?.origins.size, 0)
      assert.deepInclude(fake.requests[0], { addInputs: true, version: 1, lockTime: 0 })
    }))

  it.effect("adds inputs to given ones only on request", () =>
    Effect.gen(function*() {
      const fake = payingWallet([COIN, 5 * COIN])
      const { call, refusal } = yield* paymentsOf(fake)
      const txid = displayHash(fake.sources[0]?.txid ?? assert.fail())
      const inputs = [{ txid, vout: 0, sequence: 7 }]
      assert.strictEqual(
        (yield* refusal("walletcreatefundedpsbt", inputs, { [ADDRESS]: 2 }, 0, { replaceable: false })).code,
        -4
      )
      const { value } = yield* call("walletcreatefundedpsbt", inputs, { [ADDRESS]: 2 }, 5, { add_inputs: true })
      const { transaction } = psbtIn(value)
      assert.strictEqual(transaction.inputs.length, 2)
      assert.strictEqual(transaction.inputs[0]?.sequence, 7)
      assert.strictEqual(transaction.lockTime, 5)
    }))
})

describe("simulaterawtransaction", () => {
  it.effect("sums the spent and received amounts of successive transactions", () =>
    Effect.gen(function*() {
      const fake = payingWallet([5 * COIN])
      const source = fake.sources[0] ?? assert.fail()
      const prevout = outpoint(source.txid, 0)
      const coin = { value: 5 * COIN, script: ownScript(1).script, height: 1, coinbase: false }
      const { call, refusal } = yield* paymentsOf(fake, new Map([[outpointKey(prevout), coin]]))
      const first = transactionOf([
        { value: COIN, script: ownScript(9).script },
        { value: 3 * COIN, script: ownScript(1).script },
        { value: COIN / 100, script: nameScript({ op: "name_new", commitment: text("x") }, ownScript(1).script) }
      ], [prevout])
      const simulated = (...rawtxs: ReadonlyArray<Transaction>) => call("simulaterawtransaction", rawtxs.map(hexOf))
      assert.strictEqual((yield* simulated(first)).text, "{\"balance_change\":-2.00000000}")
      const second = transactionOf([{ value: COIN, script: ownScript(9).script }], [outpoint(first.txid, 1)])
      assert.strictEqual((yield* simulated(first, second)).text, "{\"balance_change\":-5.00000000}")
      assert.strictEqual((yield* call("simulaterawtransaction")).text, "{\"balance_change\":0.00000000}")
      assert.deepStrictEqual(
        yield* refusal("simulaterawtransaction", [hexOf(first), hexOf(first)]),
        invalid(-8, "Transaction(s) are spending the same output more than once")
      )
      assert.deepStrictEqual(
        yield* refusal("simulaterawtransaction", [hexOf(second)]),
        invalid(-8, "One or more transaction inputs are missing or have been spent already")
      )
      assert.deepStrictEqual(
        yield* refusal("simulaterawtransaction", ["00"]),
        invalid(-22, "Transaction hex string decoding failure.")
      )
    }))
})
