import { assert, describe } from "@effect/vitest"
import { Effect, Either } from "effect"
import { Indexes } from "../../../src/chain/indexes/Indexes.ts"
import { layerOff } from "../../../src/chain/TxIndex.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { scriptOf } from "../../../src/protocol/address.ts"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { hash160 } from "../../../src/protocol/hash.ts"
import { nameScript } from "../../../src/protocol/nameOperation.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { combinePsbtsSteps } from "../../../src/protocol/psbt/combine.ts"
import { EMPTY_INPUT, type Psbt, type PsbtInput } from "../../../src/protocol/psbt/Psbt.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../../src/protocol/transaction.ts"
import { encodeWif } from "../../../src/protocol/wif.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { psbtMethods } from "../../../src/rpc/methods/psbtMethods.ts"
import { psbtUpdateMethods } from "../../../src/rpc/methods/psbtUpdateMethods.ts"
import { expandDescriptor } from "../../../src/wallet/keys/expandDescriptor.ts"
import { parseDescriptors } from "../../../src/wallet/keys/parseDescriptor.ts"
import { parsePsbtSteps, psbtText } from "../../../src/wallet/signing/psbtText.ts"
import { makeProvider, publicKeyOf, type SigningKey } from "../../../src/wallet/signing/SigningProvider.ts"
import { signPsbt } from "../../../src/wallet/signing/signPsbt.ts"
import { servicesOf } from "../../support/chain.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"
import { layer } from "../../support/layer.ts"
import { callsOf, MethodNode, methodNode } from "../../support/methodNode.ts"

/** A PSBT followed by a byte. */
const toBase64 = (text: string, more: number): string =>
  Buffer.concat([Buffer.from(text, "base64"), Uint8Array.of(more)]).toString("base64")

const OPTIONS = AnswerOptions.of({
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
})

/** The methods on the chain of `regtest-names`. */
const calls = Effect.gen(function*() {
  const { chain, indexes, names, pool } = yield* MethodNode
  const methods = yield* Effect.map(Effect.all([psbtMethods, psbtUpdateMethods]), (lists) => lists.flat()).pipe(
    Effect.provide(servicesOf(chain)),
    Effect.provideService(Mempool, pool),
    Effect.provideService(NameDb, names),
    Effect.provideService(Indexes, indexes),
    Effect.provideService(AnswerOptions, OPTIONS),
    Effect.provide(layerOff)
  )
  return { ...callsOf(methodTable(methods)), chain }
})

const EXAMPLE = "cHNidP8BACwBAAAAAAFAQg8AAAAAABl2qRTV49HhSaxO2DBhB3+qbY2SFSk4wIisAAAAAAAA"
const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

const parsed = (text: string): Psbt => {
  const result = runSteps(parsePsbtSteps(text))
  return "error" in result ? assert.fail(result.error) : result.psbt
}

const keys = [1, 2].map((n): SigningKey => ({ privateKey: new Uint8Array(32).fill(n), compressed: true }))
const [first, second] = keys
if (first === undefined || second === undefined) throw new Error("no keys")

const wpkh = (key: SigningKey): Uint8Array =>
  scriptOf({ kind: "witness", version: 0, program: hash160(publicKeyOf(key)) })
const pkh = (key: SigningKey): Uint8Array => scriptOf({ kind: "pubkeyhash", hash: hash160(publicKeyOf(key)) })

/** A transaction with one output for each script, 1 NMC each. */
const funding = (...scripts: ReadonlyArray<Uint8Array>): Transaction =>
  makeTransaction({
    version: 2,
    inputs: [{
      prevout: outpoint(new Uint8Array(32).fill(3), 0),
      scriptSig: Uint8Array.of(0x51),
      sequence: 1,
      witness: NO_WITNESS
    }],
    outputs: scripts.map((script) => ({ value: 100_000_000, script })),
    lockTime: 0
  })

const inputsOf = ({ outputs, txid }: Transaction) => outputs.map((_, vout) => ({ txid: displayHash(txid), vout }))

const withInputs = (text: unknown, change: (input: PsbtInput, n: number) => PsbtInput): string => {
  const psbt = parsed(String(text))
  return psbtText({ ...psbt, inputs: psbt.inputs.map(change) })
}

