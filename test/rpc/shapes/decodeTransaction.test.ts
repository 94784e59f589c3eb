import { assert, describe, it } from "@effect/vitest"
import { toHex } from "../../../src/protocol/bytes.ts"
import { mainnet } from "../../../src/protocol/networks.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import { decodeAnyTransaction } from "../../../src/rpc/shapes/decodeTransaction.ts"
import { transactionJson, wholeTransactionJson } from "../../../src/rpc/shapes/transaction.ts"
import { hex } from "../../support/bytes.ts"
import { fixtureJson, fixtureText, hasShared } from "../../support/fixtures.ts"
import { recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

interface ToolTest {
  readonly args: ReadonlyArray<string>
  readonly output_cmp?: string
}

/** The output of upstream's transaction tool for mainnet, as JSON. */
const outputs: ReadonlyArray<readonly [string, ShapeContext]> = hasShared
  ? fixtureJson<ReadonlyArray<ToolTest>>("core/util/bitcoin-util-test.json").flatMap(({ args, output_cmp = "" }) =>
    output_cmp.endsWith(".json")
      ? [
        [
          output_cmp,
          {
            network: mainnet,
            nameEncoding: "ascii",
            valueEncoding: args.includes("-valueencoding=hex") ? "hex" : "ascii"
          }
        ] as const
      ]
      : []
  )
  : []

describe.skipIf(!hasShared)("transactions that upstream's tool decoded", () => {
  it("are many", () => assert.isAbove(outputs.length, 20))

  it.each(outputs)("%s", (file, context) => {
    const expected = recordedJson(`core/util/${file}`)
    const transaction = decodeAnyTransaction(hex(stringAt(expected, "hex"))) ?? assert.fail("no transaction")
    assert.strictEqual(encodeJson(wholeTransactionJson(context, transaction)), recordedText(expected))
  })

  it.each([
    ["name_new", "{\"op\":\"name_new\",\"hash\":\"a7a8c219f34fa29577740eee3ff41bf03ea957a5\"}"],
    [
      "name_firstupdate",
      "{\"op\":\"name_firstupdate\",\"name\":\"d/foobar\",\"name_encoding\":\"ascii\",\"value\":\"value\"," +
      "\"value_encoding\":\"ascii\",\"rand\":\"1234\"}"
    ],
    [
      "name_update",
      "{\"op\":\"name_update\",\"name\":\"d/foobar\",\"name_encoding\":\"ascii\",\"value\":\"value\"," +
      "\"value_encoding\":\"ascii\"}"
    ]
  ])("%s.hex", (file, nameOp) => {
    const bytes = hex(fixtureText(`core/util/${file}.hex`))
    const transaction = decodeAnyTransaction(bytes) ?? assert.fail("no transaction")
    const context = { network: mainnet, nameEncoding: "ascii", valueEncoding: "ascii" } as const
    const text = encodeJson(transactionJson(context, transaction))
    assert.include(text, `"nameOp":${nameOp},"asm":"`)
    assert.include(text, "\"address\":\"MyUGVwiPwomjPJwBBud1pxnmNp73dKB9s1\",\"type\":\"pubkeyhash\"")
    assert.strictEqual(toHex(transaction.bytes), toHex(bytes))
  })
})

/** Version, one input, one output, lock time. */
const ordinary = `01000000 01 ${"11".repeat(36)} 00 ffffffff 01 0000000000000000 00 00000000`

const withWitness = `01000000 0001 01 ${"11".repeat(36)} 00 ffffffff 01 0000000000000000 00 01 01aa 00000000`

/** No inputs, one output: as the extended format, it would have no outputs and a flag. */
const withoutInputs = "01000000 00 01 0000000000000000 01 51 00000000"

/**
 * Bytes that are two transactions. In the extended format: an input with a script of one byte and a witness, no output.
 * In the other format: no input, an output whose script is the end of the outpoint, a push of that byte, and the rest.
 */
const both = (filler: string, script: string): string =>
  `01000000 0001 01 ${"00".repeat(7)} 26 ${filler.repeat(28)} 01 ${script} 61616161 00 01 01aa 00000000`

describe("the chosen reading of the bytes", () => {
  const inputs = (text: string, witness?: boolean): number | undefined =>
    decodeAnyTransaction(hex(text), witness)?.inputs.length

  it.each<[string, string, number | undefined, number | undefined, number | undefined]>([
    ["an ordinary one", ordinary, 1, 1, 1],
    ["with a witness", withWitness, 1, 1, undefined],
    ["without inputs", withoutInputs, 0, undefined, 0],
    ["truncated", ordinary.slice(0, -2), undefined, undefined, undefined],
    ["with a byte more", `${ordinary}00`, undefined, undefined, undefined],
    ["nothing", "", undefined, undefined, undefined]
  ])("%s", (_, text, either, extended, legacy) => {
    assert.strictEqual(inputs(text), either)
    assert.strictEqual(inputs(text, true), extended)
    assert.strictEqual(inputs(text, false), legacy)
  })

  const NOP = "61"
  const UNKNOWN = "ff"

  it.each([
    ["both have good scripts: the extended one", NOP, NOP, 1],
    ["none has: the extended one", UNKNOWN, UNKNOWN, 1],
    ["one has", UNKNOWN, NOP, 1],
    ["the other one has", NOP, UNKNOWN, 0]
  ])("%s", (_, filler, script, expected) => {
    assert.strictEqual(inputs(both(filler, script), true), 1)
    assert.strictEqual(inputs(both(filler, script), false), 0)
    assert.strictEqual(inputs(both(filler, script)), expected)
  })
})
