import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { layerNone } from "../../../src/chain/indexes/Indexes.ts"
import { layerOff } from "../../../src/chain/TxIndex.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { scriptOf } from "../../../src/protocol/address.ts"
import { displayHash, fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { descriptorChecksum } from "../../../src/protocol/descriptor/descriptor.ts"
import { hash160 } from "../../../src/protocol/hash.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { decodeTransaction } from "../../../src/protocol/transaction.ts"
import { encodeWif } from "../../../src/protocol/wif.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { psbtMethods } from "../../../src/rpc/methods/psbtMethods.ts"
import { rawTransactionMethods } from "../../../src/rpc/methods/rawTransactionMethods.ts"
import { transactionMethods } from "../../../src/rpc/methods/transactionMethods.ts"
import { publicKeyOf } from "../../../src/wallet/signing/SigningProvider.ts"
import { servicesOf } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { callsOf, MethodNode, methodNode } from "../../support/methodNode.ts"

const OPTIONS = AnswerOptions.of({
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
})

/** The methods on the chain of `regtest-names`. */
const calls = Effect.gen(function*() {
  const { chain, names, pool } = yield* MethodNode
  const methods = yield* Effect.all([rawTransactionMethods, psbtMethods, transactionMethods]).pipe(
    Effect.provide(servicesOf(chain)),
    Effect.provideService(Mempool, pool),
    Effect.provideService(NameDb, names),
    Effect.provideService(AnswerOptions, OPTIONS),
    Effect.provide([layerOff, layerNone])
  )
  return { ...callsOf(methodTable(...methods)), chain }
})

const TXID = "11".repeat(32)
const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"
const SCRIPT = "76a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac"
/** The transaction and the PSBT of reference/rpc.md 3.4. */
const RAW = `01000000000140420f000000000019${SCRIPT}00000000`
const PSBT = "cHNidP8BACwBAAAAAAFAQg8AAAAAABl2qRTV49HhSaxO2DBhB3+qbY2SFSk4wIisAAAAAAAA"

const key = (n: number, compressed = true) => ({ privateKey: new Uint8Array(32).fill(n), compressed })
const wif = (n: number, compressed = true): string => encodeWif(regtest, key(n, compressed))

layer(methodNode())("making transactions", (it) => {
  it.effect("from inputs and outputs, as a list or as an object", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const hex = `0100000001${TXID}0700000000fdffffff0240420f0000000000` +
        `19${SCRIPT}0000000000000000056a03c0ffee00000000`
      const inputs = [{ txid: TXID, vout: 7, amount: 3 }]
      const list = [{ [ADDRESS]: "0.01" }, { data: "C0FFEE" }]
      assert.strictEqual((yield* call("createrawtransaction", inputs, list)).value, hex)
      assert.strictEqual((yield* call("createrawtransaction", inputs, { [ADDRESS]: 0.01, data: "c0ffee" })).value, hex)
      assert.strictEqual((yield* call("createrawtransaction", [], [{ [ADDRESS]: 0.01 }])).value, RAW)
      assert.strictEqual((yield* call("createpsbt", [], [{ [ADDRESS]: 0.01 }])).value, PSBT)
      assert.strictEqual((yield* call("converttopsbt", RAW)).value, PSBT)
    }))

  it.effect("with the requested sequence numbers, lock time and version", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const made = (...params: ReadonlyArray<unknown>) =>
        Effect.map(call("createrawtransaction", [{ txid: TXID, vout: 0 }], {}, ...params), ({ value }) =>
          decodeTransaction(fromHex(String(value)) ?? assert.fail()))
      const sequence = ({ inputs }: { inputs: ReadonlyArray<{ sequence: number }> }) =>
        inputs[0]?.sequence
      assert.strictEqual(sequence(yield* made()), 0xfffffffd)
      assert.strictEqual(sequence(yield* made(0, true)), 0xfffffffd)
      assert.strictEqual(sequence(yield* made(0, false)), 0xffffffff)
      assert.strictEqual(sequence(yield* made(9, false)), 0xfffffffe)
      const last = yield* made(0xffffffff, null, 3)
      assert.deepStrictEqual([last.lockTime, last.version], [0xffffffff, 3])
      const own = yield* call("createrawtransaction", [{ txid: TXID, vout: 0, sequence: 5 }], {})
      assert.strictEqual(sequence(decodeTransaction(fromHex(String(own.value)) ?? assert.fail())), 5)
    }))

  it.effect("refuses invalid inputs and outputs", () =>
    Effect.gen(function*() {
      const { refusal } = yield* calls
      const one = [{ txid: TXID, vout: 0 }]
      const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, number, string]> = [
        [[one, {}, -1], -8, "Invalid parameter, locktime out of range"],
        [[one, {}, 0x100000000], -8, "Invalid parameter, locktime out of range"],
        [[one, {}, 0, null, 0], -8, "Invalid parameter, version out of range(1~3)"],
        [[one, {}, 0, null, 4], -8, "Invalid parameter, version out of range(1~3)"],
        [
          ["x", {}],
          -3,
          "Wrong type passed:\n{\n    \"Position 1 (inputs)\": \"JSON value of type string is not of expected type " +
          "array\"\n}"
        ],
        [[["x"], {}], -3, "JSON value of type string is not of expected type object"],
        [[[{ vout: 0 }], {}], -3, "JSON value of type null is not of expected type string"],
        [[[{ txid: "zz", vout: 0 }], {}], -8, "txid must be of length 64 (not 2, for 'zz')"],
        [[[{ txid: TXID }], {}], -8, "Invalid parameter, missing vout key"],
        [[[{ txid: TXID, vout: "0" }], {}], -8, "Invalid parameter, missing vout key"],
        [[[{ txid: TXID, vout: -1 }], {}], -8, "Invalid parameter, vout cannot be negative"],
        [[[{ txid: TXID, vout: 0, sequence: -1 }], {}], -8, "Invalid parameter, sequence number is out of range"],
        [
          [[{ txid: TXID, vout: 0, sequence: 0x100000000 }], {}],
          -8,
          "Invalid parameter, sequence number is out of range"
        ],
        [[one, null], -8, "Invalid parameter, output argument must be non-null"],
        [[one, 5], -3, "JSON value of type number is not of expected type array"],
        [[one, ["x"]], -8, "Invalid parameter, key-value pair not an object as expected"],
        [[one, [{}]], -8, "Invalid parameter, key-value pair must contain exactly one key"],
        [[one, [{ data: "00", [ADDRESS]: 1 }]], -8, "Invalid parameter, key-value pair must contain exactly one key"],
        [[one, [{ data: "00" }, { data: "00" }]], -8, "Invalid parameter, duplicate key: data"],
        [[one, { data: "0" }], -8, "Data must be hexadecimal string (not '0')"],
        [[one, { data: "" }], -8, "Data must be hexadecimal string (not '')"],
        [[one, { x: 1 }], -5, "Invalid address: x"],
        [[one, { [ADDRESS]: -1 }], -3, "Amount out of range"],
        [[one, { [ADDRESS]: "0.000000001" }], -3, "Invalid amount"],
        [[one, [{ [ADDRESS]: 1 }, { [ADDRESS]: 1 }]], -8, `Invalid parameter, duplicated address: ${ADDRESS}`],
        [
          [[{ txid: TXID, vout: 0, sequence: 0xfffffffe }], {}, 0, true],
          -8,
          "Invalid parameter combination: Sequence number(s) contradict replaceable option"
        ]
      ]
      for (const [params, code, message] of cases) {
        assert.deepStrictEqual(yield* refusal("createrawtransaction", ...params), { code, message })
        assert.deepStrictEqual(yield* refusal("createpsbt", ...params), { code, message })
      }
    }))

  it.effect("puts names into outputs", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const named = (nameop: object) => call("namerawtransaction", RAW, 0, nameop)
      const update = { op: "name_update", name: "d/raw", value: "v", more: 1 }
      const script = `5305642f72617701766d75${SCRIPT}`
      assert.deepStrictEqual((yield* named(update)).value, {
        hex: `00710000000140420f000000000024${script}00000000`
      })
      const drawn = (yield* named({ op: "name_new", name: "d/raw" })).value as { rand: string; hex: string }
      assert.match(drawn.rand, /^[0-9a-f]{40}$/)
      const again = yield* named({ op: "name_new", name: "d/raw", rand: drawn.rand })
      assert.deepStrictEqual(again.value, drawn)
      assert.notStrictEqual(
        ((yield* named({ op: "name_new", name: "d/raw" })).value as { rand: string }).rand,
        drawn.rand
      )
      const rand = "00".repeat(20)
      const first = (yield* named({ op: "name_firstupdate", name: "d/raw", value: "v", rand })).value as { hex: string }
      assert.include(first.hex, `5205642f72617714${rand}01766d6d${SCRIPT}`)
      assert.deepStrictEqual(
        (yield* call("namepsbt", PSBT, 0, { op: "name_new", name: "d/p", rand: "11".repeat(20) })).value,
        {
          rand: "11".repeat(20),
          psbt:
            "cHNidP8BAEMAcQAAAAFAQg8AAAAAADBRFIRF6yUhoY9U3gRBmA46zszFBE4SbXapFNXj0eFJrE7YMGEHf6ptjZIVKTjAiKwAAAAAAAA="
        }
      )
      const cases: ReadonlyArray<readonly [number, unknown, number, string]> = [
        [1, update, -8, "vout is out of range"],
        [-1, update, -8, "vout is out of range"],
        [0, { op: "x" }, -8, "Invalid name operation"],
        [0, {}, -3, "Missing op"],
        [0, { op: "name_update", value: "v" }, -3, "Missing name"],
        [0, { op: "name_new" }, -3, "JSON value of type null is not of expected type string"],
        [0, { op: "name_update", name: "d/x" }, -3, "Missing value"],
        [0, { op: "name_firstupdate", name: "d/raw", value: "v" }, -3, "Missing rand"],
        [0, { op: "name_new", name: "d/x", rand: "zz" }, -22, "rand must be hex"],
        [0, { op: "name_update", name: "d/ü", value: "v" }, -1000, "Name/value is invalid for encoding ascii"]
      ]
      for (const [vout, nameop, code, message] of cases) {
        assert.deepStrictEqual(yield* refusal("namerawtransaction", RAW, vout, nameop), { code, message })
        assert.deepStrictEqual(yield* refusal("namepsbt", PSBT, vout, nameop), { code, message })
      }
      assert.deepStrictEqual(yield* refusal("namerawtransaction", "00", 0, update), {
        code: -22,
        message: "TX decode failed"
      })
      assert.deepStrictEqual(yield* refusal("namepsbt", "%", 0, update), {
        code: -22,
        message: "TX decode failed invalid base64"
      })
    }))
})

