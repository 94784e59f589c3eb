import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Destination, encodeAddress } from "../../../src/protocol/address.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { withChecksum } from "../../../src/wallet/keys/descriptors.ts"
import { layer } from "../../support/layer.ts"
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
        const parts = (destination: Destination) =>
          Effect.map(call("validateaddress", encodeAddress(regtest, destination)), ({ value }) => {
            const said = Object.entries(value as object)
            return Object.fromEntries(said.filter(([name]) => name === "isscript" || name.includes("witness")))
          })
        const anchor = { kind: "witness", version: 1, program: Uint8Array.of(0x4e, 0x73) } as const
        assert.deepStrictEqual(yield* parts(anchor), { isscript: true, iswitness: true })
        assert.deepStrictEqual(yield* parts({ kind: "witness", version: 2, program: Uint8Array.of(1, 2) }), {
          iswitness: true,
          witness_version: 2,
          witness_program: "0102"
        })
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
        const shown =
          "tpubD6NzVbkrYhZ4XYa9MoLt4BiMZ4gkt2faZ4BcmKu2a9te4LDpQmvEz2L2yDERivHxFPnxXXhqDRkUNnQCpZggCyEZLBktV7VaSmwayqMJy1s"
        const hardened = yield* call("getdescriptorinfo", `wpkh(${master}/0/*h)`)
        assert.include(hardened.value, { descriptor: withChecksum(`wpkh(${shown}/0/*h)`), isrange: true })
        // An apostrophe stays one, since the checksum covers it.
        const written = yield* call("getdescriptorinfo", `wpkh(${shown}/0'/1)`)
        assert.include(written.value, { descriptor: withChecksum(`wpkh(${shown}/0'/1)`), isrange: false })
      }))

    it.effect("getdescriptorinfo lists the descriptors of alternative paths", () =>
      Effect.gen(function*() {
        const { call } = yield* MethodNode
        const key =
          "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
        const { value } = yield* call("getdescriptorinfo", `wpkh(${key}/<0;1>/*)`)
        const paths = [withChecksum(`wpkh(${key}/0/*)`), withChecksum(`wpkh(${key}/1/*)`)]
        assert.deepInclude(value, { descriptor: paths[0], multipath_expansion: paths, isrange: true })
      }))

    it.effect("deriveaddresses derives ranges, alternative paths and hardened children", () =>
      Effect.gen(function*() {
        const { call, refusal } = yield* MethodNode
        const key =
          "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
        // The answers of the reference node.
        const second = ["ncrt1qhku5rq7jz8ulufe2y6fkcpnlvpsta7rqldhhy3", "ncrt1qpgptk2gvshyl0s9lqshsmx932l9ccsv2svf354"]
        assert.deepStrictEqual(
          (yield* call("deriveaddresses", withChecksum(`wpkh(${key}/1/1/*)`), [1, 2])).value,
          second
        )
        assert.deepStrictEqual((yield* call("deriveaddresses", withChecksum(`wpkh(${key}/1/<0;1>/*)`), [1, 2])).value, [
          ["ncrt1q7c8mdmdktrzs8xgpjmqw90tjn65j5a3ychhxcx", "ncrt1qs6n37uzu0v0qfzf0r0csm0dwa7prc0v5k9w4d6"],
          second
        ])
        assert.deepStrictEqual((yield* call("deriveaddresses", withChecksum(`combo(${key}/1/1/0)`))).value, [
          "mtfUoUax9L4tzXARpw1oTGxWyoogp52KhJ",
          "ncrt1qjqmxmkpmxt80xz4y3746zgt0q3u3ferrmdl9yp",
          "2NDvEwGfpEqJWfybzpKPHF2XH3jwoQV3D7x"
        ])
        const refused = (text: string, ...more: ReadonlyArray<number>) =>
          Effect.map(refusal("deriveaddresses", withChecksum(text), ...more), ({ code, message }) => [code, message])
        assert.deepStrictEqual(yield* refused(`wpkh(${key}/*)`), [
          -8,
          "Range must be specified for a ranged descriptor"
        ])
        assert.deepStrictEqual(yield* refused(`wpkh(${key}/*)`, -1), [-8, "End of range is too high"])
        assert.deepStrictEqual(yield* refused(`pk(${key}/0)`), [
          -5,
          "Descriptor does not have a corresponding address"
        ])
        const shown =
          "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
        assert.deepStrictEqual(yield* refused(`wpkh(${shown}/1'/1/0)`), [
          -5,
          "Cannot derive script without private keys"
        ])
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
