import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { layer } from "../../../support/layer.ts"
import { MethodNode, methodNode } from "../../../support/methodNode.ts"

const VALUE = "v".repeat(500)

layer(methodNode({ blocks: false, wallets: true }))("walletcreatefundedpsbt with a name operation", (it) => {
  it.effect("funds every step of a name at its whole length, so that the mempool takes it", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const own = String((yield* call("getnewaddress")).value)
      yield* call("generatetoaddress", 120, own)

      /** Makes, signs and sends a step; returns its transaction, and the salt if it made one. */
      const send = (inputs: ReadonlyArray<object>, nameop: object) =>
        Effect.gen(function*() {
          const address = String((yield* call("getnewaddress")).value)
          const options = { nameop, add_inputs: true, changePosition: 1, fee_rate: 100 }
          const made = Object((yield* call("walletcreatefundedpsbt", inputs, [{ [address]: 0.01 }], 0, options)).value)
          const signed = Object((yield* call("walletprocesspsbt", made.psbt)).value)
          const { complete, hex } = Object((yield* call("finalizepsbt", signed.psbt)).value)
          assert.isTrue(complete)
          const txid = String((yield* call("sendrawtransaction", hex)).value)
          const { fees, vsize } = Object((yield* call("getmempoolentry", txid)).value)
          return { txid, rand: made.rand, rate: 1e8 * fees.base / vsize }
        })

      const name = "d/psbt"
      const first = yield* send([], { op: "name_new", name })
      assert.match(first.rand, /^[0-9a-f]{40}$/)
      yield* call("generatetoaddress", 12, own)
      const second = yield* send([{ txid: first.txid, vout: 0 }], {
        op: "name_firstupdate",
        name,
        value: VALUE,
        rand: first.rand
      })
      assert.isUndefined(second.rand)
      assert.approximately(second.rate, 100, 1)
      yield* call("generatetoaddress", 1, own)
      const third = yield* send([{ txid: second.txid, vout: 0 }], { op: "name_update", name, value: VALUE })
      assert.approximately(third.rate, 100, 1)
      yield* call("generatetoaddress", 1, own)
      assert.deepInclude((yield* call("name_show", name)).value, { value: VALUE, txid: third.txid })

      const outputs = [{ [own]: 0.01 }]
      const wrong = (options: object) => refusal("walletcreatefundedpsbt", [], outputs, 0, options)
      assert.strictEqual(
        (yield* wrong({ nameop: { op: "name_new", name }, nameop_vout: 1 })).message,
        "vout is out of range"
      )
      assert.strictEqual((yield* wrong({ nameop: { op: "name_gift", name } })).message, "Invalid name operation")
    }))
})