const own = scriptOf({ kind: "pubkeyhash", hash: hash160(publicKeyOf(key(1))) })

layer(methodNode())("signing transactions", (it) => {
  it.effect("with given keys, for outputs from the caller", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const raw = (yield* call("createrawtransaction", [{ txid: TXID, vout: 0 }], { [ADDRESS]: 1 })).value
      const prevtxs = [{ txid: TXID, vout: 0, scriptPubKey: toHex(own), amount: 1.5 }]
      const signed = (yield* call("signrawtransactionwithkey", raw, [wif(1)], prevtxs)).value as {
        hex: string
        complete: boolean
      }
      assert.isTrue(signed.complete)
      assert.notProperty(signed, "errors")
      assert.match(signed.hex, /01210[23][0-9a-f]{64}/)
      const failed = (yield* call("signrawtransactionwithkey", raw, [wif(2)], prevtxs)).value
      assert.deepInclude(failed as object, { hex: raw, complete: false })
      assert.deepStrictEqual((failed as { errors: unknown }).errors, [{
        txid: TXID,
        vout: 0,
        witness: [],
        scriptSig: "",
        sequence: 0xfffffffd,
        error: "Unable to sign input, invalid stack size (possibly missing key)"
      }])
      const unknown = (yield* call("signrawtransactionwithkey", raw, [wif(1)])).value as {
        errors: ReadonlyArray<{ error: string }>
      }
      assert.strictEqual(unknown.errors[0]?.error, "Input not found or already spent")
    }))

  it.effect("signs a multisig in parts and combines them in a PSBT", () =>
    Effect.gen(function*() {
      const { call } = yield* calls
      const pubkeys = [1, 2, 3].map((n) => toHex(pubkeyOf(n)))
      for (const type of ["legacy", "p2sh-segwit", "bech32"]) {
        const { address, descriptor, redeemScript } = (yield* call("createmultisig", 2, pubkeys, type)).value as {
          address: string
          descriptor: string
          redeemScript: string
        }
        assert.deepStrictEqual((yield* call("deriveaddresses", descriptor)).value, [address])
        const raw = (yield* call("createrawtransaction", [{ txid: TXID, vout: 0 }], { [ADDRESS]: 1 })).value
        const funding = (yield* call("createrawtransaction", [], { [address]: 1.5 })).value
        const scriptPubKey = toHex(
          decodeTransaction(fromHex(String(funding)) ?? assert.fail(), false).outputs[0]?.script ?? assert.fail()
        )
        const prevtxs = [{ txid: TXID, vout: 0, scriptPubKey, redeemScript, amount: "1.5" }]
        const half = (yield* call("signrawtransactionwithkey", raw, [wif(1)], prevtxs)).value as {
          hex: string
          complete: boolean
        }
        assert.isFalse(half.complete)
        const whole = (yield* call("signrawtransactionwithkey", half.hex, [wif(3)], prevtxs)).value
        assert.deepInclude(whole as object, { complete: true })
      }
    }))

  it.effect("refuses invalid keys, outputs and hash types, and shows no key", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const raw = (yield* call("createrawtransaction", [{ txid: TXID, vout: 0 }], { [ADDRESS]: 1 })).value
      const p2sh = toHex(scriptOf({ kind: "scripthash", hash: new Uint8Array(20) }))
      const prev = { txid: TXID, vout: 0, scriptPubKey: p2sh }
      const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, number, string | RegExp]> = [
        [["00", []], -22, "TX decode failed. Make sure the tx has at least one input."],
        [[raw, ["cQsecret"]], -5, "Invalid private key"],
        [[raw, [], [5]], -22, "expected object with {\"txid'\",\"vout\",\"scriptPubKey\"}"],
        [[raw, [], [{ txid: TXID, vout: 0 }]], -3, "Missing scriptPubKey"],
        [[raw, [], [{ ...prev, vout: -1 }]], -22, "vout cannot be negative"],
        [[raw, [], [prev]], -8, "Missing redeemScript/witnessScript"],
        [[raw, [], [{ ...prev, redeemScript: "51" }]], -8, "redeemScript/witnessScript does not match scriptPubKey"],
        [
          [raw, [], [{ ...prev, redeemScript: "51", witnessScript: "52" }]],
          -8,
          "redeemScript does not correspond to witnessScript"
        ],
        [[raw, [], [], "all"], -8, "'all' is not a valid sighash parameter."]
      ]
      for (const [params, code, message] of cases) {
        assert.deepStrictEqual(yield* refusal("signrawtransactionwithkey", ...params), { code, message })
      }
      const witness = toHex(scriptOf({ kind: "witness", version: 0, program: hash160(pubkeyOf(1)) }))
      assert.deepStrictEqual(
        yield* refusal("signrawtransactionwithkey", raw, [wif(1)], [{ txid: TXID, vout: 0, scriptPubKey: witness }]),
        {
          code: -3,
          message: `Missing amount for CTxOut(nValue=21000000.00000000, scriptPubKey=${witness.slice(0, 30)})`
        }
      )
    }))

  it.effect("combines copies of a transaction whose coins are in the chain", () =>
    Effect.gen(function*() {
      const { call, chain, refusal } = yield* calls
      const raw = (yield* call("createrawtransaction", [{ txid: TXID, vout: 0 }], { [ADDRESS]: 1 })).value
      assert.deepStrictEqual(yield* refusal("combinerawtransaction", []), {
        code: -22,
        message: "Missing transactions"
      })
      assert.deepStrictEqual(yield* refusal("combinerawtransaction", [raw, "00"]), {
        code: -22,
        message: "TX decode failed for tx 1. Make sure the tx has at least one input."
      })
      assert.deepStrictEqual(yield* refusal("combinerawtransaction", [raw]), {
        code: -25,
        message: "Input not found or already spent"
      })
      const tip = yield* chain.tip
      const { transactions } = yield* chain.block(tip.hash)
      const txid = displayHash(transactions[0]?.txid ?? assert.fail())
      const unsigned = (yield* call("createrawtransaction", [{ txid, vout: 0 }], { [ADDRESS]: 1 })).value
      assert.strictEqual((yield* call("combinerawtransaction", [unsigned, unsigned])).value, unsigned)
    }))
})

