import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber } from "effect"
import type { Coin } from "../../../src/consensus/view.ts"
import { fromBinaryString, toHex } from "../../../src/protocol/bytes.ts"
import { parseExtendedKey } from "../../../src/protocol/extendedKey.ts"
import { networks } from "../../../src/protocol/networks.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { prevoutIndex } from "../../../src/protocol/transaction.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import { OneScan } from "../../../src/rpc/methods/OneScan.ts"
import { inferredDescriptor, scanScriptSteps } from "../../../src/rpc/methods/scanObjects.ts"
import { derivePath, HARDENED, hardenedChildren, publicKeyOfExtended } from "../../../src/wallet/keys/hd.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

const scripts = (objects: unknown) => {
  const json = parseJson(JSON.stringify(objects))
  return runSteps(scanScriptSteps(networks.regtest, Array.isArray(json) ? json : assert.fail()))
}

const scriptsOf = (...objects: ReadonlyArray<unknown>) =>
  Either.getOrElse(scripts(objects), (error) => assert.fail(error.message))

const errorOf = (...objects: ReadonlyArray<unknown>) =>
  Either.match(scripts(objects), {
    onLeft: ({ code, message }) => ({ code, message }),
    onRight: () => assert.fail("accepted")
  })

const PRIVATE =
  "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
const PUBLIC =
  "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"

describe("scan objects", () => {
  it("a range has one script for each index, and four for combo", () => {
    assert.strictEqual(scriptsOf(`pkh(${PUBLIC}/1/1/*)`).keys.size, 1001)
    assert.strictEqual(scriptsOf({ desc: `combo(${PRIVATE}/0h/*h)`, range: 9 }).keys.size, 40)
    assert.strictEqual(scriptsOf({ desc: `pkh(${PUBLIC}/*)`, range: [5, 6] }).keys.size, 2)
    assert.strictEqual(scriptsOf({ desc: `pkh(${PUBLIC}/1)`, range: [5, 6] }).keys.size, 1)
  })

  it("hardened children are those of the whole derivation", () => {
    const parsed = parseExtendedKey(networks.regtest, PRIVATE)
    if ("error" in parsed) return assert.fail(parsed.error)
    const childAt = hardenedChildren(parsed.extendedKey)
    for (const index of [0, 1, 1500]) {
      const child = derivePath(parsed.extendedKey, [HARDENED + index])
      assert.strictEqual(toHex(childAt(index)), toHex(publicKeyOfExtended(child)))
    }
  })

  it("addresses of the reference node's test are found by private, public and alternative paths", () => {
    const addresses = scriptsOf(
      "addr(mkHV1C6JLheLoUSSZYk7x3FH5tnx9bu7yc)",
      "addr(n37dAGe6Mq1HGM9t4b6rFEEsDGq7Fcgfqg)",
      "addr(mtfUoUax9L4tzXARpw1oTGxWyoogp52KhJ)",
      "addr(mxp7w7j8S1Aq6L8StS2PqVvtt4HGxXEvdy)"
    )
    const found = (...objects: ReadonlyArray<unknown>) => {
      const { keys } = scriptsOf(...objects)
      return [...addresses.keys.keys()].map((key) => Number(keys.has(key))).join("")
    }
    assert.strictEqual(found({ desc: `combo(${PRIVATE}/0'/0h/*')`, range: 9 }), "1000")
    assert.strictEqual(found({ desc: `combo(${PRIVATE}/0'/0h/*')`, range: [1500, 1500] }), "0100")
    assert.strictEqual(found(`pkh([abcdef88/1/2'/3/4h]${PUBLIC}/1/1/<0;1>)`), "0011")
  })

  it("a script is described by its own key and origin", () => {
    const wanted = scriptsOf({ desc: `combo(${PRIVATE}/0h/0h/*)`, range: 1 })
    const described = [...wanted.keys.keys()].map((key) =>
      inferredDescriptor(networks.regtest, wanted, fromBinaryString(key))
    )
    assert.include(
      described,
      "pkh([0c5f9a1e/0h/0h/0]026dbd8b2315f296d36e6b6920b1579ca75569464875c7ebe869b536a7d9503c8c)#rthll0rg"
    )
    const address = "addr(mkHV1C6JLheLoUSSZYk7x3FH5tnx9bu7yc)"
    const [key = assert.fail()] = scriptsOf(address).keys.keys()
    assert.match(
      inferredDescriptor(networks.regtest, scriptsOf(address), fromBinaryString(key)),
      /^addr\(mkHV1C6JLheLoUSSZYk7x3FH5tnx9bu7yc\)#/
    )
  })

  it.each<readonly [string, unknown, number, string]>([
    ["a number", 5, -8, "Scan object needs to be either a string or an object"],
    ["no descriptor", { range: 1 }, -8, "Descriptor needs to be provided in scan object"],
    ["a descriptor that is not text", { desc: 1 }, -3, "JSON value of type number is not of expected type string"],
    ["an end below zero", { desc: "desc", range: -1 }, -8, "End of range is too high"],
    ["a beginning below zero", { desc: "desc", range: [-1, 10] }, -8, "Range should be greater or equal than 0"],
    ["an end above 2^31", { desc: "desc", range: [2 ** 31, 2 ** 31] }, -8, "End of range is too high"],
    [
      "an end before the beginning",
      { desc: "desc", range: [2, 1] },
      -8,
      "Range specified as [begin,end] must not have begin after end"
    ],
    ["a long range", { desc: "desc", range: [0, 1_000_001] }, -8, "Range is too large"],
    ["a range of text", { desc: "desc", range: "1" }, -8, "Range must be specified as end or as [begin,end]"],
    ["no function", "desc", -5, "'desc' is not a valid descriptor function"],
    [
      "a hardened path of a public key",
      `pkh(${PUBLIC}/0h)`,
      -5,
      `Cannot derive script without private keys: 'pkh(${PUBLIC}/0h)'`
    ]
  ])("refused: %s", (_, object, code, message) => {
    assert.deepStrictEqual(errorOf(object), { code, message })
  })
})

