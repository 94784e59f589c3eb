import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { toHex } from "../../../src/protocol/bytes.ts"
import { sha256 } from "../../../src/protocol/hash.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import { decodeScriptJson } from "../../../src/rpc/shapes/decodeScript.ts"
import { bytesOf, hex } from "../../support/bytes.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"

const context: ShapeContext = { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" }

const decoded = (script: string) => JSON.parse(encodeJson(decodeScriptJson(context, hex(script))))

const KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
const OTHER_KEY = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
const UNCOMPRESSED = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
  "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
const KEY_HASH = "751e76e8199196d454941c45d1b3a323f1433bd6"

describe.skipIf(!hasShared)("vectors of rpc_decodescript.json", () => {
  const vectors = hasShared
    ? fixtureJson<ReadonlyArray<[string, unknown]>>("core/functional/rpc_decodescript.json")
    : []
  it.each(vectors)("%s", (script, expected) => assert.deepStrictEqual(decoded(script), expected))
})

it("a name script, as the reference node printed it (reference/rpc.md 3.4)", () => {
  assert.strictEqual(
    encodeJson(decodeScriptJson(context, hex("5303642f6201316d7576a914333333333333333333333333333333333333333388ac"))),
    "{\"nameOp\":{\"op\":\"name_update\",\"name\":\"d/b\",\"name_encoding\":\"ascii\",\"value\":\"1\"," +
      "\"value_encoding\":\"ascii\"},\"asm\":\"OP_NAME_UPDATE 642f62 49 OP_2DROP OP_DROP OP_DUP OP_HASH160 " +
      "3333333333333333333333333333333333333333 OP_EQUALVERIFY OP_CHECKSIG\",\"desc\":" +
      "\"raw(5303642f6201316d7576a914333333333333333333333333333333333333333388ac)#z9ky5huh\"," +
      "\"address\":\"mkBg6GwqZ4XdYQ72vTEqiwfgb6T6WRSDm5\",\"type\":\"pubkeyhash\"," +
      "\"p2sh\":\"2NC9nbEkYxPcnoc62E4YNQg2uGGW1vtKpPP\",\"segwit\":{" +
      "\"asm\":\"0 3333333333333333333333333333333333333333\"," +
      "\"desc\":\"addr(ncrt1qxvenxvenxvenxvenxvenxvenxvenxvengnm3wg)#k03dns2c\"," +
      "\"hex\":\"00143333333333333333333333333333333333333333\"," +
      "\"address\":\"ncrt1qxvenxvenxvenxvenxvenxvenxvenxvengnm3wg\",\"type\":\"witness_v0_keyhash\"," +
      "\"p2sh-segwit\":\"2N6GyG6Jf2M2ydeuUqEKihWzrjesj6qhvt7\"}}"
  )
})

describe("descriptors of witness scripts that upstream's rpc_decodescript.py expects", () => {
  const HTLC = `82012088a914${"ff".repeat(20)}8821`

  it.each([
    [
      `${HTLC}0250929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0ad51b2`,
      `wsh(and_v(and_v(v:hash160(${"ff".repeat(20)}),` +
      "v:pk(0250929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0)),older(1)))#gm8xz4fl"
    ],
    [
      `${HTLC}02${"ff".repeat(32)}acb2`,
      "addr(ncrt1q73qyfypp47hvgnkjqnav0j3k2lq3v76wg22dk8tmwuz5sfgv66xs3aerkv)#8h3nwnt6"
    ]
  ])("%s", (script, desc) => assert.strictEqual(decoded(script).segwit.desc, desc))
})

describe("the witness output of a script", () => {
  it.each([
    ["a key", `21${KEY}ac`],
    ["a key hash", `76a914${KEY_HASH}88ac`]
  ])("the hash of the key, for %s", (_, script) => {
    assert.strictEqual(decoded(script).segwit.hex, `0014${KEY_HASH}`)
    assert.strictEqual(decoded(script).segwit.type, "witness_v0_keyhash")
  })

  it.each([
    ["a multisig", `5121${KEY}21${OTHER_KEY}52ae`, `wsh(multi(1,${KEY},${OTHER_KEY}))#`],
    ["a miniscript", `21${KEY}ad029000b2`, `wsh(and_v(v:pk(${KEY}),older(144)))#`],
    ["a script that is neither", `21${KEY}ad74`, "addr(ncrt1q"],
    ["an unsafe miniscript", "029000b2", "addr(ncrt1q"],
    ["an empty script", "", "addr(ncrt1q"]
  ])("the hash of %s", (_, script, desc) => {
    const { segwit } = decoded(script)
    assert.strictEqual(segwit.hex, `0020${toHex(sha256(hex(script)))}`)
    assert.isTrue(segwit.desc.startsWith(desc), segwit.desc)
  })

  it.each([
    ["an uncompressed key", `41${UNCOMPRESSED}ac`],
    ["a multisig with an uncompressed key", `5121${KEY}41${UNCOMPRESSED}52ae`],
    ["a witness key hash", `0014${KEY_HASH}`],
    ["a witness script hash", `0020${"ee".repeat(32)}`]
  ])("nothing, for %s; but P2SH", (_, script) => {
    assert.notProperty(decoded(script), "segwit")
    assert.property(decoded(script), "p2sh")
  })

  it.each([
    ["pay-to-script-hash", `a914${KEY_HASH}87`],
    ["null data", "6a0101"],
    ["a script that cannot run", "6aff"],
    ["taproot", `5120${"ee".repeat(32)}`],
    ["an unknown witness program", "5202eeee"],
    ["an anchor", "51024e73"],
    ["a truncated push", "02ee"],
    ["an opcode beyond the last", "ba"],
    ["a push of 521 bytes", `4d0902${"00".repeat(521)}`],
    ["a script of 10,001 bytes", "61".repeat(10_001)],
    ...["50", "62", "7e", "81", "83", "86", "89", "8a", "8d", "8e", "95", "99"].map((opcode) => [
      `opcode ${opcode}`,
      `51${opcode}`
    ])
  ])("nothing, nor P2SH, for %s", (_, script = "") => {
    assert.notProperty(decoded(script), "segwit")
    assert.notProperty(decoded(script), "p2sh")
  })

  it.each([
    ["a push of 520 bytes", `4d0802${"00".repeat(520)}`],
    ["a script of 10,000 bytes", "61".repeat(10_000)],
    ...["4f", "61", "63", "65", "7d", "82", "87", "88", "8b", "8c", "8f", "94", "9a", "b9"].map((opcode) => [
      `opcode ${opcode}`,
      `51${opcode}`
    ])
  ])("something, for %s", (_, script = "") => assert.property(decoded(script), "segwit"))
})

it("decodeScript fails for no script", () => {
  FastCheck.assert(FastCheck.property(bytesOf(0, 120), (script) => {
    assert.containsAllKeys(decoded(toHex(script)), ["asm", "desc", "type"])
  }))
})
