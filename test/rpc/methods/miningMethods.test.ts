import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, TestClock } from "effect"
import * as NodeClock from "../../../src/base/NodeClock.ts"
import * as Scheduler from "../../../src/base/Scheduler.ts"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import * as Warnings from "../../../src/chain/Warnings.ts"
import { mainnetParams, regtestParams } from "../../../src/consensus/params.ts"
import * as Miner from "../../../src/mempool/mining/Miner.ts"
import { mineParent, minimalAuxpow, parentCoinbase } from "../../../src/mempool/mining/minimalAuxpow.ts"
import { PeerManager } from "../../../src/network/PeerManager.ts"
import { decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { displayHash, fromHex, parseDisplayHash, toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { merkleRoot } from "../../../src/protocol/merkle.ts"
import { decodeTransaction } from "../../../src/protocol/transaction.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { miningMethods } from "../../../src/rpc/methods/miningMethods.ts"
import { testMethods } from "../../../src/rpc/methods/testMethods.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { chainLayer, temporaryDirectory, type TestChain, testChain } from "../../support/chain.ts"
import { asleepFor } from "../../support/eventually.ts"
import { type Calls, callsOf } from "../../support/methodNode.ts"
import { peerManager } from "../../support/peers.ts"
import { chunkOf, entryOf, FakePool } from "../../support/pool.ts"
import { ANYONE, currency, input, makeCoinbase, solve } from "../../support/regtest.ts"

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"
const SEGWIT = { rules: ["segwit"] }

interface Node extends Calls {
  readonly chain: TestChain
  readonly pool: FakePool
}

/** Leaves the clock of the tests alone. */
const noClock = Layer.succeed(NodeClock.MockTime, { set: () => Effect.void, current: Effect.succeed(undefined) })

/** Runs a test on the methods of a new node with that many peers. */
const withNode = <A, E>(
  use: (node: Node) => Effect.Effect<A, E>,
  { clock = NodeClock.layer(), params = regtestParams, peers = 0 } = {}
) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const pool = new FakePool()
    const test = Effect.gen(function*() {
      const methods = methodTable(yield* miningMethods, yield* testMethods)
      return yield* use({ chain: yield* testChain, pool, ...callsOf(methods) })
    })
    const network = Layer.succeed(
      PeerManager,
      peerManager({ count: Effect.succeed({ inbound: peers, outbound: 0 }) })
    )
    const status = SyncStatus.layer({ offline: true })
    const node = Layer.mergeAll(Miner.layer(), status, network, Scheduler.layer, Warnings.layer).pipe(
      Layer.provideMerge(DataHealth.layer),
      Layer.provideMerge(Layer.merge(chainLayer(directory, params), pool.layer)),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
    return yield* Effect.provide(test, Layer.provideMerge(node, clock))
  })

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