describe("OneScan", () => {
  it.effect("runs one search at a time, which another call aborts", () =>
    Effect.gen(function*() {
      const scan = new OneScan()
      assert.isFalse(scan.abort())
      const running = yield* Effect.fork(
        scan.alone(Effect.iterate(0, { while: () => !scan.aborted, body: () => Effect.as(Effect.yieldNow(), 0) }))
      )
      yield* Effect.yieldNow()
      assert.isTrue(scan.running)
      const second = yield* Effect.flip(scan.alone(Effect.succeed(0)))
      assert.deepStrictEqual([second.code, second.message.split(",")[0]], [-8, "Scan already in progress"])
      assert.isTrue(scan.abort())
      yield* Fiber.join(running)
      assert.isFalse(scan.running)
      assert.isFalse(yield* scan.alone(Effect.sync(() => scan.aborted)))
    }))
})

layer(methodNode())("scantxoutset", (it) => {
  it.effect("finds the coins of scripts, and reads all others", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* MethodNode
      const all: Array<readonly [string, Coin]> = []
      yield* chain.coins.atRest(({ visitCoins }) => visitCoins((coins) => all.push(...coins)))
      const [, sample = assert.fail()] = all[Math.floor(all.length / 2)] ?? []
      const same = all.filter(([, { script }]) => toHex(script) === toHex(sample.script))
      const { json, value } = yield* call("scantxoutset", "start", [`raw(${toHex(sample.script)})`])
      const answer = Object(value)
      assert.include(answer, { success: true, txouts: all.length, height: 600 })
      assert.deepStrictEqual(
        answer.unspents.map(({ height, vout }: { readonly height: number; readonly vout: number }) => [height, vout]),
        same.map(([key, { height }]) => [height, prevoutIndex(fromBinaryString(key))])
      )
      assert.isNotNull(json)
      // More scripts, and short ones, are compared outside of SQLite.
      for (const other of [{ desc: `pkh(${PUBLIC}/*)`, range: 99 }, "raw(6a51)"]) {
        const again = (yield* call("scantxoutset", "start", [`raw(${toHex(sample.script)})`, other])).value
        assert.deepStrictEqual(Object(again).unspents, answer.unspents)
      }
      for (const each of answer.unspents) {
        assert.strictEqual(each.confirmations, 601 - each.height)
        assert.strictEqual(each.scriptPubKey, toHex(sample.script))
        assert.strictEqual((yield* call("getblockhash", each.height)).value, each.blockhash)
      }
      assert.approximately(answer.total_amount, same.reduce((sum, [, coin]) => sum + coin.value / 1e8, 0), 1e-8)
    }))

  it.effect("has a status, can be aborted, and refuses other actions", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      assert.isNull((yield* call("scantxoutset", "status")).value)
      assert.strictEqual((yield* call("scantxoutset", "abort")).value, false)
      const running = yield* Effect.fork(call("scantxoutset", "start", [{ desc: `pkh(${PUBLIC}/*)`, range: 2_000 }]))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(Object.keys(Object((yield* call("scantxoutset", "status")).value)), ["progress"])
      assert.strictEqual((yield* refusal("scantxoutset", "start", [])).code, -8)
      assert.strictEqual((yield* call("scantxoutset", "abort")).value, true)
      assert.include((yield* Fiber.join(running)).value, { success: false })
      assert.deepStrictEqual(yield* refusal("scantxoutset", "start"), {
        code: -1,
        message: "scanobjects argument is required for the start action"
      })
      assert.deepStrictEqual(yield* refusal("scantxoutset", "stop"), { code: -8, message: "Invalid action 'stop'" })
    }))
})
