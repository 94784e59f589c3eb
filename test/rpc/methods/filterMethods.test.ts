import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { prevoutIndex, prevoutTxid } from "../../../src/protocol/transaction.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const stale = fixtureBlocks("regtest-names/stale.dat")

const hashAt = (height: number): string => displayHash(blocks[height]?.hash ?? assert.fail())

const NOBODYS = "ab".repeat(32)

/** A script that some blocks pay to, and the blocks that pay to it or spend from it. */
const script = blocks[300]?.transactions[0]?.outputs[0]?.script ?? assert.fail("no output")
const made = new Set<string>()
const related = blocks.filter(({ transactions }) => {
  let found = false
  for (const { inputs, outputs, txid } of transactions) {
    if (inputs.some(({ prevout }) => made.has(`${toHex(prevoutTxid(prevout))}:${prevoutIndex(prevout)}`))) found = true
    for (const [i, output] of outputs.entries()) {
      if (toHex(output.script) !== toHex(script)) continue
      found = true
      made.add(`${toHex(txid)}:${i}`)
    }
  }
  return found
})

layer(methodNode({ indexes: true }))("with all indexes", (it) => {
  it.effect("getindexinfo lists them", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const state = { synced: true, best_block_height: 600 }
      assert.deepInclude((yield* call("getindexinfo")).value, {
        "basic block filter index": state,
        coinstatsindex: state,
        txospenderindex: state
      })
      assert.deepStrictEqual((yield* call("getindexinfo", "coinstatsindex")).value, { coinstatsindex: state })
    }))

  it.effect("getblockfilter returns the filters of blocks, and refuses others", () =>
    Effect.gen(function*() {
      const { call, chain, refusal } = yield* MethodNode
      for (const height of [0, 600]) {
        const { value } = yield* call("getblockfilter", hashAt(height))
        assert.match(Object(value).filter, /^(?!00)/)
        assert.lengthOf(Object(value).header, 64)
      }
      assert.deepStrictEqual(yield* refusal("getblockfilter", hashAt(1), "advanced"), {
        code: -5,
        message: "Unknown filtertype"
      })
      assert.deepStrictEqual(yield* refusal("getblockfilter", NOBODYS), { code: -5, message: "Block not found" })
      const [side = assert.fail()] = stale.slice(-2)
      yield* chain.sink.acceptHeaders([side])
      assert.deepStrictEqual(yield* refusal("getblockfilter", displayHash(side.hash)), {
        code: -5,
        message: "Filter not found. Block was not connected to active chain."
      })
    }))

  it.effect("scanblocks finds the blocks of a script, and getdescriptoractivity what happened there", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.isAbove(related.length, 2)
      const objects = [`raw(${toHex(script)})`]
      const exact =
        (yield* call("scanblocks", "start", objects, 0, null, "basic", { filter_false_positives: true })).value
      const hashes = related.map(({ hash }) => displayHash(hash))
      assert.deepStrictEqual(exact, { from_height: 0, to_height: 600, relevant_blocks: hashes, completed: true })
      const some = Object((yield* call("scanblocks", "start", objects, 299, 301)).value)
      assert.include(some.relevant_blocks, hashAt(300))
      const { activity } = Object((yield* call("getdescriptoractivity", hashes.toReversed(), objects)).value)
      assert.strictEqual(activity.filter(({ type }: { readonly type: string }) => type === "receive").length, made.size)
      assert.deepStrictEqual(
        new Set(activity.map(({ blockhash }: { readonly blockhash: string }) => blockhash)).size,
        hashes.length
      )
    }))

  it.effect("scanblocks refuses wrong ranges, types and actions", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const message = (...params: ReadonlyArray<unknown>) =>
        Effect.map(refusal("scanblocks", ...params), ({ code, message }) => `${code} ${message}`)
      assert.isNull((yield* call("scanblocks", "status")).value)
      assert.strictEqual((yield* call("scanblocks", "abort")).value, false)
      assert.strictEqual(yield* message("start", [], 601), "-1 Invalid start_height")
      assert.strictEqual(yield* message("start", [], 5, 4), "-1 Invalid stop_height")
      assert.strictEqual(yield* message("start", [], 5, 601), "-1 Invalid stop_height")
      assert.strictEqual(yield* message("start", [], 0, 1, "x"), "-5 Unknown filtertype")
      assert.strictEqual(yield* message("go"), "-8 Invalid action 'go'")
    }))

  it.effect("getdescriptoractivity refuses blocks off the chain", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      assert.deepStrictEqual(yield* refusal("getdescriptoractivity", [NOBODYS], []), {
        code: -5,
        message: "Block not found"
      })
    }))

  it.effect("gettxspendingprevout finds confirmed spenders", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const block = blocks.findLast(({ transactions }) => transactions.length > 1) ?? assert.fail()
      const [, spender = assert.fail()] = block.transactions
      const [{ prevout } = assert.fail()] = spender.inputs
      const output = { txid: displayHash(prevoutTxid(prevout)), vout: prevoutIndex(prevout) }
      const unspent = { txid: displayHash(blocks[600]?.transactions[0]?.txid ?? assert.fail()), vout: 0 }
      const spent = { spendingtxid: displayHash(spender.txid), blockhash: displayHash(block.hash) }
      assert.deepStrictEqual((yield* call("gettxspendingprevout", [output, unspent])).value, [
        { ...output, ...spent },
        unspent
      ])
      assert.deepStrictEqual(
        (yield* call("gettxspendingprevout", [output], { return_spending_tx: true })).value,
        [{ ...output, ...spent, spendingtx: toHex(spender.bytes) }]
      )
      assert.deepStrictEqual((yield* call("gettxspendingprevout", [output], { mempool_only: true })).value, [output])
    }))

  it.effect("gettxoutsetinfo answers from the index, for the tip as a scan does, and for any block", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const indexed = Object((yield* call("gettxoutsetinfo", "muhash")).value)
      const scanned = Object((yield* call("gettxoutsetinfo", "muhash", null, false)).value)
      for (const name of ["height", "bestblock", "txouts", "bogosize", "muhash", "amount"]) {
        assert.deepStrictEqual(indexed[name], scanned[name], name)
      }
      assert.isUndefined(indexed.transactions)
      const at = Object((yield* call("gettxoutsetinfo", "none", 5)).value)
      assert.deepInclude(at, { height: 5, bestblock: hashAt(5), txouts: 5 })
      assert.isUndefined(at.muhash)
      assert.include(at.block_info, { coinbase: 50, prevout_spent: 0, unspendable: 0 })
      assert.deepStrictEqual((yield* call("gettxoutsetinfo", "none", hashAt(5))).value, at)
      const first = Object((yield* call("gettxoutsetinfo", "none", 0)).value)
      assert.strictEqual(first.block_info.unspendables.genesis_block, 50)
      const message = (...params: ReadonlyArray<unknown>) =>
        Effect.map(refusal("gettxoutsetinfo", ...params), ({ code, message }) => `${code} ${message}`)
      assert.strictEqual(
        yield* message("hash_serialized_3", 5),
        "-8 hash_serialized_3 hash type cannot be queried for a specific block"
      )
      assert.strictEqual(
        yield* message("muhash", 5, false),
        "-8 Cannot set use_index to false when querying for a specific block"
      )
      assert.strictEqual(yield* message("muhash", 601), "-8 Target block height 601 after current tip 600")
      assert.strictEqual((yield* call("gettxoutsetinfo")).when, "the index is not used")
    }))
})

layer(methodNode())("without indexes", (it) => {
  it.effect("the methods name the index that they need", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const message = (name: string, ...params: ReadonlyArray<unknown>) =>
        Effect.map(refusal(name, ...params), ({ code, message }) => `${code} ${message}`)
      const disabled = "-1 Index is not enabled for filtertype basic"
      assert.strictEqual(yield* message("getblockfilter", hashAt(1)), disabled)
      assert.strictEqual(yield* message("scanblocks", "start", []), disabled)
      assert.match(
        yield* message("gettxspendingprevout", [{ txid: NOBODYS, vout: 0 }], { mempool_only: false }),
        /^-1 No spending tx for the outpoint (ab)+:0 in mempool, and txospenderindex is unavailable\.$/
      )
    }))
})
