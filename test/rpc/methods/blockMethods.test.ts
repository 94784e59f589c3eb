import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

const recorded = items(at(recordedJson("regtest-names/blocks-verbose.json"), "blocks"))
const blocks = fixtureBlocks("regtest-names/blocks.dat")

/** Two blocks on top of height 590, off the chain of the fixtures. */
const branch = fixtureBlocks("regtest-names/stale.dat").slice(-2)

const GENESIS = displayHash(decodeBlock(regtest.genesisBlock).hash)
const NOBODYS = "ab".repeat(32)

const hashAt = (height: number): string => displayHash(blocks[height]?.hash ?? assert.fail("no such block"))

/** A block with transactions that spend coins. */
const FULL = hashAt(600)

layer(methodNode())("getblock and getblockheader", (it) => {
  it.effect("return the same results as the reference node", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual(recorded.length, 24)
      for (const block of recorded) {
        const hash = stringAt(block, "hash")
        assert.strictEqual((yield* call("getblock", hash)).text, recordedText(at(block, "getblock1")))
        assert.strictEqual((yield* call("getblock", hash, 2)).text, recordedText(at(block, "getblock2")))
        assert.strictEqual((yield* call("getblockheader", hash)).text, recordedText(at(block, "getblockheader")))
        assert.strictEqual((yield* call("getblockheader", hash, false)).value, stringAt(block, "getblockheaderHex"))
      }
    }))

  it.effect("return every block unchanged, the proof included", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      for (const [height, block] of blocks.entries()) {
        assert.strictEqual((yield* call("getblock", hashAt(height), 0)).value, toHex(block.bytes))
        assert.strictEqual((yield* call("getblock", hashAt(height), 1)).when, "verbosity is 1")
      }
    }))

  it.effect("accept every number as a verbosity, and booleans for 0 and 1", () =>
    Effect.gen(function*() {
      const { call, callText } = yield* MethodNode
      const text = (verbosity: unknown) => Effect.map(call("getblock", FULL, verbosity), ({ text }) => text)
      const [hex, txids, transactions, coins] = [yield* text(0), yield* text(1), yield* text(2), yield* text(3)]
      assert.isBelow(txids.length, transactions.length)
      assert.isBelow(transactions.length, coins.length)
      assert.notInclude(transactions, "\"prevout\"")
      for (const low of [-1, -(2 ** 31), false]) assert.strictEqual(yield* text(low), hex)
      for (const high of [4, 100, 2 ** 31 - 1]) assert.strictEqual(yield* text(high), coins)
      assert.strictEqual(yield* text(true), txids)
      assert.strictEqual(yield* text(null), txids)
      assert.strictEqual((yield* callText("getblock", `{"blockhash":"${FULL}","verbose":3}`)).text, coins)
    }))

  it.effect("show the coin of each input at verbosity 3, and the resulting fee", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const { json, when } = yield* call("getblock", FULL, 3)
      assert.strictEqual(when, "verbosity is 3 or more")
      const [coinbase, ...others] = items(at(json, "tx"))
      assert.notInclude(recordedText(coinbase ?? null), "\"fee\"")
      assert.isAbove(others.length, 0)
      for (const transaction of others) {
        const coins = items(at(transaction, "vin")).map((input) => Number(recordedText(at(input, "prevout", "value"))))
        const outputs = items(at(transaction, "vout")).map((output) => Number(recordedText(at(output, "value"))))
        const sum = (amounts: ReadonlyArray<number>) =>
          amounts.reduce((total, each) => total + Math.round(each * 1e8), 0)
        assert.strictEqual(sum(coins) - sum(outputs), Math.round(Number(recordedText(at(transaction, "fee"))) * 1e8))
      }
    }))

  it.effect("show the first block, which has no predecessor and no coins", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      for (const verbosity of [1, 2, 3]) {
        const { text, value } = yield* call("getblock", GENESIS, verbosity)
        assert.notInclude(text, "previousblockhash")
        assert.include(value, { height: 0, confirmations: 601, nTx: 1, nextblockhash: hashAt(1) })
      }
      assert.strictEqual((yield* call("getblock", GENESIS, 0)).value, toHex(regtest.genesisBlock))
      assert.strictEqual(
        (yield* call("getblockheader", GENESIS, false)).value,
        toHex(regtest.genesisBlock.subarray(0, 80))
      )
    }))

  it.effect("accept upper case", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual((yield* call("getblock", FULL.toUpperCase())).text, (yield* call("getblock", FULL)).text)
    }))

  it.effect("refuse unknown and invalid block hashes", () =>
    Effect.gen(function*() {
      const { refusal, refusalOfText } = yield* MethodNode
      for (const [method, label] of [["getblock", "blockhash"], ["getblockheader", "hash"]] as const) {
        assert.deepStrictEqual(yield* refusal(method, NOBODYS), { code: -5, message: "Block not found" })
        assert.deepStrictEqual(yield* refusal(method, "abc"), {
          code: -8,
          message: `${label} must be of length 64 (not 3, for 'abc')`
        })
        assert.deepStrictEqual(yield* refusal(method, `x${FULL.slice(1)}`), {
          code: -8,
          message: `${label} must be hexadecimal string (not 'x${FULL.slice(1)}')`
        })
        assert.deepStrictEqual(yield* refusal(method, 5), {
          code: -3,
          message: "Wrong type passed:\n{\n    \"Position 1 (blockhash)\": " +
            "\"JSON value of type number is not of expected type string\"\n}"
        })
        assert.match((yield* refusal(method)).message, new RegExp(`^${method} "blockhash" \\(`))
        assert.strictEqual((yield* refusal(method)).code, -1)
        assert.strictEqual((yield* refusal(method, FULL, 1, 1)).code, -1)
      }
      const type = (given: string, expected: string) =>
        `JSON value of type ${given} is not of expected type ${expected}`
      assert.deepStrictEqual(yield* refusal("getblock", FULL, "1"), { code: -3, message: type("string", "number") })
      assert.strictEqual((yield* refusal("getblockheader", FULL, 1)).code, -3)
      for (const number of ["1.0", "1e0", "2147483648", "-2147483649", "99999999999999999999"]) {
        assert.deepStrictEqual(yield* refusalOfText("getblock", `["${FULL}",${number}]`), {
          code: -1,
          message: "JSON integer out of range"
        })
      }
    }))
})