layer(methodNode())("PSBTs", (it) => {
  it.effect("refuses a text that is not a PSBT", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const cases = [["%", "invalid base64"], ["AAAA", "SpanReader::read(): end of data: iostream error"], [
        "AAAAAAA=",
        "Invalid PSBT magic bytes: iostream error"
      ], [toBase64(EXAMPLE, 0), "extra data after PSBT"]] as const
      for (const method of ["decodepsbt", "finalizepsbt", "analyzepsbt", "utxoupdatepsbt"]) {
        for (const [text, why] of cases) {
          assert.deepStrictEqual(yield* refusal(method, text), { code: -22, message: `TX decode failed ${why}` })
        }
      }
      assert.deepStrictEqual(yield* refusal("combinepsbt", []), {
        code: -8,
        message: "Parameter 'txs' cannot be empty"
      })
      assert.deepStrictEqual(yield* refusal("combinepsbt", [EXAMPLE, "%"]), {
        code: -22,
        message: "TX decode failed invalid base64"
      })
      const other = (yield* call("createpsbt", [], { [ADDRESS]: 3 })).value
      assert.deepStrictEqual(yield* refusal("combinepsbt", [EXAMPLE, other]), {
        code: -8,
        message: "PSBTs not compatible (different transactions)"
      })
      assert.deepStrictEqual(yield* refusal("joinpsbts", [EXAMPLE]), {
        code: -8,
        message: "At least two PSBTs are required to join PSBTs."
      })
      assert.deepStrictEqual(yield* refusal("converttopsbt", "00"), { code: -22, message: "TX decode failed" })
    }))

  it.effect("are made from transactions, without their signatures if permitted", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const hex = toHex(funding(pkh(first)).bytes)
      assert.deepStrictEqual(yield* refusal("converttopsbt", hex), {
        code: -22,
        message: "Inputs must not have scriptSigs and scriptWitnesses"
      })
      const psbt = parsed(String((yield* call("converttopsbt", hex, true)).value))
      assert.strictEqual(psbt.transaction.inputs[0]?.scriptSig.length, 0)
      assert.strictEqual(psbt.inputs.length, 1)
    }))

  it.effect("are not made of a transaction with an amount that would be rounded", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const { inputs, lockTime, version } = funding()
      const made = (value: number): string => {
        const unsigned = inputs.map((input) => ({ ...input, scriptSig: new Uint8Array() }))
        return toHex(
          makeTransaction({ version, inputs: unsigned, outputs: [{ value, script: pkh(first) }], lockTime }).bytes
        )
      }
      const exact = yield* call("converttopsbt", made(2 ** 53 - 1))
      assert.strictEqual(parsed(String(exact.value)).transaction.outputs[0]?.value, 2 ** 53 - 1)
      assert.deepStrictEqual(yield* refusal("converttopsbt", made(2 ** 60)), { code: -22, message: "TX decode failed" })
    }))

  it.effect("are signed with the keys of descriptors", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const paid = funding(wpkh(first), wpkh(second))
      const empty = (yield* call("createpsbt", inputsOf(paid), { [ADDRESS]: 1.9999 })).value
      const filled = withInputs(empty, (input, n) => ({ ...input, witnessUtxo: paid.outputs[n] }))
      const descriptors = keys.map((key) => `wpkh(${encodeWif(regtest, key)})`)
      const half = (yield* call("descriptorprocesspsbt", filled, descriptors.slice(0, 1))).value
      assert.deepInclude(half, { complete: false })
      assert.notProperty(half, "hex")
      const whole = (yield* call("descriptorprocesspsbt", filled, descriptors)).value
      assert.deepInclude(whole, { complete: true })
      assert.property(whole, "hex")
      const open = (yield* call("descriptorprocesspsbt", filled, descriptors, "ALL", false, false)).value
      assert.deepInclude(open, { complete: false })
      const [input] = parsed(String((open as { psbt: string }).psbt)).inputs
      assert.deepStrictEqual([input?.partialSignatures.size, input?.origins.size], [1, 0])
      assert.deepStrictEqual(yield* refusal("descriptorprocesspsbt", filled, descriptors, "all"), {
        code: -8,
        message: "'all' is not a valid sighash parameter."
      })
      const other = withInputs(filled, (input) => ({ ...input, sighashType: 2 }))
      assert.deepStrictEqual(yield* refusal("descriptorprocesspsbt", other, descriptors, "ALL"), {
        code: -22,
        message: "Specified sighash value does not match value stored in PSBT"
      })
    }))

  it.effect("are signed with derived keys, in a range, and in a script tree", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const key =
        "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
      const x = "50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0"
      const descriptors = [
        `wpkh(${key}/1h/*h)`,
        `wsh(and_v(v:pkh(${key}/2/*),older(1)))`,
        `tr(${x},{pk(${key}/3/*),and_v(v:pk(${toHex(publicKeyOf(first)).slice(2)}),pkh(${key}/4/*))})`
      ]
      for (const desc of descriptors) {
        const [descriptor] = Either.getOrThrow(parseDescriptors(regtest, desc, "optional"))
        const [found] = expandDescriptor(descriptor ?? assert.fail())(3)
        const paid = funding(found?.script ?? assert.fail())
        const empty =
          (yield* call("createpsbt", [{ ...inputsOf(paid)[0], sequence: 1 }], { [ADDRESS]: 0.9 }, 0, true, 2)).value
        const filled = withInputs(empty, (input) => ({ ...input, witnessUtxo: paid.outputs[0] }))
        assert.deepInclude((yield* call("descriptorprocesspsbt", filled, [{ desc, range: 2 }])).value, {
          complete: false
        })
        const whole = (yield* call("descriptorprocesspsbt", filled, [{ desc, range: [3, 3] }])).value
        assert.deepInclude(whole, { complete: true }, desc)
      }
    }))

  it.effect("are not complete with final scripts that do not spend their outputs", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const paid = funding(wpkh(first), pkh(second))
      const empty = (yield* call("createpsbt", inputsOf(paid), { [ADDRESS]: 1.9999 })).value
      const rubbish = [
        (input: PsbtInput) => ({ ...input, witnessUtxo: paid.outputs[0], finalScriptWitness: [Uint8Array.of(1)] }),
        (input: PsbtInput) => ({ ...input, nonWitnessUtxo: paid, finalScriptSig: Uint8Array.of(0x51) })
      ]
      const text = withInputs(empty, (input, n) => rubbish[n]?.(input) ?? input)
      assert.deepInclude((yield* call("finalizepsbt", text)).value, { complete: false })
      const { inputs } = (yield* call("analyzepsbt", text)).value as { inputs: ReadonlyArray<object> }
      assert.deepStrictEqual(inputs, [
        { has_utxo: true, is_final: false, next: "updater" },
        { has_utxo: true, is_final: false, next: "updater" }
      ])
    }))

  it.effect("show the name operation of an inner script", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const text8 = (text: string) => new TextEncoder().encode(text)
      const named = nameScript({ op: "name_update", name: text8("d/a"), value: text8("{}") }, pkh(first))
      const empty = (yield* call("createpsbt", inputsOf(funding(pkh(first))), { [ADDRESS]: 0.5 })).value
      const text = withInputs(empty, (input) => ({ ...input, redeemScript: named, witnessScript: named }))
      const { inputs: [input] } = (yield* call("decodepsbt", text)).value as {
        inputs: ReadonlyArray<Record<"redeem_script" | "witness_script", { nameOp: object }>>
      }
      assert.deepInclude(input?.redeem_script.nameOp, { op: "name_update", name: "d/a" })
      assert.deepInclude(input?.witness_script.nameOp, { op: "name_update", name: "d/a" })
    }))

  it.effect("are completed, signed, finalized and extracted, and each step is reported", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const paid = funding(pkh(first), wpkh(second))
      const empty = (yield* call("createpsbt", inputsOf(paid), { [ADDRESS]: 1.9999 })).value
      const analyze = (text: unknown) =>
        Effect.map(call("analyzepsbt", text), ({ value }) => value as { next: string; inputs: ReadonlyArray<object> })
      const lost = yield* analyze(empty)
      assert.strictEqual(lost.next, "updater")
      assert.deepStrictEqual(lost.inputs[0], { has_utxo: false, is_final: false, next: "updater" })

      const filled = withInputs(empty, (input) => ({ ...input, nonWitnessUtxo: paid }))
      const told = yield* analyze(filled)
      assert.deepStrictEqual(told.inputs[0], {
        has_utxo: true,
        is_final: false,
        next: "updater",
        missing: { pubkeys: [toHex(hash160(publicKeyOf(first)))] }
      })
      assert.deepInclude(told as object, { fee: 0.0001 })

      const descriptors = [`pkh(${toHex(publicKeyOf(first))})`, { desc: `wpkh(${toHex(publicKeyOf(second))})` }]
      const updated = (yield* call("utxoupdatepsbt", filled, descriptors)).value
      const ready = yield* analyze(updated)
      assert.strictEqual(ready.next, "signer")
      assert.deepStrictEqual(ready.inputs[1], {
        has_utxo: true,
        is_final: false,
        next: "signer",
        missing: { signatures: [toHex(hash160(publicKeyOf(second)))] }
      })
      assert.property(ready, "estimated_vsize")

      const halves = keys.map((key) =>
        psbtText(signPsbt(parsed(String(updated)), makeProvider({ keys: [key] }), { finalize: false }).psbt)
      )
      assert.deepInclude((yield* call("finalizepsbt", halves[0])).value as object, { complete: false })
      const whole = (yield* call("combinepsbt", halves)).value
      assert.strictEqual((yield* analyze(whole)).next, "finalizer")
      const finished = (yield* call("finalizepsbt", whole, false)).value as { psbt: string; complete: boolean }
      assert.isTrue(finished.complete)
      const final = yield* analyze(finished.psbt)
      assert.strictEqual(final.next, "extractor")
      const { hex } = (yield* call("finalizepsbt", finished.psbt)).value as { hex: string }
      assert.strictEqual(hex, ((yield* call("finalizepsbt", whole)).value as { hex: string }).hex)
      const size = (yield* call("analyzepsbt", updated)).value as { estimated_vsize: number }
      assert.approximately(size.estimated_vsize, hex.length / 2 - 80, 3)
    }))

  it.effect("are invalid with impossible amounts", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const paid = funding(wpkh(first), wpkh(second))
      const empty = (yield* call("createpsbt", inputsOf(paid), { [ADDRESS]: 1 })).value
      const invalid = (utxo: { value: number; script: Uint8Array }) =>
        Effect.map(
          call("analyzepsbt", withInputs(empty, (input, n) => n === 0 ? input : { ...input, witnessUtxo: utxo })),
          ({ value }) => value
        )
      assert.deepStrictEqual(yield* invalid({ value: 2_100_000_000_000_001, script: wpkh(first) }), {
        next: "creator",
        error: "PSBT is not valid. Input 1 has invalid value"
      })
      assert.deepStrictEqual(yield* invalid({ value: 5, script: Uint8Array.of(0x6a) }), {
        next: "creator",
        error: "PSBT is not valid. Input 1 spends unspendable output"
      })
    }))

  it.effect("get their spent outputs from the chain", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* calls
      const { transactions } = yield* chain.block((yield* chain.tip).hash)
      const coinbase = transactions[0] ?? assert.fail()
      const empty = (yield* call("createpsbt", [{ txid: displayHash(coinbase.txid), vout: 0 }], { [ADDRESS]: 1 })).value
      const [input = EMPTY_INPUT] = parsed(String((yield* call("utxoupdatepsbt", empty)).value)).inputs
      // Without an index the whole transaction is not found, and its output alone suffices only for a witness input.
      assert.isUndefined(input.nonWitnessUtxo)
      const isSegwit = (coinbase.outputs[0]?.script ?? assert.fail())[0] === 0
      assert.strictEqual(input.witnessUtxo !== undefined, isSegwit)
    }))

  it.effect("are joined in random order, without signatures", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const paid = [funding(wpkh(first)), funding(wpkh(second), pkh(first))]
      const made = yield* Effect.forEach(paid, (one) =>
        Effect.map(call("createpsbt", inputsOf(one), { [ADDRESS]: 0.5 }), ({ value }) => String(value)))
      const joined = parsed(String((yield* call("joinpsbts", made)).value))
      assert.deepStrictEqual([joined.inputs.length, joined.outputs.length], [3, 2])
      const [repeated] = made
      assert.deepStrictEqual(yield* refusal("joinpsbts", [repeated, repeated]), {
        code: -8,
        message: `Input ${displayHash((paid[0] ?? assert.fail()).txid)}:0 exists in multiple PSBTs`
      })
    }))

  it.effect("refuses invalid descriptors", () =>
    Effect.gen(function*() {
      const { refusal } = yield* calls
      for (const [given, code] of [["x(1)", -5], [{}, -8], [5, -8]] as const) {
        assert.strictEqual((yield* refusal("utxoupdatepsbt", EXAMPLE, [given])).code, code)
      }
    }))
})

describe.skipIf(!hasShared)("the reference node's PSBTs", () => {
  layer(methodNode({ blocks: false }))((it) => {
    it.effect("are decoded and analyzed as described", () =>
      Effect.gen(function*() {
        const { call } = yield* calls
        const { valid } = fixtureJson<{ readonly valid: ReadonlyArray<string> }>("core/functional/rpc_psbt.json")
        for (const text of valid) {
          const { value } = yield* call("decodepsbt", text)
          assert.strictEqual((value as { inputs: ReadonlyArray<unknown> }).inputs.length, parsed(text).inputs.length)
          yield* call("analyzepsbt", text)
          yield* call("finalizepsbt", text)
          yield* call("utxoupdatepsbt", text)
          assert.isDefined(runSteps(combinePsbtsSteps(parsed(text), [parsed(text)])))
        }
      }), 30_000)
  })
})
