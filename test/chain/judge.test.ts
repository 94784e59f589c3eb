import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { regtestParams } from "../../src/consensus/params.ts"
import { makeBlock } from "../../src/protocol/block.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { temporaryDirectory, withChain } from "../support/chain.ts"
import { trustScripts } from "../support/MemoryChain.ts"
import { MemoryChain } from "../support/MemoryChain.ts"
import { ANYONE, buildBlock, currency, input, makeCoinbase, mine, rewardOf } from "../support/regtest.ts"

/** The same blocks twice: in memory to build on, and 110 of them on disk. */
const start = (height: number) => {
  const memory = new MemoryChain(regtestParams, trustScripts)
  const blocks = Array.from({ length: height }, () => mine(memory))
  return { memory, blocks }
}

describe("ChainSink.judge", () => {
  it.scopedLive("judge checks a block on top of the tip and stores nothing", () =>
    Effect.gen(function*() {
      const { blocks, memory } = start(110)
      yield* withChain(yield* temporaryDirectory, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks, false)
          const { height } = yield* chain.tip
          assert.strictEqual(height, 110)
          const reason = (block: Parameters<typeof chain.sink.judge>[0]) =>
            Effect.map(chain.sink.judge(block), (verdict) => verdict?.reason)
          const spent = rewardOf(memory, 1)
          const payment = currency([input(spent)], [{ value: 1, script: ANYONE }])
          const good = buildBlock(memory, [payment])
          assert.isUndefined(yield* reason(good))
          assert.isUndefined(yield* reason(good), "again, as if nothing had been")
          assert.strictEqual(chain.tree.find(good.hash), -1)

          // No proof of work is required.
          const { bits, merkleRoot, prevHash, time, version } = good.header
          const lazy = [0, 1, 2, 3, 4, 5, 6, 7].map((nonce) =>
            makeBlock(
              { header: makeHeader({ bits, merkleRoot, prevHash, time, version, nonce }), auxpow: undefined },
              good.transactions
            )
          )
          for (const block of lazy) assert.isUndefined(yield* reason(block))

          const greedy = makeCoinbase(111, [{ value: 50e8 + 1, script: ANYONE }])
          assert.strictEqual(yield* reason(buildBlock(memory, [], { coinbase: greedy })), "bad-cb-amount")
          assert.strictEqual(yield* reason(buildBlock(memory, [], { bits: 0x207ffffe })), "bad-diffbits")
          assert.strictEqual(yield* reason(buildBlock(memory, [], { time: 1_296_688_602 })), "time-too-old")
          const wrongHeight = makeCoinbase(7, [{ value: 50e8, script: ANYONE }])
          assert.strictEqual(yield* reason(buildBlock(memory, [], { coinbase: wrongHeight })), "bad-cb-height")
          assert.strictEqual(
            yield* reason(makeBlock(good, [...good.transactions, payment])),
            "bad-txnmrklroot"
          )
          const push = currency([input(spent, { scriptSig: Uint8Array.of(0x6a) })], [{ value: 1, script: ANYONE }])
          assert.match(
            (yield* reason(buildBlock(memory, [push]))) ?? "",
            /^mempool-script-verify-flag-failed \(OP_RETURN was encountered\)$/
          )
          const old = blocks[100] ?? assert.fail()
          assert.strictEqual(yield* reason(old), "inconclusive-not-best-prevblk")

          assert.strictEqual((yield* chain.sink.submit(good)).type, "connected")
          assert.strictEqual(yield* reason(good), "inconclusive-not-best-prevblk")
        }))
    }), 30_000)
})
