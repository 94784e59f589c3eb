import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { mempoolMethods } from "../../../src/rpc/methods/mempoolMethods.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import { layer } from "../../support/layer.ts"
import { FEE, output, pay, reward } from "../../support/mempool.ts"
import { callsOf, MethodNode, methodNode } from "../../support/methodNode.ts"
import { hexOf, mine, spendableNode } from "../../support/spendableNode.ts"

const NOBODYS = "ab".repeat(32)
const idOf = ({ txid }: { readonly txid: Uint8Array }): string => displayHash(txid)

describe("an empty mempool", () => {
  layer(methodNode({ blocks: false }))((it) => {
    it.effect("answers as the reference node's", () =>
      Effect.gen(function*() {
        const { call } = yield* MethodNode
        const { text } = yield* call("getmempoolinfo")
        assert.strictEqual(
          text.replace(/"usage":\d+/, "\"usage\":0"),
          "{\"loaded\":true,\"size\":0,\"bytes\":0,\"usage\":0,\"total_fee\":0.00000000,\"maxmempool\":300000000," +
            "\"mempoolminfee\":0.00100000,\"minrelaytxfee\":0.00100000,\"incrementalrelayfee\":0.00000100," +
            "\"unbroadcastcount\":0,\"fullrbf\":true,\"permitbaremultisig\":true,\"maxdatacarriersize\":100000," +
            "\"limitclustercount\":64,\"limitclustersize\":101000,\"optimal\":true}"
        )
        assert.strictEqual((yield* call("getrawmempool")).text, "[]")
        assert.strictEqual((yield* call("getrawmempool", true)).text, "{}")
        assert.match((yield* call("getrawmempool", false, true)).text, /^\{"txids":\[\],"mempool_sequence":\d+\}$/)
        assert.strictEqual((yield* call("getmempoolfeeratediagram")).text, "[{\"weight\":0,\"fee\":0.00000000}]")
      }))

    it.effect("has no transaction", () =>
      Effect.gen(function*() {
        const { refusal } = yield* MethodNode
        for (
          const method of ["getmempoolentry", "getmempoolancestors", "getmempooldescendants", "getmempoolcluster"]
        ) {
          assert.deepStrictEqual(yield* refusal(method, NOBODYS), { code: -5, message: "Transaction not in mempool" })
          assert.deepStrictEqual(yield* refusal(method, "zz"), {
            code: -8,
            message: "txid must be of length 64 (not 2, for 'zz')"
          })
        }
        assert.deepStrictEqual(yield* refusal("getrawmempool", true, true), {
          code: -8,
          message: "Verbose results cannot contain mempool sequence values."
        })
        assert.strictEqual((yield* refusal("getrawmempool", 1)).code, -3)
      }))
  })

  layer(methodNode({ blocks: false, loading: true }))("before it is loaded", (it) => {
    it.effect("reports that it is loading and is not saved", () =>
      Effect.gen(function*() {
        const { call, refusal } = yield* MethodNode
        assert.include((yield* call("getmempoolinfo")).value, { loaded: false })
        assert.deepStrictEqual(yield* refusal("savemempool"), {
          code: -1,
          message: "The mempool was not loaded yet"
        })
      }))
  })
})

/** A parent with two outputs, a child of both that pays four times as much, and an unrelated transaction. */
const parent = pay([reward(1)], { outputs: 2, sequence: 0xffffffff })
const child = pay([output(parent), output(parent, 1)], { fee: 4 * FEE, sequence: 0xfffffffe })
const stranger = pay([reward(2)], { fee: 2 * FEE, sequence: 0xfffffffd })
const weights = { parent: parent.weight, child: child.weight, stranger: stranger.weight }

