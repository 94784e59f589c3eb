import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import * as NodeClock from "../../../src/base/NodeClock.ts"
import { mainnetParams, regtestParams } from "../../../src/consensus/params.ts"
import { mineParent, minimalAuxpow, parentCoinbase } from "../../../src/mempool/mining/minimalAuxpow.ts"
import { decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { displayHash, parseDisplayHash, toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { merkleRoot } from "../../../src/protocol/merkle.ts"
import { asleepFor } from "../../support/eventually.ts"
import { chunkOf, entryOf } from "../../support/pool.ts"
import { ANYONE, currency, input, makeCoinbase, solve } from "../../support/regtest.ts"
import { ADDRESS, SEGWIT, withNode } from "./miningNode.ts"

/** Leaves the clock of the tests alone. */
const noClock = Layer.merge(
  Layer.effect(NodeClock.NodeTime, Effect.clock),
  Layer.succeed(NodeClock.MockTime, { set: () => Effect.void, current: Effect.succeed(undefined) })
)

const proofHex = (hash: string, good: boolean): string => {
  const coinbase = parentCoinbase(parseDisplayHash(hash) ?? assert.fail())
  const work = { coinbase, bits: 0x207fffff, powLimit: regtestParams.powLimit }
  let bad = 0
  while (mineParent(work, { first: bad, count: 1 }) !== undefined) bad++
  const badParent = makeHeader({
    version: 1,
    prevHash: new Uint8Array(32),
    merkleRoot: coinbase.txid,
    time: 0,
    bits: 0,
    nonce: bad
  })
  return toHex(
    minimalAuxpow(coinbase, good ? mineParent(work, { first: 0, count: 1_000 }) ?? assert.fail() : badParent).bytes
  )
}

describe("merged mining", () => {
  it.scopedLive("makes a candidate and accepts its proof", () =>
    withNode(({ call, chain, refusal }) =>
      Effect.gen(function*() {
        const { text, value } = yield* call("createauxblock", ADDRESS)
        const candidate = JSON.parse(text)
        assert.include(value, {
          chainid: 1,
          previousblockhash: displayHash((yield* chain.tip).hash),
          coinbasevalue: 50e8,
          bits: "207fffff",
          height: 1,
          _target: `${"00".repeat(29)}ffff7f`
        })
        assert.strictEqual((yield* call("createauxblock", ADDRESS)).text, text)
        const submit = (auxpow: string) => call("submitauxblock", candidate.hash, auxpow)
        assert.isFalse((yield* submit(proofHex(candidate.hash, false))).value)
        assert.isTrue((yield* submit(proofHex(candidate.hash, true))).value)
        assert.isTrue((yield* submit(proofHex(candidate.hash, true))).value)
        assert.strictEqual(displayHash((yield* chain.tip).hash), candidate.hash)
        const message = "DataStream::read(): end of data: iostream error"
        for (const auxpow of ["x", "", "00"]) {
          assert.deepStrictEqual(yield* refusal("submitauxblock", candidate.hash, auxpow), { code: -1, message })
        }
        const unknown = { code: -8, message: "block hash unknown" }
        assert.deepStrictEqual(yield* refusal("submitauxblock", "00".repeat(32), "00"), unknown)
        assert.deepStrictEqual(yield* refusal("submitauxblock", "zz", "00"), {
          code: -8,
          message: "invalid block hash hex"
        })
        yield* call("createauxblock", ADDRESS)
        assert.deepStrictEqual(
          yield* refusal("submitauxblock", candidate.hash, proofHex(candidate.hash, true)),
          unknown,
          "of a tip that is gone"
        )
        assert.deepStrictEqual(yield* refusal("createauxblock", "nope"), {
          code: -5,
          message: "Error: Invalid coinbase payout address"
        })
      })
    ))

  it.scopedLive("waits for peers and the chain on the main network", () =>
    Effect.gen(function*() {
      const address = "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"
      const lonely = { code: -9, message: "Namecoin is not connected!" }
      const behind = { code: -10, message: "Namecoin is downloading blocks..." }
      const params = mainnetParams
      yield* withNode(({ refusal }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* refusal("createauxblock", address), lonely)
          assert.deepStrictEqual(yield* refusal("submitauxblock", "zz", "00"), lonely)
          assert.deepStrictEqual(yield* refusal("getblocktemplate", SEGWIT), {
            code: -9,
            message: "Namecoin Core is not connected!"
          })
          for (const method of ["setmocktime", "mockscheduler"]) {
            const message = `${method} is for regression testing (-regtest mode) only`
            assert.deepStrictEqual(yield* refusal(method, 1), { code: -1, message })
          }
        }), { params })
      yield* withNode(({ refusal }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* refusal("createauxblock", address), behind)
          assert.deepStrictEqual(yield* refusal("getblocktemplate", SEGWIT), {
            code: -10,
            message: "Namecoin Core is in initial sync and waiting for blocks..."
          })
        }), { params, peers: 1 })
    }))
})