const pubkeyOf = (n: number): Uint8Array => publicKeyOf(key(n))

layer(methodNode())("keys, addresses and messages", (it) => {
  it.effect("signs messages and verifies them", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      for (const compressed of [true, false]) {
        const descriptor = `pkh(${wif(1, compressed)})`
        const [address] = (yield* call("deriveaddresses", `${descriptor}#${descriptorChecksum(descriptor)}`))
          .value as ReadonlyArray<string>
        const signature = (yield* call("signmessagewithprivkey", wif(1, compressed), "héllo")).value
        assert.isTrue((yield* call("verifymessage", address, signature, "héllo")).value)
        assert.isFalse((yield* call("verifymessage", address, signature, "hello")).value)
        assert.isFalse((yield* call("verifymessage", ADDRESS, signature, "héllo")).value)
        assert.isFalse((yield* call("verifymessage", address, "AAAA", "héllo")).value)
      }
      assert.deepStrictEqual(yield* refusal("signmessagewithprivkey", "x", "m"), {
        code: -5,
        message: "Invalid private key"
      })
      assert.deepStrictEqual(yield* refusal("verifymessage", "x", "AAAA", "m"), {
        code: -5,
        message: "Invalid address"
      })
      assert.deepStrictEqual(yield* refusal("verifymessage", "2NC9nbEkYxPcnoc62E4YNQg2uGGW1vtKpPP", "AAAA", "m"), {
        code: -3,
        message: "Address does not refer to key"
      })
      assert.deepStrictEqual(yield* refusal("verifymessage", ADDRESS, "A", "m"), {
        code: -3,
        message: "Malformed base64 encoding"
      })
    }))

  it.effect("makes multisigs and refuses invalid parameters", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const keys = [1, 2].map((n) => toHex(pubkeyOf(n)))
      const uncompressed = toHex(publicKeyOf(key(1, false)))
      const warned = (yield* call("createmultisig", 1, [uncompressed], "bech32")).value as { warnings: unknown }
      assert.deepStrictEqual(warned.warnings, [
        "Unable to make chosen address type, please ensure no uncompressed public keys are present."
      ])
      assert.notProperty((yield* call("createmultisig", 1, [uncompressed])).value as object, "warnings")
      const many = Array.from({ length: 16 }, (_, n) => toHex(pubkeyOf(n + 1)))
      const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, number, string]> = [
        [[0, keys], -8, "a multisignature address must require at least one key to redeem"],
        [[3, keys], -8, "not enough keys supplied (got 2 keys, but need at least 3 to redeem)"],
        [[1, ["xx"]], -5, "Pubkey \"xx\" must be a hex string"],
        [[1, ["00"]], -5, "Pubkey \"00\" must have a length of either 33 or 65 bytes"],
        [[1, ["00".repeat(33)]], -5, `Pubkey "${"00".repeat(33)}" must be cryptographically valid.`],
        [[1, keys, "x"], -5, "Unknown address type 'x'"],
        [[1, keys, "bech32m"], -5, "createmultisig cannot create bech32m multisig addresses"],
        [[1, many], -8, "redeemScript exceeds size limit: 547 > 520"]
      ]
      for (const [params, code, message] of cases) {
        assert.deepStrictEqual(yield* refusal("createmultisig", ...params), { code, message })
      }
      assert.property((yield* call("createmultisig", 16, many, "bech32")).value as object, "address")
    }))

  it.effect("derives addresses of descriptors with all their keys", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* calls
      const checked = (text: string): string => `${text}#${descriptorChecksum(text)}`
      const combo = (yield* call("deriveaddresses", checked(`combo(${toHex(pubkeyOf(1))})`))).value
      assert.strictEqual((combo as ReadonlyArray<string>).length, 3)
      assert.deepStrictEqual(yield* refusal("deriveaddresses", `addr(${ADDRESS})`), {
        code: -5,
        message: "Missing checksum"
      })
      assert.deepStrictEqual(yield* refusal("deriveaddresses", checked(`addr(${ADDRESS})`), 5), {
        code: -8,
        message: "Range should not be specified for an un-ranged descriptor"
      })
      assert.deepStrictEqual(yield* refusal("deriveaddresses", checked(`addr(${ADDRESS})`), [2, 1]), {
        code: -8,
        message: "Range specified as [begin,end] must not have begin after end"
      })
      assert.deepStrictEqual(yield* refusal("deriveaddresses", checked("raw(51)")), {
        code: -5,
        message: "Descriptor does not have a corresponding address"
      })
    }))
})
