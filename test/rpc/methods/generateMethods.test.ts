import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { displayHash, fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { decodeTransaction } from "../../../src/protocol/transaction.ts"
import { chunkOf, entryOf } from "../../support/pool.ts"
import { ANYONE, currency, input } from "../../support/regtest.ts"
import { ADDRESS, withNode } from "./miningNode.ts"

describe("generate", () => {
  it.scopedLive("mines to addresses and descriptors", () =>
    withNode(({ call, chain, refusal }) =>
      Effect.gen(function*() {
        const { value } = yield* call("generatetoaddress", 3, ADDRESS)
        assert.strictEqual((yield* chain.tip).height, 3)
        assert.strictEqual((Array.isArray(value) ? value : []).at(-1), displayHash((yield* chain.tip).hash))
        yield* call("generatetodescriptor", 1, "raw(5151)")
        const block = yield* chain.block((yield* chain.tip).hash)
        assert.strictEqual(toHex(block.transactions[0]?.outputs[0]?.script ?? assert.fail()), "5151")
        assert.deepStrictEqual((yield* call("generatetoaddress", 1, ADDRESS, 0)).value, [])
        assert.lengthOf((yield* call("generatetoaddress", 1, ADDRESS, -1)).text, 68)
        assert.deepStrictEqual(yield* refusal("generatetoaddress", 1, "nope"), {
          code: -5,
          message: "Error: Invalid address"
        })
        assert.deepStrictEqual(yield* refusal("generatetodescriptor", 1, "raw(5)"), {
          code: -5,
          message: "Raw script is not hex"
        })
        const removed = yield* refusal("generate")
        assert.strictEqual(removed.code, -32601)
        assert.match(removed.message, /^generate\n/)
        assert.strictEqual((yield* refusal("generate", 1)).code, -1)
      })
    ))

  it.scopedLive(
    "mines a block of the given transactions",
    () =>
      withNode(({ call, chain, pool, refusal }) =>
        Effect.gen(function*() {
          yield* call("generatetodescriptor", 102, "raw(51)")
          const spend = (height: number) =>
            Effect.gen(function*() {
              const block = yield* chain.block(((yield* chain.headerAt(height)) ?? assert.fail()).hash)
              const reward = { transaction: block.transactions[0] ?? assert.fail(), vout: 0 }
              return currency([input(reward)], [{ value: 50e8 - 1_000, script: ANYONE }])
            })
          const [pooled, raw, early] = [yield* spend(1), yield* spend(2), yield* spend(60)]
          pool.hold(chunkOf(entryOf(pooled, { fee: 1_000 })))
          const txid = displayHash(pooled.txid)
          const kept = yield* call("generateblock", "raw(51)", [txid, toHex(raw.bytes)], false)
          const { hash, hex } = JSON.parse(kept.text)
          const block = decodeBlock(fromHex(hex) ?? assert.fail())
          assert.strictEqual(displayHash(block.hash), hash)
          assert.deepStrictEqual(block.transactions.slice(1).map(({ txid }) => displayHash(txid)), [
            txid,
            displayHash(raw.txid)
          ])
          assert.strictEqual((yield* chain.tip).height, 102)
          const mined = JSON.parse((yield* call("generateblock", ADDRESS, [txid])).text)
          assert.deepStrictEqual(Object.keys(mined), ["hash"])
          assert.strictEqual(displayHash((yield* chain.tip).hash), mined.hash)
          const none = "11".repeat(32)
          assert.deepStrictEqual(yield* refusal("generateblock", ADDRESS, [none]), {
            code: -5,
            message: `Transaction ${none} not in mempool.`
          })
          assert.deepStrictEqual(yield* refusal("generateblock", ADDRESS, ["00"]), {
            code: -22,
            message: "Transaction decode failed for 00. Make sure the tx has at least one input."
          })
          assert.deepStrictEqual(yield* refusal("generateblock", "nope", []), {
            code: -5,
            message: "Error: Invalid address or descriptor"
          })
          const refused = yield* refusal("generateblock", ADDRESS, [toHex(decodeTransaction(early.bytes).bytes)])
          assert.strictEqual(refused.code, -25)
          assert.match(refused.message, /^TestBlockValidity failed: bad-txns-premature-spend-of-coinbase, /)
        })
      ),
    60_000
  )
})

describe("figures and headers", () => {
  it.scopedLive("returns mining figures, and accepts headers", () =>
    withNode(({ call, chain, refusal }) =>
      Effect.gen(function*() {
        const before = JSON.parse((yield* call("getmininginfo")).text)
        assert.notProperty(before, "currentblockweight")
        assert.deepInclude(before, { blocks: 0, networkhashps: 0, pooledtx: 0, chain: "regtest", warnings: [] })
        assert.deepInclude(before.next, { height: 1, bits: "207fffff" })
        const time = Math.floor(Date.now() / 1000)
        yield* call("setmocktime", time)
        yield* call("generatetoaddress", 1, ADDRESS)
        assert.strictEqual((yield* chain.tip).header.time, time)
        yield* call("setmocktime", time + 100)
        yield* call("generatetoaddress", 1, ADDRESS)
        assert.deepInclude((yield* call("getmininginfo")).value, { currentblockweight: 8_000, currentblocktx: 0 })
        // Two hashes per block, and a hundred seconds from the first to the second.
        assert.strictEqual((yield* call("getnetworkhashps", 1)).value, 0.02)
        assert.strictEqual((yield* call("getnetworkhashps", 1, 2)).value, 0.02)
        assert.strictEqual((yield* call("getnetworkhashps", 120, 0)).value, 0)
        const ours = { code: -8, message: "Block does not exist at specified height" }
        assert.deepStrictEqual(yield* refusal("getnetworkhashps", 120, 3), ours)
        assert.deepStrictEqual(yield* refusal("getnetworkhashps", 120, -2), ours)
        for (const nblocks of [0, -2]) assert.strictEqual((yield* refusal("getnetworkhashps", nblocks)).code, -8)

        const { hex } = JSON.parse((yield* call("generateblock", ADDRESS, [], false)).text)
        const tip = (yield* chain.tip).height
        assert.isNull((yield* call("submitheader", hex)).value, "what follows the header is ignored")
        assert.strictEqual((yield* chain.headerTip).height, tip + 1)
        assert.strictEqual((yield* refusal("submitheader", hex.slice(0, 158))).code, -22)
        assert.strictEqual((yield* refusal("submitheader", "zz")).code, -22)
        const orphan = `${hex.slice(0, 8)}${"11".repeat(32)}${hex.slice(72)}`
        assert.deepStrictEqual(yield* refusal("submitheader", orphan), {
          code: -25,
          message: `Must submit previous header (${"11".repeat(32)}) first`
        })
        const changed = `${hex.slice(0, 72)}${"00".repeat(32)}${hex.slice(136)}`
        assert.deepStrictEqual(yield* refusal("submitheader", changed), { code: -25, message: "high-hash" })
      })
    ))

  it.scopedLive("limits the mock times", () =>
    withNode(({ call, callText, refusal, refusalOfText }) =>
      Effect.gen(function*() {
        assert.isNull((yield* callText("setmocktime", "[9223372036]")).value)
        assert.isNull((yield* call("setmocktime", 0)).value)
        assert.deepStrictEqual(yield* refusal("setmocktime", -1), {
          code: -8,
          message: "Mocktime must be in the range [0, 9223372036], not -1."
        })
        assert.strictEqual((yield* refusalOfText("setmocktime", "[9223372037]")).code, -8)
        for (const seconds of [1, 3600]) assert.isNull((yield* call("mockscheduler", seconds)).value)
        for (const seconds of [0, -1, 3601]) {
          assert.deepStrictEqual(yield* refusal("mockscheduler", seconds), {
            code: -1,
            message: "delta_time must be between 1 and 3600 seconds (1 hr)"
          })
        }
        assert.isNull((yield* call("syncwithvalidationinterfacequeue")).value)
      })
    ))
})
