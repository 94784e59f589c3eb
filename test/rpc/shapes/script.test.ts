import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { addressOf } from "../../../src/protocol/address.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import { scriptJson, scriptSigJson } from "../../../src/rpc/shapes/script.ts"
import { bytesOf, hex } from "../../support/bytes.ts"

const context: ShapeContext = { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" }

const P2PKH = "76a914333333333333333333333333333333333333333388ac"

describe("an output script", () => {
  it("shows all members of a name, in order (reference/rpc.md 3.4)", () => {
    const script = `5303642f6201316d75${P2PKH}`
    assert.strictEqual(
      encodeJson(scriptJson(context, hex(script))),
      "{\"nameOp\":{\"op\":\"name_update\",\"name\":\"d/b\",\"name_encoding\":\"ascii\",\"value\":\"1\"," +
        "\"value_encoding\":\"ascii\"},\"asm\":\"OP_NAME_UPDATE 642f62 49 OP_2DROP OP_DROP OP_DUP OP_HASH160 " +
        "3333333333333333333333333333333333333333 OP_EQUALVERIFY OP_CHECKSIG\",\"desc\":" +
        `"raw(${script})#z9ky5huh","hex":"${script}","address":"mkBg6GwqZ4XdYQ72vTEqiwfgb6T6WRSDm5",` +
        "\"type\":\"pubkeyhash\"}"
    )
  })

  it("shows addresses of the network, and values in the requested encoding", () => {
    const script = hex(`5303642f6201ff6d75${P2PKH}`)
    const members = scriptJson({ network: mainnet, nameEncoding: "hex", valueEncoding: "hex" }, script)
    assert.strictEqual(members["address"], addressOf(mainnet, hex(P2PKH)))
    assert.deepStrictEqual(JSON.parse(encodeJson(members["nameOp"] ?? null)), {
      op: "name_update",
      name: "642f62",
      name_encoding: "hex",
      value: "ff",
      value_encoding: "hex"
    })
  })

  it.each(["21" + "02".repeat(33) + "ac", "6a0401020304", "", "51", "ff"])("has no address: %s", (script) => {
    assert.isUndefined(scriptJson(context, hex(script))["address"])
  })

  it("can use a given descriptor", () => {
    assert.strictEqual(scriptJson(context, hex(P2PKH), "pkh(x)#00000000").desc, "pkh(x)#00000000")
  })

  it("can be any bytes", () => {
    FastCheck.assert(FastCheck.property(bytesOf(0, 80), (script) => {
      const members: unknown = JSON.parse(encodeJson(scriptJson(context, script)))
      assert.containsAllKeys(members, ["asm", "desc", "hex", "type"])
    }))
  })
})

it("a scriptSig shows the hash types of its signatures", () => {
  const signature = "3006020100020100"
  assert.strictEqual(
    encodeJson(scriptSigJson(hex(`09${signature}01 09${signature}04 0102`))),
    `{"asm":"${signature}[ALL] ${signature}04 2","hex":"09${signature}0109${signature}040102"}`
  )
})
