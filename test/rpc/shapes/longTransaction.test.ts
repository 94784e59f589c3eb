import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { EMPTY, fromHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { psbtOf } from "../../../src/protocol/psbt/Psbt.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../../src/protocol/transaction.ts"
import { encodeJson, LazyArray } from "../../../src/rpc/json/encodeJson.ts"
import { isLong } from "../../../src/rpc/longAnswer.ts"
import { decodePsbtParam } from "../../../src/rpc/methods/psbtMethods.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import { psbtJson } from "../../../src/rpc/shapes/psbt.ts"
import { transactionJson } from "../../../src/rpc/shapes/transaction.ts"
import { psbtText } from "../../../src/wallet/signing/psbtText.ts"

const context: ShapeContext = { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" }

const SCRIPT = fromHex("0014" + "22".repeat(20)) ?? assert.fail()

/** A transaction with that many inputs and outputs. */
const long = (count: number): Transaction =>
  makeTransaction({
    version: 2,
    inputs: Array.from({ length: count }, (_, n) => ({
      prevout: outpoint(new Uint8Array(32).fill(1), n),
      scriptSig: EMPTY,
      sequence: 0,
      witness: NO_WITNESS
    })),
    outputs: Array.from({ length: count }, (_, n) => ({ value: n, script: SCRIPT })),
    lockTime: 0
  })

describe("long transactions", () => {
  it("are decoded while they are encoded to JSON, with the same text as short ones", () => {
    const json = transactionJson(context, long(300))
    assert.instanceOf(json["vin"], LazyArray)
    assert.instanceOf(json["vout"], LazyArray)
    assert.isTrue(isLong(json))
    const few = transactionJson(context, long(256))
    assert.isArray(few["vout"])
    const texts = [few, json].map(({ vin, vout }) => [vin, vout].map((items) => encodeJson(items ?? null).slice(0, -1)))
    for (const at of [0, 1]) {
      const [short, whole] = texts.map((both) => both[at] ?? "")
      assert.isTrue(short !== undefined && short.length > 10_000 && whole?.startsWith(`${short},`))
    }
  })

  it("keep the change marks", () => {
    const marked = encodeJson(transactionJson(context, long(300), { isChange: (script) => script === SCRIPT }))
    assert.strictEqual(marked.split("\"ischange\":true").length - 1, 300)
    assert.notInclude(encodeJson(transactionJson(context, long(300), { isChange: () => false })), "ischange")
  })

  it.effect("yield to other fibers after each part while a PSBT is read", () =>
    Effect.gen(function*() {
      const text = psbtText(psbtOf(long(1_000)))
      let turns = 0
      const next = Effect.sync(() => void turns++)
      const psbt = yield* decodePsbtParam(text, { isOver: () => true, next })
      assert.isAtLeast(turns, 2_000)
      assert.strictEqual(psbtText(psbt), text)
      const json = psbtJson(context, psbt)
      assert.instanceOf(json["inputs"], LazyArray)
      assert.instanceOf(json["outputs"], LazyArray)
    }))
})
