import { assert, describe, it } from "@effect/vitest"
import type { Coin } from "../../../src/consensus/view.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { decodeTransaction, makeTransaction, outpoint } from "../../../src/protocol/transaction.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import { transactionBlockJson, transactionJson, wholeTransactionJson } from "../../../src/rpc/shapes/transaction.ts"
import { hash, hex } from "../../support/bytes.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

const context: ShapeContext = { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" }

const examples = items(at(recordedJson("regtest-names/tx-examples.json"), "examples"))

describe("transactions that the reference node decoded", () => {
  it("are 89", () => assert.strictEqual(examples.length, 89))

  it.each(examples.map((example) => [stringAt(example, "type"), example] as const))("%s", (_, example) => {
    const transaction = decodeTransaction(hex(stringAt(example, "hex")))
    assert.strictEqual(encodeJson(transactionJson(context, transaction)), recordedText(at(example, "decoded")))
  })
})

const A_SCRIPT = hex("76a914751e76e8199196d454941c45d1b3a323f1433bd688ac")

const transaction = makeTransaction({
  version: 2,
  inputs: [
    { prevout: outpoint(hash("11".repeat(32)), 1), scriptSig: hex("51"), sequence: 0xfffffffd, witness: [] },
    { prevout: outpoint(hash("22".repeat(32)), 0), scriptSig: hex(""), sequence: 0, witness: [hex(""), hex("aabb")] }
  ],
  outputs: [{ value: 149_999_000, script: A_SCRIPT }],
  lockTime: 7
})

const spent: ReadonlyArray<Coin> = [
  { value: 100_000_000, script: hex("51"), height: 5, coinbase: true },
  { value: 50_000_000, script: A_SCRIPT, height: 9, coinbase: false }
]

describe("what is shown beside a transaction", () => {
  it("nothing by default", () => {
    const members = JSON.parse(encodeJson(transactionJson(context, transaction)))
    assert.deepStrictEqual(Object.keys(members).at(-1), "vout")
    assert.deepStrictEqual(Object.keys(members.vin[1]), ["txid", "vout", "scriptSig", "txinwitness", "sequence"])
    assert.deepStrictEqual(members.vin[1].txinwitness, ["", "aabb"])
  })

  it("the fee and the serialization", () => {
    const text = encodeJson(wholeTransactionJson(context, transaction, { spent }))
    assert.include(text, "],\"fee\":0.00001000,\"hex\":\"02000000000102")
    assert.notInclude(text, "prevout")
  })

  it("the spent coins, between witness and sequence", () => {
    const { vin } = JSON.parse(encodeJson(wholeTransactionJson(context, transaction, { spent, prevouts: true })))
    assert.deepStrictEqual(vin[0].prevout, {
      generated: true,
      height: 5,
      value: 1,
      scriptPubKey: { asm: "OP_NAME_NEW", desc: "raw(51)#8lvh9jxk", hex: "51", type: "nonstandard" }
    })
    assert.strictEqual(vin[1].prevout.height, 9)
    assert.strictEqual(vin[1].prevout.generated, false)
    assert.deepStrictEqual(Object.keys(vin[1]), ["txid", "vout", "scriptSig", "txinwitness", "prevout", "sequence"])
  })

  it("no prevouts if the coins are unknown", () => {
    assert.notInclude(encodeJson(wholeTransactionJson(context, transaction, { prevouts: true })), "prevout")
  })

  it("the block", () => {
    const block = { hash: hash("ab".repeat(31) + "01"), confirmations: 3, time: 1_700_000_000 }
    assert.strictEqual(
      encodeJson(transactionBlockJson(block)),
      `{"blockhash":"${"ab".repeat(31)}01","confirmations":3,"time":1700000000,"blocktime":1700000000}`
    )
    assert.strictEqual(
      encodeJson(transactionBlockJson({ ...block, confirmations: 0, time: undefined })),
      `{"blockhash":"${"ab".repeat(31)}01","confirmations":0}`
    )
  })
})

describe("amounts that no coin can have", () => {
  const withValue = (value: string): string => {
    const bytes = hex(`01000000 01 ${"00".repeat(36)} 00 ffffffff 02 ${value} 00 e803000000000000 00 00000000`)
    const { vout } = transactionJson(context, decodeTransaction(bytes))
    return encodeJson(vout ?? null).replaceAll(/,"n".*?\}\}/g, "")
  }

  it.each([
    ["ffffffffffffff7f", "92233720368.54775807"],
    ["0000000000000080", "-92233720368.54775808"],
    ["ffffffffffffffff", "-0.00000001"],
    ["ffffffffffff1f00", "90071992.54740991"],
    ["0100000000002000", "90071992.54740993"],
    ["0100000000000000", "0.00000001"]
  ])("%s", (value, expected) => {
    assert.strictEqual(withValue(value), `[{"value":${expected},{"value":0.00001000]`)
  })

  it("in a transaction with witnesses", () => {
    const bytes = hex(`02000000 0001 01 ${"11".repeat(36)} 00 ffffffff 01 ffffffffffffff7f 0151 01 02aabb 00000000`)
    assert.include(encodeJson(transactionJson(context, decodeTransaction(bytes))), "\"value\":92233720368.54775807,")
  })
})
