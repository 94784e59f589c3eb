import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { nameCommitment } from "../../../src/protocol/nameOperation.ts"
import { layer } from "../../support/layer.ts"
import { nameTx, output, reward } from "../../support/mempool.ts"
import { MethodNode } from "../../support/methodNode.ts"
import { saltOf, text } from "../../support/regtest.ts"
import { mine, spendableNode } from "../../support/spendableNode.ts"

layer(spendableNode)("name_pending", (it) => {
  it.effect("lists registrations and updates until they are mined", () =>
    Effect.gen(function*() {
      const { call, pool, refusal } = yield* MethodNode
      const name = text("d/example")
      const rand = saltOf(1)
      const registered = nameTx({ op: "name_new", commitment: nameCommitment(rand, name) }, [reward(1)])
      yield* Effect.orDie(pool.accept(registered))
      assert.deepStrictEqual((yield* call("name_pending")).value, [])
      const first = nameTx({ op: "name_firstupdate", name, rand, value: text("{\"ip\":\"1.2.3.4\"}") }, [
        output(registered),
        reward(2)
      ])
      const update = nameTx({ op: "name_update", name, value: Uint8Array.of(0xc3, 0xbc) }, [output(first), reward(3)])
      for (const transaction of [first, update]) yield* Effect.orDie(pool.accept(transaction))

      const { text: shown, value } = yield* call("name_pending", "d/example")
      assert.deepStrictEqual(value, [
        {
          name: "d/example",
          name_encoding: "ascii",
          value: "{\"ip\":\"1.2.3.4\"}",
          value_encoding: "ascii",
          txid: displayHash(first.txid),
          vout: 0,
          address: Object(value)[0].address,
          op: "name_firstupdate"
        },
        {
          name: "d/example",
          name_encoding: "ascii",
          value_error: "invalid data for ascii",
          value_encoding: "ascii",
          txid: displayHash(update.txid),
          vout: 0,
          address: Object(value)[0].address,
          op: "name_update"
        }
      ])
      assert.strictEqual((yield* call("name_pending")).text, shown)
      assert.strictEqual((yield* call("name_pending", null)).text, shown)
      assert.deepStrictEqual((yield* call("name_pending", "d/none")).value, [])
      const encoded = yield* call("name_pending", "642F6578616D706C65", { nameEncoding: "hex", valueEncoding: "utf8" })
      assert.deepInclude(Object(encoded.value)[1], { name: "642f6578616d706c65", value: "ü", value_encoding: "utf8" })

      assert.deepStrictEqual(yield* refusal("name_pending", "d/ü"), {
        code: -1000,
        message: "Name/value is invalid for encoding ascii"
      })
      assert.deepStrictEqual(yield* refusal("name_pending", null, null), {
        code: -3,
        message: "JSON value of type null is not of expected type object"
      })

      yield* mine(registered)
      for (let n = 0; n < 11; n++) yield* mine()
      yield* mine(first)
      assert.deepStrictEqual(Object((yield* call("name_pending")).value).map(({ op }: { op: string }) => op), [
        "name_update"
      ])
    }))
})