layer(methodNode())("blocks off the best chain", (it) => {
  it.effect("of which only the header is known", () =>
    Effect.gen(function*() {
      const { call, chain, refusal } = yield* MethodNode
      assert.isUndefined((yield* chain.sink.acceptHeaders(branch)).reject)
      const proofs = branch.map(({ auxpow }) => auxpow !== undefined)
      assert.sameMembers(proofs, [true, false], "one of each kind")
      for (const { auxpow, hash } of branch) {
        const shown = displayHash(hash)
        const unavailable = { code: -1, message: "Block not available (not fully downloaded)" }
        for (const verbosity of [0, 1, 2, 3]) {
          assert.deepStrictEqual(yield* refusal("getblock", shown, verbosity), unavailable)
        }
        const header = yield* call("getblockheader", shown)
        assert.include(header.value, { hash: shown, confirmations: -1, nTx: 0 })
        assert.notInclude(header.text, "auxpow")
        if (auxpow === undefined) assert.lengthOf(String((yield* call("getblockheader", shown, false)).value), 160)
        else assert.deepStrictEqual(yield* refusal("getblockheader", shown, false), unavailable)
      }
    }))

  it.effect("that were stored and never connected, without fees and coins", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* MethodNode
      for (const block of branch) assert.strictEqual((yield* chain.sink.submit(block)).type, "inconclusive")
      for (const { auxpow, bytes, hash } of branch) {
        const shown = displayHash(hash)
        assert.strictEqual((yield* call("getblock", shown, 0)).value, toHex(bytes))
        const { text, value } = yield* call("getblock", shown, 3)
        assert.include(value, { confirmations: -1 })
        assert.notInclude(text, "nextblockhash")
        assert.notMatch(text, /"(fee|prevout)"/)
        assert.strictEqual((yield* call("getblockheader", shown)).text.includes("\"auxpow\""), auxpow !== undefined)
      }
    }))
})
