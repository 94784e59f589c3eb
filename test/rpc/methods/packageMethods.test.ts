import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { Op } from "../../../src/protocol/script.ts"
import { layer } from "../../support/layer.ts"
import { FEE, output, pay, reward } from "../../support/mempool.ts"
import { MethodNode } from "../../support/methodNode.ts"
import { hexOf, spendableNode } from "../../support/spendableNode.ts"

const idOf = ({ txid }: { readonly txid: Uint8Array }): string => displayHash(txid)
const widOf = ({ wtxid }: { readonly wtxid: Uint8Array }): string => displayHash(wtxid)

layer(spendableNode)("submitpackage", (it) => {
  it.effect("accepts a parent without a fee with its child, and announces both", () =>
    Effect.gen(function*() {
      const { call, pool } = yield* MethodNode
      const parent = pay([reward(1)], { fee: 0 })
      const child = pay([output(parent)], { fee: 3 * FEE })
      const given = [hexOf(parent), hexOf(child)]
      const fees = (base: number) => ({
        base,
        "effective-feerate": Math.floor((3 * FEE * 1000) / (parent.virtualSize + child.virtualSize)) / 1e8,
        "effective-includes": [widOf(parent), widOf(child)]
      })
      assert.deepStrictEqual((yield* call("submitpackage", given)).value, {
        package_msg: "success",
        "tx-results": {
          [widOf(parent)]: { txid: idOf(parent), vsize: parent.virtualSize, fees: fees(0) },
          [widOf(child)]: { txid: idOf(child), vsize: child.virtualSize, fees: fees(0.003) }
        },
        "replaced-transactions": []
      })
      for (const { txidKey } of [parent, child]) assert.isTrue(pool.isUnbroadcast(txidKey))
      assert.deepStrictEqual((yield* call("submitpackage", given)).value, {
        package_msg: "success",
        "tx-results": {
          [widOf(parent)]: { txid: idOf(parent), vsize: parent.virtualSize, fees: { base: 0 } },
          [widOf(child)]: { txid: idOf(child), vsize: child.virtualSize, fees: { base: 0.003 } }
        },
        "replaced-transactions": []
      })
    }))

  it.effect("lists what the package replaces", () =>
    Effect.gen(function*() {
      const { call, pool } = yield* MethodNode
      const old = pay([reward(2)], { fee: FEE })
      const heir = pay([output(old)], { fee: FEE })
      for (const one of [old, heir]) yield* Effect.orDie(pool.accept(one))
      const parent = pay([reward(2)], { fee: 0 })
      const child = pay([output(parent)], { fee: 5 * FEE })
      const { value } = yield* call("submitpackage", [hexOf(parent), hexOf(child)])
      assert.sameMembers([...Object(value)["replaced-transactions"]], [idOf(old), idOf(heir)])
      assert.isUndefined(pool.get(old.txidKey))
    }))

  it.effect("tells what each transaction was refused for", () =>
    Effect.gen(function*() {
      const { call, pool } = yield* MethodNode
      const size = pool.info().size
      const parent = pay([reward(3)], { fee: 0 })
      const child = pay([output(parent)], { fee: 1 })
      const sizes = parent.virtualSize + child.virtualSize
      assert.deepStrictEqual((yield* call("submitpackage", [hexOf(parent), hexOf(child)])).value, {
        package_msg: "transaction failed",
        "tx-results": {
          [widOf(parent)]: { txid: idOf(parent), error: `min relay fee not met, 0 < ${parent.virtualSize * 100}` },
          [widOf(child)]: { txid: idOf(child), error: `min relay fee not met, 1 < ${sizes * 100}` }
        },
        "replaced-transactions": []
      })
      const dear = pay([reward(3)], { fee: 10 * FEE })
      const { value } = yield* call("submitpackage", [hexOf(dear)], "0.01")
      assert.deepStrictEqual(Object(value)["tx-results"], {
        [widOf(dear)]: { txid: idOf(dear), error: "max feerate exceeded" }
      })
      assert.strictEqual(pool.info().size, size)
    }))

  it.effect("refuses other packages", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const [a, b] = [pay([reward(4)]), pay([reward(5)])]
      const child = pay([output(a), output(b)])
      const count = { code: -8, message: "Array must contain between 1 and 25 transactions." }
      assert.deepStrictEqual(yield* refusal("submitpackage", []), count)
      assert.deepStrictEqual(yield* refusal("submitpackage", Array.from({ length: 26 }, () => hexOf(a))), count)
      assert.deepStrictEqual(yield* refusal("submitpackage", ["c0ffee"]), {
        code: -22,
        message: "TX decode failed: c0ffee Make sure the tx has at least one input."
      })
      const topology = {
        code: -25,
        message: "package topology disallowed. not child-with-parents or parents depend on each other."
      }
      assert.deepStrictEqual(yield* refusal("submitpackage", [hexOf(a), hexOf(b)]), topology)
      assert.deepStrictEqual(yield* refusal("submitpackage", [hexOf(child), hexOf(a)]), topology)
      const both = pay([output(a, 1), output(child)])
      assert.deepStrictEqual(yield* refusal("submitpackage", [hexOf(a), hexOf(child), hexOf(both)]), topology)
      assert.strictEqual((yield* refusal("submitpackage", [hexOf(a)], 1)).code, -8)
      const burning = pay([reward(6)], { more: [{ value: 1000, script: Uint8Array.of(Op.OP_RETURN, 1, 7) }] })
      assert.deepStrictEqual(yield* refusal("submitpackage", [hexOf(burning)]), {
        code: -25,
        message: "Unspendable output exceeds maximum configured by user (maxburnamount)"
      })
      const { value } = yield* call("submitpackage", [hexOf(burning)], null, "0.00001")
      assert.strictEqual(Object(value).package_msg, "success")
      // The limits of a package hold before any of its transactions is looked at.
      const heavy = [7, 8].map((height) => pay([reward(height)], { outputs: 1600, fee: 10_000_000 }))
      const last = pay(heavy.map((one) => output(one)), { fee: FEE })
      const large = yield* call("submitpackage", [...heavy, last].map(hexOf))
      assert.deepStrictEqual(Object(large.value)["tx-results"][widOf(last)], {
        txid: idOf(last),
        error: "package-not-validated"
      })
      assert.strictEqual(Object(large.value).package_msg, "package-too-large")
    }))
})
