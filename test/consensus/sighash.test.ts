import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Sighash, SighashContext } from "../../src/consensus/sighash.ts"
import { type Bytes, concat, displayHash, EMPTY, equal, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { hash256, sha256, taggedHash } from "../../src/protocol/hash.ts"
import { Op, pushData } from "../../src/protocol/script.ts"
import {
  decodeTransaction,
  makeTransaction,
  NO_WITNESS,
  type TransactionOutput
} from "../../src/protocol/transaction.ts"
import { Writer } from "../../src/protocol/Writer.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"
import { coinOf } from "../support/spending.ts"
import { type Spending, spendings } from "../support/transactions.ts"

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

const le32 = (value: number): Uint8Array => new Writer().i32(value).toBytes()

const contextOf = ({ coins, transaction }: Spending): SighashContext => new SighashContext(transaction, coins)

/** All bits of a hash type, including those without a meaning. */
const hashTypes = FastCheck.oneof(
  FastCheck.constantFrom(0, 1, 2, 3, 0x80, 0x81, 0x82, 0x83),
  FastCheck.integer({ min: -0x80000000, max: 0x7fffffff })
)

/** Scripts of whole instructions, with code separators among them. */
const scriptCodes = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom(Op.OP_CODESEPARATOR, Op.OP_DUP, Op.OP_CHECKSIG, Op.OP_0).map((opcode) =>
      Uint8Array.of(opcode)
    ),
    FastCheck.uint8Array({ minLength: 1, maxLength: 90 }).map(pushData)
  ),
  { maxLength: 8 }
)

const serializeOutput = ({ script, value }: TransactionOutput): Uint8Array =>
  new Writer().i64(value).varBytes(script).toBytes()

/** The legacy hash in its original form: changes a copy of the transaction and hashes it. */
const plainLegacy = (spending: Spending, hashType: number, script: Bytes): Uint8Array => {
  const { index, transaction: { inputs, lockTime, outputs, version } } = spending
  const covered = hashType & 0x1f
  if (covered === Sighash.SINGLE && index >= outputs.length) {
    return Uint8Array.from({ length: 32 }, (_, i) => i === 0 ? 1 : 0)
  }
  const free = covered === Sighash.NONE || covered === Sighash.SINGLE
  const changed = inputs.map((input, i) => ({
    prevout: input.prevout,
    scriptSig: i === index ? script : EMPTY,
    sequence: i !== index && free ? 0 : input.sequence,
    witness: NO_WITNESS
  }))
  const kept = covered === Sighash.NONE
    ? []
    : covered === Sighash.SINGLE
    ? outputs.slice(0, index + 1).map((output, i) => i === index ? output : { value: -1, script: EMPTY })
    : outputs
  const copy = makeTransaction({
    version,
    inputs: (hashType & Sighash.ANYONECANPAY) === 0 ? changed : changed.slice(index, index + 1),
    outputs: kept,
    lockTime
  })
  return hash256(concat(copy.bytes, le32(hashType)))
}

/** BIP 143, word by word. */
const plainWitnessV0 = (spending: Spending, hashType: number, script: Bytes): Uint8Array => {
  const { coins, index, transaction: { inputs, lockTime, outputs, version } } = spending
  const covered = hashType & 0x1f
  const alone = (hashType & 0x80) !== 0
  const zero = new Uint8Array(32)
  const input = inputs[index] ?? assert.fail("the input is there")
  const output = outputs[index]
  const free = covered === Sighash.NONE || covered === Sighash.SINGLE
  return hash256(concat(
    le32(version),
    alone ? zero : hash256(concat(...inputs.map(({ prevout }) => prevout))),
    alone || free ? zero : hash256(concat(...inputs.map(({ sequence }) => le32(sequence)))),
    input.prevout,
    new Writer().varBytes(script).toBytes(),
    new Writer().i64(coins[index]?.value ?? 0).toBytes(),
    le32(input.sequence),
    free
      ? covered === Sighash.SINGLE && output !== undefined ? hash256(serializeOutput(output)) : zero
      : hash256(concat(...outputs.map(serializeOutput))),
    le32(lockTime),
    le32(hashType)
  ))
}

describe("the legacy hash", () => {
  it.prop("the legacy hash is that of a changed copy of the transaction", {
    spending: spendings,
    hashType: hashTypes,
    code: scriptCodes
  }, ({ code, hashType, spending }) => {
    const kept = code.filter((instruction) => instruction[0] !== Op.OP_CODESEPARATOR)
    const actual = contextOf(spending).legacy(spending.index, concat(...code), hashType)
    assert.strictEqual(toHex(actual), toHex(plainLegacy(spending, hashType, concat(...kept))))
  }, { fastCheck: { numRuns: 500 } })

  it("a byte within a push is not a code separator", () => {
    const transaction = makeTransaction({
      version: 1,
      inputs: [{ prevout: new Uint8Array(36), scriptSig: EMPTY, sequence: 0, witness: NO_WITNESS }],
      outputs: [],
      lockTime: 0
    })
    const spending = { transaction, coins: [coinOf(EMPTY)], index: 0 }
    const script = Uint8Array.of(0x02, 0xab, 0xab, 0xac)
    assert.deepStrictEqual(contextOf(spending).legacy(0, script, 1), plainLegacy(spending, 1, script))
  })
})

