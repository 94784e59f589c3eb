import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { concat, toHex } from "../../../src/protocol/bytes.ts"
import { isWholeTree } from "../../../src/protocol/psbt/codecs.ts"
import { combinePsbtsSteps, joinPsbtsSteps } from "../../../src/protocol/psbt/combine.ts"
import { decodePsbt } from "../../../src/protocol/psbt/decode.ts"
import { encodePsbt } from "../../../src/protocol/psbt/encode.ts"
import { PSBT_MAGIC } from "../../../src/protocol/psbt/fields.ts"
import { EMPTY_INPUT, type Psbt, psbtOf } from "../../../src/protocol/psbt/Psbt.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { makeTransaction } from "../../../src/protocol/transaction.ts"
import { isSignature } from "../../../src/wallet/signing/psbtText.ts"
import { hex } from "../../support/bytes.ts"
import { psbts } from "../../support/psbts.ts"

const decoded = (bytes: Uint8Array): Psbt => {
  const result = decodePsbt(bytes, { isSignature })
  return "error" in result ? assert.fail(result.error) : result.psbt
}

const errorOf = (bytes: Uint8Array): string | undefined => {
  const result = decodePsbt(bytes, { isSignature })
  return "error" in result ? result.error : undefined
}

const combined = (a: Psbt, b: Psbt): Psbt | undefined => runSteps(combinePsbtsSteps(a, [b]))

const encodedHex = (psbt: Psbt): string => toHex(encodePsbt(psbt))

describe("PSBTs", () => {
  it("an encoded PSBT is decoded again", () => {
    FastCheck.assert(
      FastCheck.property(psbts, (psbt) => {
        const bytes = encodePsbt(psbt)
        const again = decoded(bytes)
        assert.strictEqual(encodedHex(again), toHex(bytes))
        assert.strictEqual(toHex(again.transaction.bytes), toHex(psbt.transaction.bytes))
        for (const [n, input] of psbt.inputs.entries()) {
          const other = again.inputs[n] ?? EMPTY_INPUT
          assert.strictEqual(other.partialSignatures.size, input.partialSignatures.size)
          assert.strictEqual(other.sighashType, input.sighashType)
          assert.deepStrictEqual(
            [...other.taprootOrigins.keys()].sort(),
            [...input.taprootOrigins.keys()].sort()
          )
          assert.deepStrictEqual(other.finalScriptWitness?.map(toHex), input.finalScriptWitness?.map(toHex))
          assert.strictEqual(other.unknown.size, input.unknown.size)
        }
      }),
      { numRuns: 60 }
    )
  })

  it("a truncated or longer PSBT is refused", () => {
    FastCheck.assert(
      FastCheck.property(psbts, FastCheck.nat(), (psbt, seed) => {
        const bytes = encodePsbt(psbt)
        assert.isDefined(errorOf(bytes.subarray(0, seed % bytes.length)))
        assert.strictEqual(errorOf(concat(bytes, Uint8Array.of(0))), "extra data after PSBT")
      }),
      { numRuns: 60 }
    )
  })

  it.each([
    { key: "05", reason: "SpanReader::read(): end of data" },
    { key: "fd0100", reason: "non-canonical ReadCompactSize()" },
    { key: "fe01000002", reason: "ReadCompactSize(): size too large" }
  ])("the key $key is refused as the reference node does: $reason", ({ key, reason }) => {
    assert.strictEqual(errorOf(concat(PSBT_MAGIC, hex(key))), `${reason}: iostream error`)
  })

  it("any bytes are decoded or refused with an error", () => {
    const change = FastCheck.tuple(FastCheck.nat(), FastCheck.nat({ max: 255 }))
    const changes = FastCheck.array(change, { minLength: 10, maxLength: 10, size: "max" })
    FastCheck.assert(
      // To make a PSBT takes longer than to decode it: several bytes of each are changed, one at a time.
      FastCheck.property(psbts, changes, (psbt, changes) => {
        const whole = encodePsbt(psbt)
        for (const [at, byte] of changes) {
          const bytes = Uint8Array.from(whole)
          bytes[at % bytes.length] = byte
          const result = decodePsbt(bytes, { isSignature })
          if ("psbt" in result) encodePsbt(result.psbt)
        }
      }),
      { numRuns: 40 }
    )
  })

  it("a PSBT combined with itself does not change, and the order of a combination has no effect", () => {
    FastCheck.assert(
      FastCheck.property(psbts, (psbt) => {
        const bare = psbtOf(psbt.transaction)
        for (const result of [combined(psbt, psbt), combined(bare, psbt), combined(psbt, bare)]) {
          assert.strictEqual(result === undefined ? "" : encodedHex(result), encodedHex(psbt))
        }
      }),
      { numRuns: 30 }
    )
  })

  it("PSBTs of different transactions cannot be combined, but joined", () => {
    const made = [1, 2].map((n) =>
      psbtOf(makeTransaction({
        version: n,
        inputs: [{ prevout: new Uint8Array(36).fill(n), scriptSig: hex("51"), sequence: n, witness: [] }],
        outputs: [{ value: n, script: hex("51") }],
        lockTime: 10 * n
      }))
    )
    const [a, b] = made
    if (a === undefined || b === undefined) return assert.fail()
    assert.isUndefined(combined(a, b))
    const signed = { ...a, inputs: a.inputs.map((input) => ({ ...input, finalScriptSig: hex("51") })) }
    const joined = runSteps(joinPsbtsSteps([signed, b], (items) => [...items].reverse()))
    if ("error" in joined) return assert.fail(joined.error)
    const { inputs, transaction } = joined.psbt
    assert.deepStrictEqual([transaction.version, transaction.lockTime], [2, 10])
    assert.deepStrictEqual(transaction.inputs.map(({ sequence }) => sequence), [2, 1])
    assert.deepStrictEqual(transaction.outputs.map(({ value }) => value), [2, 1])
    assert.isTrue(inputs.every(({ finalScriptSig }) => finalScriptSig === undefined))
    assert.property(runSteps(joinPsbtsSteps([a, b, a], (items) => items)), "error")
  })
})

describe("trees of leaves", () => {
  it("a tree is complete or not", () => {
    for (const depths of [[0], [1, 1], [1, 2, 2], [2, 2, 1], [2, 2, 2, 2], [1, 2, 3, 3], [3, 3, 2, 1]]) {
      assert.isTrue(isWholeTree(depths), depths.join())
    }
    for (const depths of [[], [1], [0, 0], [1, 1, 1], [2, 1], [2, 2], [1, 2], [2, 1, 2], [1, 1, 0], [2, 1, 1]]) {
      assert.isFalse(isWholeTree(depths), depths.join())
    }
  })
})
