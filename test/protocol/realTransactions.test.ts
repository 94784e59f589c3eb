import { assert, describe, it } from "@effect/vitest"
import { displayHash, EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { NAME_TX_VERSION, nameCommitment, parseNameScript } from "../../src/protocol/nameOperation.ts"
import {
  decodeTransaction,
  makeTransaction,
  prevoutIndex,
  prevoutTxid,
  type Transaction
} from "../../src/protocol/transaction.ts"
import { everyTruncationFails, hex } from "../support/bytes.ts"
import { fixtureBytes, fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"
import { survivesRoundTrip } from "./transactionParts.ts"

interface Electrum {
  readonly txid: string
  readonly hash: string
  readonly version: number
  readonly size: number
  readonly vsize: number
  readonly locktime: number
  readonly vin: ReadonlyArray<{ readonly txid: string; readonly vout: number; readonly sequence: number }>
  readonly vout: ReadonlyArray<{
    readonly scriptPubKey: { readonly hex: string; readonly nameOp?: { readonly op: string; readonly hash?: string } }
  }>
  readonly hex: string
}

/** The fields of a transaction in the fixtures. */
const agrees = (transaction: Transaction, expected: Electrum): void => {
  assert.strictEqual(displayHash(transaction.txid), expected.txid)
  assert.strictEqual(displayHash(transaction.wtxid), expected.hash)
  assert.strictEqual(transaction.version, expected.version)
  assert.strictEqual(transaction.size, expected.size)
  assert.strictEqual(transaction.virtualSize, expected.vsize)
  assert.strictEqual(transaction.lockTime, expected.locktime)
  assert.deepStrictEqual(
    transaction.inputs.map((
      { prevout, sequence }
    ) => [displayHash(prevoutTxid(prevout)), prevoutIndex(prevout), sequence]),
    expected.vin.map(({ sequence, txid, vout }) => [txid, vout, sequence])
  )
  assert.deepStrictEqual(
    transaction.outputs.map(({ script }) => toHex(script)),
    expected.vout.map(({ scriptPubKey }) => scriptPubKey.hex)
  )
}

const MAINNET = "namecoin-mainnet/transactions"

describe.skipIf(!hasShared)("transactions of the main network", () => {
  it.each(["0c6867", "5e3495", "cfc5d7", "037339", "460f2b"])("electrumx_tx_%s", (name) => {
    const expected = fixtureJson<Electrum>(`${MAINNET}/electrumx_tx_${name}.json`)
    const transaction = decodeTransaction(hex(expected.hex))
    agrees(transaction, expected)
    survivesRoundTrip(transaction)
    everyTruncationFails(transaction.bytes, decodeTransaction)
    for (const [i, { scriptPubKey }] of expected.vout.entries()) {
      const operation = parseNameScript(transaction.outputs[i]?.script ?? EMPTY)?.operation
      assert.strictEqual(operation?.op, scriptPubKey.nameOp?.op)
      if (operation?.op === "name_new") assert.strictEqual(toHex(operation.commitment), scriptPubKey.nameOp?.hash)
    }
  })

  it.each([
    [
      "namecoin_name_new_d_bitcoin",
      257,
      "6047ce28a076118403aa960909c9c4d0056f97ee0da4d37d109515f8367e2ccb",
      "name_new"
    ],
    [
      "namecoin_name_firstupdate_d_bitcoin",
      476,
      "ab1207bd605af57ed0b5325ac94d19578cff3bce668ebe8dda2f42a00b001f5d",
      "name_firstupdate"
    ],
    [
      "namecoin_name_update_d_bitcoin",
      635,
      "3376c5e0e5b69d0a104863de8432d7c13f891065e7628a72487b770c6418d397",
      "name_update"
    ]
  ])("%s (reference/protocol.md A.1)", (file, size, txid, op) => {
    const transaction = decodeTransaction(fixtureBytes(`${MAINNET}/libdohj/${file}.bin`))
    assert.strictEqual(transaction.size, size)
    assert.strictEqual(displayHash(transaction.txid), txid)
    assert.strictEqual(transaction.version, NAME_TX_VERSION)
    const output = transaction.outputs[1] ?? assert.fail("there is no output 1")
    assert.strictEqual(output.value, 1_000_000)
    const operation = parseNameScript(output.script)?.operation ?? assert.fail("output 1 has no name")
    assert.strictEqual(operation.op, op)
    if (operation.op === "name_new") {
      const commitment = nameCommitment(hex("e9423b3c569a3bb000"), hex("642f626974636f696e"))
      assert.strictEqual(toHex(operation.commitment), toHex(commitment))
    } else {
      assert.strictEqual(toHex(operation.name), "642f626974636f696e")
      if (operation.op === "name_firstupdate") assert.strictEqual(toHex(operation.rand), "e9423b3c569a3bb000")
      else assert.strictEqual(operation.value.length, 207)
    }
    survivesRoundTrip(transaction)
    everyTruncationFails(transaction.bytes, decodeTransaction)
  })

  it("an ordinary payment, and the transactions of the signature vectors are decoded", () => {
    survivesRoundTrip(decodeTransaction(fixtureBytes(`${MAINNET}/libdohj/namecoin_p2pkh.bin`)))
    const vectors = fixtureJson<ReadonlyArray<{ txid: string; tx: string; input: number }>>(
      `${MAINNET}/name_spend_signature_vectors.json`
    )
    assert.strictEqual(vectors.length, 11)
    for (const { input, tx, txid } of vectors) {
      const transaction = decodeTransaction(hex(tx))
      assert.strictEqual(displayHash(transaction.txid), txid)
      assert.isDefined(transaction.inputs[input])
      survivesRoundTrip(transaction)
    }
  })
})

describe("transactions of every kind, as the reference node takes them apart (regtest-names)", () => {
  const { examples } = fixtureJson<{
    examples: ReadonlyArray<{ type: string; hex: string; decoded: Omit<Electrum, "hex"> & { weight: number } }>
  }>("regtest-names/tx-examples.json")

  it(`all ${examples.length}`, () => {
    assert.isAbove(examples.length, 50)
    for (const { decoded, hex: text } of examples) {
      const transaction = decodeTransaction(hex(text))
      agrees(transaction, { ...decoded, hex: text })
      assert.strictEqual(transaction.weight, decoded.weight)
      survivesRoundTrip(transaction)
    }
  })
})

/** Files of the transaction tool: the result as hexadecimal text, as JSON, or both. */
const UTIL = [
  "blanktx",
  "tt-delin1-out",
  "tt-delout1-out",
  "tt-locktime317000-out",
  "txcreate1",
  "txcreate2",
  "txcreatedata1",
  "txcreatedata2",
  "txcreatedata_seq0",
  "txcreatedata_seq1",
  "txcreatemultisig1",
  "txcreatemultisig2",
  "txcreatemultisig3",
  "txcreatemultisig4",
  "txcreateoutpubkey1",
  "txcreateoutpubkey2",
  "txcreateoutpubkey3",
  "txcreatescript1",
  "txcreatescript2",
  "txcreatescript3",
  "txcreatescript4",
  "txcreatesign"
]

const UTIL_HEX_ONLY = [
  "name_new",
  "name_firstupdate",
  "name_update",
  "tx394b54bb",
  "txcreatescript5",
  "txcreatescript6",
  "txreplace1",
  "txreplacenoinputs",
  "txreplaceomittedn",
  "txreplacesingleinput"
]

/** Transactions without inputs are decoded as such only without a test for the witness marker. */
const readUtil = (bytes: Uint8Array): Transaction => decodeTransaction(bytes, bytes[4] !== 0)

describe.skipIf(!hasShared)("the reference node's transaction tool (core/util)", () => {
  it.each(UTIL)("%s.json", (name) => {
    // Some of the texts use other addresses than their JSON files: here the bytes of the JSON are decoded.
    const expected = fixtureJson<Electrum>(`core/util/${name}.json`)
    const transaction = readUtil(hex(expected.hex))
    assert.strictEqual(displayHash(transaction.txid), expected.txid)
    assert.strictEqual(transaction.size, expected.size)
    assert.strictEqual(transaction.version, expected.version)
    assert.strictEqual(transaction.lockTime, expected.locktime)
    assert.strictEqual(transaction.outputs.length, expected.vout.length)
  })

  it.each([...UTIL, ...UTIL_HEX_ONLY])("%s.hex", (name) => {
    const bytes = hex(fixtureText(`core/util/${name}.hex`))
    assert.strictEqual(toHex(makeTransaction(readUtil(bytes)).bytes), toHex(bytes))
    everyTruncationFails(bytes, readUtil)
  })

  it("a signed segwit transaction", () => {
    const transaction = decodeTransaction(hex(fixtureText("core/util/txcreatesignsegwit1.hex")))
    assert.isTrue(transaction.hasWitness)
    assert.strictEqual(
      displayHash(prevoutTxid(transaction.inputs[0]?.prevout ?? EMPTY)),
      "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
    )
    survivesRoundTrip(transaction)
    everyTruncationFails(transaction.bytes, decodeTransaction)
  })
})