describe("the hash of BIP 143", () => {
  it.prop(
    "the hash of BIP 143 matches its definition",
    { spending: spendings, hashType: hashTypes, code: scriptCodes },
    (given) => {
      const { hashType, spending } = given
      const code = concat(...given.code)
      const actual = contextOf(spending).witnessV0(spending.index, code, hashType)
      assert.strictEqual(toHex(actual), toHex(plainWitnessV0(spending, hashType, code)))
    },
    { fastCheck: { numRuns: 500 } }
  )

  it("the hash of BIP 143 matches the BIP's first example", () => {
    const transaction = decodeTransaction(bytes(
      "0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffff" +
        "ef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a914" +
        "8280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa8159" +
        "88ac11000000"
    ))
    const context = new SighashContext(transaction, [coinOf(EMPTY, 625_000_000), coinOf(EMPTY, 600_000_000)])
    const code = bytes("76a9141d0f172a0ecb48aee1be1f2687d2963ae33f71a188ac")
    assert.strictEqual(
      toHex(context.witnessV0(1, code, Sighash.ALL)),
      "c37af31116d1b27caf68aae9e3ac82f1477929014d5b917657d0eb49478cb670"
    )
  })
})

describe("a context", () => {
  it.prop("a context returns the same hash after any other calls", {
    spending: spendings,
    questions: FastCheck.array(
      FastCheck.record({
        hashType: hashTypes,
        code: FastCheck.constantFrom(Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(1, 1)),
        witness: FastCheck.boolean(),
        index: FastCheck.nat({ max: 4 })
      }),
      { maxLength: 12 }
    )
  }, ({ questions, spending }) => {
    const context = contextOf(spending)
    for (const { code, hashType, index, witness } of questions) {
      const at = index % spending.coins.length
      const plain = witness ? plainWitnessV0 : plainLegacy
      const actual = witness ? context.witnessV0(at, code, hashType) : context.legacy(at, code, hashType)
      assert.isTrue(equal(actual, plain({ ...spending, index: at }, hashType, code)))
    }
  })

  it("a context needs a coin for each input", () => {
    const transaction = makeTransaction({ version: 1, inputs: [], outputs: [], lockTime: 0 })
    assert.throws(() => new SighashContext(transaction, [coinOf(EMPTY)]), RangeError)
    assert.throws(() => new SighashContext(transaction, []).input(0), RangeError)
    assert.throws(() => new SighashContext(transaction, []).coin(0), RangeError)
  })
})

/** BIP 341, word by word. */
const plainTaproot = (
  { coins, index, transaction: { inputs, lockTime, outputs, version } }: Spending,
  hashType: number,
  spend: { readonly annexHash: Bytes | undefined; readonly leafHash: Bytes | undefined; readonly codeSeparator: number }
): Uint8Array => {
  const alone = (hashType & 0x80) !== 0
  const covered = hashType & 3
  const input = inputs[index] ?? assert.fail("the input is there")
  const coin = coins[index] ?? assert.fail("the coin is there")
  const output = outputs[index]
  const all = [
    sha256(concat(...inputs.map(({ prevout }) => prevout))),
    sha256(concat(...coins.map(({ value }) => new Writer().i64(value).toBytes()))),
    sha256(concat(...coins.map(({ script }) => new Writer().varBytes(script).toBytes()))),
    sha256(concat(...inputs.map(({ sequence }) => le32(sequence))))
  ]
  const own = [input.prevout, serializeOutput(coin), le32(input.sequence)]
  return taggedHash(
    "TapSighash",
    Uint8Array.of(0, hashType),
    le32(version),
    le32(lockTime),
    ...(alone ? [] : all),
    ...(covered < 2 ? [sha256(concat(...outputs.map(serializeOutput)))] : []),
    Uint8Array.of((spend.leafHash === undefined ? 0 : 2) | (spend.annexHash === undefined ? 0 : 1)),
    ...(alone ? own : [le32(index)]),
    spend.annexHash ?? EMPTY,
    ...(covered === 3 && output !== undefined ? [sha256(serializeOutput(output))] : []),
    ...(spend.leafHash === undefined ? [] : [spend.leafHash, Uint8Array.of(0), le32(spend.codeSeparator)])
  )
}

describe("the hash of BIP 341", () => {
  const hashes32 = FastCheck.uint8Array({ minLength: 32, maxLength: 32 })
  const spends = FastCheck.record({
    annexHash: FastCheck.option(hashes32, { nil: undefined }),
    leafHash: FastCheck.option(hashes32, { nil: undefined }),
    codeSeparator: FastCheck.constantFrom(0, 1, 0xffffffff)
  })

  it.prop(
    "the hash of BIP 341 matches its definition, for each valid hash type",
    { spending: spendings, spend: spends },
    (given) => {
      const { spend, spending } = given
      const context = contextOf(spending)
      for (let hashType = 0; hashType <= 0xff; hashType++) {
        const exists = hashType <= 3 || (hashType >= 0x81 && hashType <= 0x83)
        const matches = (hashType & 3) !== Sighash.SINGLE || spending.index < spending.transaction.outputs.length
        const actual = context.taproot(spending.index, spend, hashType)
        if (exists && matches) {
          assert.strictEqual(toHex(actual ?? EMPTY), toHex(plainTaproot(spending, hashType, spend)), `${hashType}`)
        } else assert.isUndefined(actual, `${hashType}`)
      }
    }
  )
})

type SighashRow = readonly [string] | readonly [tx: string, script: string, index: number, type: number, hash: string]

describe.skipIf(!hasShared)("core/unit/sighash.json", () => {
  it("the legacy hash matches all 500 rows", () => {
    let count = 0
    for (const row of fixtureJson<Array<SighashRow>>("core/unit/sighash.json")) {
      if (row.length === 1) continue
      const [tx, script, index, hashType, expected] = row
      const transaction = decodeTransaction(bytes(tx))
      const context = new SighashContext(transaction, transaction.inputs.map(() => coinOf(EMPTY)))
      assert.strictEqual(displayHash(context.legacy(index, bytes(script), hashType)), expected)
      count++
    }
    assert.strictEqual(count, 500)
  })
})