layer(spendableNode)("a mempool with a family and a stranger", (it) => {
  it.effect("lists transactions with their details and relations", () =>
    Effect.gen(function*() {
      const { call, pool } = yield* MethodNode
      const before = pool.info().sequence
      for (const transaction of [parent, child, stranger]) yield* Effect.orDie(pool.accept(transaction))
      pool.broadcastLater(stranger.txidKey)

      assert.deepInclude((yield* call("getmempoolinfo")).value, {
        size: 3,
        bytes: parent.virtualSize + child.virtualSize + stranger.virtualSize,
        total_fee: (7 * FEE) / 1e8,
        unbroadcastcount: 1
      })
      const txids = [parent, child, stranger].map(idOf)
      assert.deepStrictEqual((yield* call("getrawmempool")).value, txids)
      assert.deepStrictEqual((yield* call("getrawmempool", false, true)).value, {
        txids,
        mempool_sequence: before + 3
      })
      const verbose = yield* call("getrawmempool", true)
      assert.strictEqual(verbose.when, "verbose is true")
      assert.deepStrictEqual(Object.keys(Object(verbose.value)), txids)

      const whole = weights.parent + weights.child
      const { text, value } = yield* call("getmempoolentry", idOf(child))
      assert.deepStrictEqual(value, {
        vsize: child.virtualSize,
        weight: weights.child,
        time: 0,
        height: 139,
        descendantcount: 1,
        descendantsize: child.virtualSize,
        ancestorcount: 2,
        ancestorsize: child.virtualSize + parent.virtualSize,
        wtxid: displayHash(child.wtxid),
        chunkweight: whole,
        fees: { base: 0.004, modified: 0.004, ancestor: 0.005, descendant: 0.004, chunk: 0.005 },
        depends: [idOf(parent)],
        spentby: [],
        "bip125-replaceable": false,
        unbroadcast: false
      })
      assert.include(text, "\"base\":0.00400000")
      assert.deepStrictEqual(Object(verbose.value)[idOf(child)], value)
      assert.deepInclude((yield* call("getmempoolentry", idOf(parent))).value, {
        descendantcount: 2,
        ancestorcount: 1,
        depends: [],
        spentby: [idOf(child)],
        fees: { base: 0.001, modified: 0.001, ancestor: 0.001, descendant: 0.005, chunk: 0.005 }
      })
      assert.deepInclude((yield* call("getmempoolentry", idOf(stranger))).value, {
        "bip125-replaceable": true,
        unbroadcast: true,
        chunkweight: weights.stranger
      })

      assert.deepStrictEqual((yield* call("getmempoolancestors", idOf(child))).value, [idOf(parent)])
      assert.deepStrictEqual((yield* call("getmempoolancestors", idOf(parent))).value, [])
      assert.deepStrictEqual((yield* call("getmempooldescendants", idOf(parent))).value, [idOf(child)])
      assert.deepStrictEqual((yield* call("getmempooldescendants", idOf(parent), true)).value, {
        [idOf(child)]: value
      })
      assert.deepStrictEqual((yield* call("getmempoolcluster", idOf(parent))).value, {
        clusterweight: whole,
        txcount: 2,
        chunks: [{ chunkfee: 0.005, chunkweight: whole, txs: [idOf(parent), idOf(child)] }]
      })
      assert.deepStrictEqual((yield* call("getmempoolfeeratediagram")).value, [
        { weight: 0, fee: 0 },
        ...(5 / whole > 2 / weights.stranger
          ? [{ weight: whole, fee: 0.005 }]
          : [{ weight: weights.stranger, fee: 0.002 }]),
        { weight: whole + weights.stranger, fee: 0.007 }
      ])
    }))

  it.effect("shows which transaction spends an output", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const outputs = [{ txid: idOf(parent), vout: 1 }, { txid: idOf(child), vout: 0 }]
      const spending = { ...outputs[0], spendingtxid: idOf(child) }
      assert.deepStrictEqual((yield* call("gettxspendingprevout", outputs)).value, [spending, outputs[1]])
      assert.deepStrictEqual((yield* call("gettxspendingprevout", outputs, { return_spending_tx: true })).value, [
        { ...spending, spendingtx: hexOf(child) },
        outputs[1]
      ])
      assert.deepStrictEqual(
        (yield* call("gettxspendingprevout", outputs.slice(0, 1), { mempool_only: false })).value,
        [spending]
      )
      assert.deepStrictEqual(yield* refusal("gettxspendingprevout", outputs, { mempool_only: false }), {
        code: -1,
        message: `No spending tx for the outpoint ${idOf(child)}:0 in mempool, and txospenderindex is unavailable.`
      })
      const refusals: ReadonlyArray<readonly [outputs: unknown, code: number, message: string]> = [
        [[], -8, "Invalid parameter, outputs are missing"],
        [[{ txid: NOBODYS, vout: -1 }], -8, "Invalid parameter, vout cannot be negative"],
        [[{ txid: NOBODYS }], -3, "Missing vout"],
        [[{ txid: NOBODYS, vout: 0, x: 1 }], -3, "Unexpected key x"],
        [[{ txid: "zz", vout: 0 }], -8, "txid must be of length 64 (not 2, for 'zz')"],
        [[1], -3, "JSON value of type number is not of expected type object"]
      ]
      for (const [given, code, message] of refusals) {
        assert.deepStrictEqual(yield* refusal("gettxspendingprevout", given), { code, message })
      }
      const unknown = yield* refusal("gettxspendingprevout", outputs, { x: true })
      assert.deepStrictEqual(unknown, { code: -3, message: "Unexpected key x" })
    }))

  it.effect("is visible to gettxout and getrawtransaction", () =>
    Effect.gen(function*() {
      const { call, chain, refusal } = yield* MethodNode
      const tip = displayHash((yield* chain.tip).hash)
      // Spent in the mempool, and unspent in it.
      assert.isNull((yield* call("gettxout", idOf(reward(1).transaction), 0)).value)
      assert.include((yield* call("gettxout", idOf(reward(1).transaction), 0, false)).value, { confirmations: 139 })
      assert.isNull((yield* call("gettxout", idOf(parent), 0)).value)
      assert.isNull((yield* call("gettxout", idOf(child), 0, false)).value)
      assert.isNull((yield* call("gettxout", idOf(child), 1)).value)
      assert.include((yield* call("gettxout", idOf(child), 0)).value, {
        bestblock: tip,
        confirmations: 0,
        coinbase: false
      })

      assert.strictEqual((yield* call("getrawtransaction", idOf(child))).value, hexOf(child))
      const { value, when } = yield* call("getrawtransaction", idOf(child), 1)
      assert.strictEqual(when, "verbosity is 1 or more and it is in the mempool")
      assert.deepInclude(value, { txid: idOf(child), hex: hexOf(child) })
      assert.notProperty(value, "blockhash")
      assert.notProperty(value, "in_active_chain")
      assert.deepStrictEqual((yield* call("getrawtransaction", idOf(child), 2)).value, value)
      assert.strictEqual((yield* refusal("getrawtransaction", idOf(child), 0, tip)).code, -5)
    }))

  it.effect("loses the transactions of a block, and is saved", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      yield* mine(parent, child)
      assert.deepStrictEqual((yield* call("getrawmempool")).value, [idOf(stranger)])
      assert.include((yield* call("gettxout", idOf(child), 0)).value, { confirmations: 1 })
      assert.deepInclude((yield* call("getrawtransaction", idOf(child), 1)).value, { confirmations: 1 })
      assert.match((yield* call("savemempool")).text, /^\{"filename":".*mempool\.dat"\}$/)
    }))
})

describe("savemempool", () => {
  it.effect("reports only that the file could not be written", () =>
    Effect.gen(function*() {
      const { pool } = yield* MethodNode
      const reason = "no space left"
      const save = Effect.fail(new StorageUnavailable({ file: "/made/up/mempool.dat", doing: "writing", reason }))
      const methods = yield* Effect.provideService(mempoolMethods, Mempool, { ...pool, save })
      assert.deepStrictEqual(yield* callsOf(methodTable(methods)).refusal("savemempool"), {
        code: -1,
        message: "Unable to dump mempool to disk"
      })
    }).pipe(Effect.provide(methodNode({ blocks: false }))))
})
