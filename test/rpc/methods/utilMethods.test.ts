import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

layer(methodNode({ txIndex: true, options: { nameHashIndex: false } }))(
  "methods about addresses, descriptors and indexes",
  (it) => {
    it.effect("validateaddress shows the parts of an address (reference/rpc.md 3.8)", () =>
      Effect.gen(function*() {
        const { call } = yield* MethodNode
        assert.strictEqual(
          (yield* call("validateaddress", "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV")).text,
          "{\"isvalid\":true,\"address\":\"n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV\"," +
            "\"scriptPubKey\":\"76a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac\",\"isscript\":false,\"iswitness\":false}"
        )
        assert.strictEqual(
          (yield* call("validateaddress", "x")).text,
          "{\"isvalid\":false,\"error_locations\":[]," +
            "\"error\":\"Invalid checksum or length of Base58 address (P2PKH or P2SH)\"}"
        )
        const { value } = yield* call("validateaddress", "ncrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kwsfjw6")
        assert.include(value, { isvalid: true, isscript: false, iswitness: true, witness_version: 0 })
      }))

    it.effect("getdescriptorinfo returns the public form and both checksums", () =>
      Effect.gen(function*() {
        const { call, refusal } = yield* MethodNode
        const key = "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9"
        const { value } = yield* call("getdescriptorinfo", `wpkh(${key})`)
        assert.include(value, { isrange: false, issolvable: true, hasprivatekeys: false })
        const secret = "cQDxbmQfwRV3vP1mdnVHq37nJekHLsuD3wdSQseBRA2ct4MFk5Pq"
        const { text } = yield* call("getdescriptorinfo", `pkh(${secret})`)
        assert.notInclude(text, secret)
        assert.match(text, /"hasprivatekeys":true/)
        assert.strictEqual((yield* refusal("getdescriptorinfo", "wpkh(nothing)")).code, -5)
        assert.strictEqual((yield* refusal("getdescriptorinfo", `wpkh(${key})#aaaaaaaa`)).code, -5)
        const master =
          "tprv8ZgxMBicQKsPe5YMU9gHen4Ez3ApihUfykaqUorj9t6FDqy3nP6eoXiAo2ssvpAjoLroQxHqr3R5nE3a5dU3DHTjTgJDd7zrbniJr6nrCzd"
        const hardened = yield* refusal("getdescriptorinfo", `wpkh(${master}/0/*h)`)
        assert.strictEqual(hardened.code, -5)
        assert.notInclude(hardened.message, "tprv")
      }))

    it.effect("getindexinfo lists the enabled indexes", () =>
      Effect.gen(function*() {
        const { call, withOptions } = yield* MethodNode
        assert.strictEqual(
          (yield* call("getindexinfo")).text,
          "{\"txindex\":{\"synced\":true,\"best_block_height\":600}}"
        )
        assert.strictEqual((yield* call("getindexinfo", "coinstatsindex")).text, "{}")
        const both = yield* withOptions({ nameHashIndex: true })
        assert.deepStrictEqual(Object.keys(JSON.parse((yield* both.call("getindexinfo")).text)), [
          "txindex",
          "namehash"
        ])
      }))
  }
)
