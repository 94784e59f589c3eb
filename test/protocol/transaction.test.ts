import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { concat, EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { DecodeError, Reader } from "../../src/protocol/Reader.ts"
import {
  decodeTransaction,
  isNullPrevout,
  makeTransaction,
  outpoint,
  outpointKey,
  outputSize,
  prevoutIndex,
  prevoutTxid,
  readTransaction,
  totalValue,
  type Transaction
} from "../../src/protocol/transaction.ts"
import { bytesOf, decodeError, everyTruncationFails, hex } from "../support/bytes.ts"
import { partsOf, survivesRoundTrip } from "./transactionParts.ts"

const INPUT = `${"11".repeat(32)}07000000 02aabb feffffff`
const OUTPUT = "0100000000000000 0151"

it("totalValue adds up outputs", () => {
  assert.strictEqual(totalValue([{ value: 3 }, { value: 4 }]), 7)
})

describe("outpoints", () => {
  it("an outpoint is the txid and the index as LE32", () => {
    const txid = hex("22".repeat(32))
    const bytes = outpoint(txid, 0xfffefdfc)
    assert.strictEqual(toHex(bytes), `${"22".repeat(32)}fcfdfeff`)
    assert.strictEqual(prevoutIndex(bytes), 0xfffefdfc)
    assert.deepStrictEqual(prevoutTxid(bytes).slice(), txid)
    assert.strictEqual(outpointKey(bytes).length, 36)
  })

  it("an outpoint gives its txid and index again", () => {
    FastCheck.assert(FastCheck.property(bytesOf(32), FastCheck.integer({ min: 0, max: 0xffffffff }), (txid, index) => {
      const bytes = outpoint(txid, index)
      assert.strictEqual(prevoutIndex(bytes), index)
      assert.deepStrictEqual(prevoutTxid(bytes).slice(), txid)
    }))
  })

  it("only an outpoint of zeros with index 2^32 - 1 is null", () => {
    assert.isTrue(isNullPrevout(outpoint(new Uint8Array(32), 0xffffffff)))
    assert.isFalse(isNullPrevout(outpoint(new Uint8Array(32), 0xfffffffe)))
    assert.isFalse(isNullPrevout(outpoint(new Uint8Array(32), 0)))
    assert.isFalse(isNullPrevout(outpoint(hex(`${"00".repeat(31)}01`), 0xffffffff)))
    assert.isFalse(isNullPrevout(outpoint(hex(`01${"00".repeat(31)}`), 0xffffffff)))
  })
})

describe("reading", () => {
  const plain = hex(`02000000 01 ${INPUT} 01 ${OUTPUT} 05000000`)
  const witness = hex(`02000000 0001 02 ${INPUT} ${INPUT} 01 ${OUTPUT} 00 02 00 03ccddee 05000000`)

  it("a transaction without witness is decoded", () => {
    const transaction = decodeTransaction(plain)
    assert.deepStrictEqual(partsOf(transaction), {
      version: 2,
      lockTime: 5,
      inputs: [[`${"11".repeat(32)}07000000`, "aabb", 0xfffffffe, []]],
      outputs: [[1, "51"]]
    })
    assert.isFalse(transaction.hasWitness)
    assert.strictEqual(transaction.bytes, transaction.strippedBytes())
    assert.strictEqual(transaction.size, plain.length)
    assert.strictEqual(transaction.strippedSize, plain.length)
    assert.strictEqual(transaction.weight, 4 * plain.length)
    assert.strictEqual(transaction.virtualSize, plain.length)
    assert.strictEqual(toHex(transaction.txid), toHex(hash256(plain)))
    assert.strictEqual(toHex(transaction.wtxid), toHex(hash256(plain)))
    survivesRoundTrip(transaction)
  })

  it("a transaction with witness is decoded", () => {
    const transaction = decodeTransaction(witness)
    const stripped = hex(`02000000 02 ${INPUT} ${INPUT} 01 ${OUTPUT} 05000000`)
    assert.deepStrictEqual(transaction.inputs.map((input) => input.witness.map(toHex)), [[], ["", "ccddee"]])
    assert.strictEqual(toHex(transaction.strippedBytes()), toHex(stripped))
    assert.strictEqual(transaction.strippedSize, stripped.length)
    assert.strictEqual(transaction.size, witness.length)
    assert.strictEqual(transaction.weight, 3 * stripped.length + witness.length)
    assert.strictEqual(transaction.virtualSize, Math.ceil((3 * stripped.length + witness.length) / 4))
    assert.strictEqual(toHex(transaction.txid), toHex(hash256(stripped)))
    assert.strictEqual(toHex(transaction.wtxid), toHex(hash256(witness)))
    survivesRoundTrip(transaction)
  })

  it("reading stops at the end of the transaction; decoding refuses trailing bytes", () => {
    for (const bytes of [plain, witness]) {
      const reader = new Reader(concat(hex("ff"), bytes, hex("ee")), 1)
      assert.strictEqual(toHex(readTransaction(reader).bytes), toHex(bytes))
      assert.strictEqual(reader.remaining, 1)
      assert.include(decodeError(() => decodeTransaction(concat(bytes, hex("ee")))).reason, "unexpected bytes")
      everyTruncationFails(bytes, decodeTransaction)
    }
  })

  it("extreme numbers are kept", () => {
    const transaction = decodeTransaction(
      hex(`ffffffff 01 ${INPUT} 02 0040075af0750700 00 ffffffffffffffff 00 ffffffff`)
    )
    assert.strictEqual(transaction.version, 0xffffffff)
    assert.strictEqual(transaction.lockTime, 0xffffffff)
    assert.deepStrictEqual(transaction.outputs.map(({ value }) => value), [2_100_000_000_000_000, -1])
    survivesRoundTrip(transaction)
  })

  it("counts and lengths that are too large or not in shortest form are refused", () => {
    decodeError(() => decodeTransaction(hex(`02000000 fd0100 ${INPUT} 01 ${OUTPUT} 05000000`)))
    decodeError(() => decodeTransaction(hex("02000000 fe00000002")))
    assert.strictEqual(decodeError(() => decodeTransaction(hex("02000000 fe01000002"))).field, "inputs")
    decodeError(() => decodeTransaction(hex(`02000000 01 ${INPUT} feffffff01 ${OUTPUT} 05000000`)))
  })
})

describe("the segwit marker (reference/protocol.md 2.4, last paragraph)", () => {
  it("two zero bytes are a transaction without inputs and outputs", () => {
    const transaction = decodeTransaction(hex("01000000 00 00 00000000"))
    assert.deepStrictEqual(partsOf(transaction), { version: 1, lockTime: 0, inputs: [], outputs: [] })
    assert.isFalse(transaction.hasWitness)
    assert.isFalse(transaction.isCoinbase)
    survivesRoundTrip(transaction)
  })

  it.each([2, 3, 4, 0x80, 0xff])("flag %d is unknown", (flag) => {
    const mark = flag.toString(16).padStart(2, "0")
    const body = (flag & 1) === 1 ? "01 01aa" : ""
    const error = decodeError(() =>
      decodeTransaction(hex(`01000000 00${mark} 01 ${INPUT} 01 ${OUTPUT} ${body} 00000000`))
    )
    assert.include(error.reason, "unknown optional data")
  })

  it("a witness without items is superfluous", () => {
    assert.include(
      decodeError(() => decodeTransaction(hex(`01000000 0001 02 ${INPUT} ${INPUT} 01 ${OUTPUT} 00 00 00000000`)))
        .reason,
      "superfluous"
    )
    // No inputs after the marker, so no witness.
    assert.include(
      decodeError(() => decodeTransaction(hex(`01000000 0001 00 01 ${OUTPUT} 00000000`))).reason,
      "superfluous"
    )
  })

  it("short items of a witness are created only on access", () => {
    const withItems = (count: number, size: number) =>
      makeTransaction({
        version: 2,
        inputs: [{
          prevout: new Uint8Array(36),
          scriptSig: EMPTY,
          sequence: 0,
          witness: Array.from({ length: count }, (_, i) => new Uint8Array(size).fill(i))
        }],
        outputs: [],
        lockTime: 0
      })
    for (const [count, size, deferred] of [[1_000, 1, true], [1_000, 40, false], [3, 1, false]] as const) {
      const made = withItems(count, size)
      const [input] = decodeTransaction(made.bytes).inputs
      if (input === undefined) return assert.fail("there is an input")
      const { get } = Object.getOwnPropertyDescriptor(input, "witness") ?? {}
      assert.strictEqual(get !== undefined, deferred, `${count} items of ${size} bytes`)
      assert.deepStrictEqual(input.witness, made.inputs[0]?.witness)
      assert.deepStrictEqual(makeTransaction(decodeTransaction(made.bytes)).bytes, made.bytes)
    }
    assert.throws(() => decodeTransaction(withItems(1_000, 1).bytes.subarray(0, -10)), DecodeError)
  })

  it("one empty item is a witness", () => {
    const transaction = decodeTransaction(hex(`01000000 0001 01 ${INPUT} 01 ${OUTPUT} 01 00 00000000`))
    assert.isTrue(transaction.hasWitness)
    assert.deepStrictEqual(transaction.inputs[0]?.witness.map(toHex), [""])
    survivesRoundTrip(transaction)
  })

  it("a reader option disables the marker: then a transaction may have outputs and no inputs", () => {
    const bytes = hex(`01000000 00 01 ${OUTPUT} 00000000`)
    const transaction = decodeTransaction(bytes, false)
    assert.strictEqual(transaction.inputs.length, 0)
    assert.strictEqual(transaction.outputs.length, 1)
    assert.isFalse(transaction.hasWitness)
    assert.strictEqual(toHex(makeTransaction(transaction).bytes), toHex(bytes))
    decodeError(() => decodeTransaction(bytes))
  })
})

describe("coinbases", () => {
  it("a coinbase has one input, which spends the null outpoint", () => {
    const make = (...prevouts: ReadonlyArray<Uint8Array>): Transaction =>
      makeTransaction({
        version: 1,
        inputs: prevouts.map((prevout) => ({ prevout, scriptSig: EMPTY, sequence: 0, witness: [] })),
        outputs: [],
        lockTime: 0
      })
    const none = outpoint(new Uint8Array(32), 0xffffffff)
    assert.isTrue(make(none).isCoinbase)
    assert.isFalse(make(none, none).isCoinbase)
    assert.isFalse(make(outpoint(new Uint8Array(32), 0)).isCoinbase)
  })
})

const transactions = FastCheck.record({
  version: FastCheck.integer({ min: 0, max: 0xffffffff }),
  inputs: FastCheck.array(
    FastCheck.record({
      prevout: bytesOf(36),
      scriptSig: FastCheck.oneof(bytesOf(0, 40), bytesOf(250, 260)),
      sequence: FastCheck.integer({ min: 0, max: 0xffffffff }),
      witness: FastCheck.array(bytesOf(0, 20), { maxLength: 3 })
    }),
    { minLength: 1, maxLength: 4 }
  ),
  outputs: FastCheck.array(FastCheck.record({ value: FastCheck.maxSafeInteger(), script: bytesOf(0, 60) }), {
    maxLength: 4
  }),
  lockTime: FastCheck.integer({ min: 0, max: 0xffffffff })
})

describe("properties", () => {
  it("an encoded transaction is decoded again, with any bytes around it", () => {
    FastCheck.assert(FastCheck.property(transactions, bytesOf(0, 5), (parts, around) => {
      const made = makeTransaction(parts)
      const read = readTransaction(new Reader(concat(around, made.bytes, around), around.length))
      assert.deepStrictEqual(partsOf(read), partsOf(made))
      survivesRoundTrip(read)
      const stripped = decodeTransaction(made.strippedBytes())
      assert.isFalse(stripped.hasWitness)
      assert.strictEqual(stripped.size, made.strippedSize)
      assert.strictEqual(toHex(stripped.txid), toHex(made.txid))
      const outputs = made.outputs.reduce((sum, output) => sum + outputSize(output), 0)
      const without = makeTransaction({ ...parts, outputs: [] })
      assert.strictEqual(made.strippedSize - without.strippedSize, outputs)
    }))
  })

  it("every truncated transaction fails", () => {
    FastCheck.assert(
      FastCheck.property(
        transactions,
        (parts) => everyTruncationFails(makeTransaction(parts).bytes, decodeTransaction)
      ),
      { numRuns: 20 }
    )
  })

  it("any bytes decode or fail with a DecodeError; decoded transactions are encoded to the same bytes", () => {
    FastCheck.assert(
      FastCheck.property(transactions, FastCheck.nat(), FastCheck.nat(255), (parts, at, byte) => {
        const bytes = makeTransaction(parts).bytes.slice()
        bytes[at % bytes.length] = byte
        try {
          const transaction = decodeTransaction(bytes)
          // Only values that a double cannot represent cannot be encoded again.
          if (transaction.outputs.every(({ value }) => Number.isSafeInteger(value))) survivesRoundTrip(transaction)
        } catch (cause) {
          decodeError(() => {
            throw cause
          })
        }
      }),
      { numRuns: 500 }
    )
  })
})