describe("getblocktemplate", () => {
  it.scopedLive(
    "returns a template, and validates proposals",
    () =>
      withNode(({ call, chain, pool, refusal }) =>
        Effect.gen(function*() {
          yield* call("generatetodescriptor", 101, "raw(51)")
          const first = yield* chain.block(((yield* chain.headerAt(1)) ?? assert.fail()).hash)
          const reward = { transaction: first.transactions[0] ?? assert.fail(), vout: 0 }
          const parent = currency([input(reward)], [{ value: 50e8 - 1_000, script: ANYONE }])
          const child = currency([input({ transaction: parent, vout: 0 })], [{ value: 50e8 - 3_000, script: ANYONE }])
          pool.hold(chunkOf(entryOf(parent, { fee: 1_000, sigopCost: 4 }), entryOf(child, { fee: 2_000 })))
          pool.changes = 7
          const { text, when } = yield* call("getblocktemplate", SEGWIT)
          assert.strictEqual(when, "mode is template")
          const template = JSON.parse(text)
          assert.deepInclude(template, {
            version: 65540,
            rules: ["csv", "!segwit", "taproot"],
            vbavailable: {},
            height: 102,
            bits: "207fffff",
            coinbasevalue: 50e8 + 3_000,
            sigoplimit: 80_000,
            weightlimit: 4_000_000,
            previousblockhash: displayHash((yield* chain.tip).hash),
            longpollid: `${displayHash((yield* chain.tip).hash)}7`
          })
          assert.deepInclude(template.transactions[0], {
            fee: 1_000,
            sigops: 4,
            depends: [],
            data: toHex(parent.bytes)
          })
          assert.deepInclude(template.transactions[1], {
            fee: 2_000,
            sigops: 0,
            depends: [1],
            data: toHex(child.bytes)
          })

          const others = [parent, child]
          const blockOf = (reward: number) => {
            const all = [makeCoinbase(102, [{ value: reward, script: ANYONE }]), ...others]
            const header = solve({
              version: template.version,
              prevHash: parseDisplayHash(template.previousblockhash) ?? assert.fail(),
              merkleRoot: merkleRoot(all.map(({ txid }) => txid)).root,
              time: template.curtime,
              bits: 0x207fffff
            })
            return makeBlock({ header, auxpow: undefined }, all)
          }
          const propose = (block: { readonly bytes: Uint8Array }) =>
            Effect.map(call("getblocktemplate", { mode: "proposal", data: toHex(block.bytes) }), ({ value }) => value)
          const good = blockOf(template.coinbasevalue)
          assert.isNull(yield* propose(good))
          assert.strictEqual(yield* propose(blockOf(template.coinbasevalue + 1)), "bad-cb-amount")
          assert.strictEqual(yield* propose(decodeBlock(first.bytes)), "duplicate")
          assert.strictEqual((yield* chain.sink.submit(good)).type, "connected")
          assert.strictEqual(yield* propose(good), "duplicate")
          assert.strictEqual(yield* propose(blockOf(template.coinbasevalue - 1)), "inconclusive-not-best-prevblk")
          assert.deepStrictEqual(yield* refusal("getblocktemplate", { mode: "proposal" }), {
            code: -3,
            message: "Missing data String key for proposal"
          })
          assert.strictEqual((yield* refusal("getblocktemplate", { mode: "proposal", data: "00" })).code, -22)
          for (const mode of ["other", 5]) {
            assert.deepStrictEqual(yield* refusal("getblocktemplate", { mode }), { code: -8, message: "Invalid mode" })
          }
          assert.match((yield* refusal("getblocktemplate", {})).message, /must be called with the segwit rule set/)
          assert.strictEqual((yield* refusal("getblocktemplate", { rules: [1] })).code, -3)
          assert.match((yield* refusal("getblocktemplate", { ...SEGWIT, longpollid: "x" })).message, /^longpollid must/)
        })
      ),
    60_000
  )

  it.scopedLive(
    "offers the vote on the private network's own soft fork from the second period on",
    () =>
      withNode(({ call }) =>
        Effect.gen(function*() {
          const offered = Effect.map(call("getblocktemplate", SEGWIT), ({ text }) => {
            const { height, vbavailable, version } = JSON.parse(text)
            return { height, vbavailable, version }
          })
          yield* call("generatetodescriptor", 142, "raw(51)")
          assert.deepStrictEqual(yield* offered, { height: 143, vbavailable: {}, version: 65540 })
          yield* call("generatetodescriptor", 1, "raw(51)")
          assert.deepStrictEqual(yield* offered, { height: 144, vbavailable: { testdummy: 28 }, version: 65540 })
        })
      ),
    60_000
  )

  it.scoped(
    "waits for changed fees, checked from a minute on",
    () =>
      withNode(({ call, pool }) =>
        Effect.gen(function*() {
          const { longpollid } = JSON.parse((yield* call("getblocktemplate", SEGWIT)).text)
          const waiting = yield* Effect.fork(call("getblocktemplate", { ...SEGWIT, longpollid }))
          yield* TestClock.adjust("60 seconds")
          assert.strictEqual((yield* Fiber.poll(waiting))._tag, "None")
          pool.changes++
          yield* TestClock.adjust("10 seconds")
          const { longpollid: next } = JSON.parse((yield* Fiber.join(waiting)).text)
          assert.strictEqual(next, `${longpollid.slice(0, 64)}1`)
        }), { clock: noClock }),
    20_000
  )

  it.scoped("waits for another tip than that of the given longpollid", () =>
    withNode(({ call }) =>
      Effect.gen(function*() {
        const { longpollid } = JSON.parse((yield* call("getblocktemplate", SEGWIT)).text)
        const waiting = yield* Effect.fork(call("getblocktemplate", { ...SEGWIT, longpollid }))
        yield* asleepFor("60 seconds")
        assert.strictEqual((yield* Fiber.poll(waiting))._tag, "None")
        yield* call("generatetoaddress", 1, ADDRESS)
        assert.strictEqual(JSON.parse((yield* Fiber.join(waiting)).text).height, 2)
        const old = yield* call("getblocktemplate", { ...SEGWIT, longpollid })
        assert.strictEqual(JSON.parse(old.text).height, 2, "what is known is old already")
      }), { clock: noClock }))
})
