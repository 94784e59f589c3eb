import { assert, describe, it } from "@effect/vitest"
import type { CoinStatistics } from "../../../src/chain/state/coinStats.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import { coinJson, coinStatsJson } from "../../../src/rpc/shapes/coins.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import { hash, hex } from "../../support/bytes.ts"

const context: ShapeContext = { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" }

describe("an unspent output, as the reference node printed it (reference/rpc.md 3.2)", () => {
  it("of an ordinary payment", () => {
    const coin = {
      value: 4_717_506_900,
      script: hex("76a9149fc08e61613d839e0bf9e41ad8ef0ddedad59d9388ac"),
      height: 7,
      coinbase: false
    }
    const bestBlock = hash("58fff9984b180287a43e10217757eff129875c700544b7d40ead894030920435")
    assert.strictEqual(
      encodeJson(coinJson(context, coin, { bestBlock, confirmations: 1 })),
      "{\"bestblock\":\"58fff9984b180287a43e10217757eff129875c700544b7d40ead894030920435\",\"confirmations\":1," +
        "\"value\":47.17506900,\"scriptPubKey\":{\"asm\":\"OP_DUP OP_HASH160 9fc08e61613d839e0bf9e41ad8ef0ddedad59d93 " +
        "OP_EQUALVERIFY OP_CHECKSIG\",\"desc\":\"addr(mv5eQbKYVrKeu5pjgfU9tu5kuAyVLjhEiR)#dc8qct2l\"," +
        "\"hex\":\"76a9149fc08e61613d839e0bf9e41ad8ef0ddedad59d9388ac\"," +
        "\"address\":\"mv5eQbKYVrKeu5pjgfU9tu5kuAyVLjhEiR\",\"type\":\"pubkeyhash\"},\"coinbase\":false}"
    )
  })

  it("of a name", () => {
    const coin = {
      value: 1_000_000,
      script: hex("5303642f62056d6f7665646d7576a914d932a2ed0af4782b6769f6059d3fb16ad8826b7688ac"),
      height: 181,
      coinbase: true
    }
    const bestBlock = hash("fcd48a591dd9f7d6d3831324a8e91f1ec183764e1678603fa7a43e9cff962353")
    assert.deepStrictEqual(JSON.parse(encodeJson(coinJson(context, coin, { bestBlock, confirmations: 0 }))), {
      bestblock: "fcd48a591dd9f7d6d3831324a8e91f1ec183764e1678603fa7a43e9cff962353",
      confirmations: 0,
      value: 0.01,
      scriptPubKey: {
        nameOp: { op: "name_update", name: "d/b", name_encoding: "ascii", value: "moved", value_encoding: "ascii" },
        asm: "OP_NAME_UPDATE 642f62 6d6f766564 OP_2DROP OP_DROP OP_DUP OP_HASH160 " +
          "d932a2ed0af4782b6769f6059d3fb16ad8826b76 OP_EQUALVERIFY OP_CHECKSIG",
        desc: "raw(5303642f62056d6f7665646d7576a914d932a2ed0af4782b6769f6059d3fb16ad8826b7688ac)#ukj4rk4j",
        hex: "5303642f62056d6f7665646d7576a914d932a2ed0af4782b6769f6059d3fb16ad8826b7688ac",
        address: "n1KPaxkVmhFtPmVq2B9eF4FV82ESyQVBBY",
        type: "pubkeyhash"
      },
      coinbase: true
    })
  })
})

describe("all unspent outputs together", () => {
  const stats: CoinStatistics = {
    txouts: 204,
    transactions: 201,
    bogosize: 15_993,
    coins: 859_993_000_000,
    names: 7_000_000,
    kind: "hash_serialized_3",
    hash: hash("46c991e62173a79c3b71fd64836b13fdae9873d759d70ea05aa86d759d479cbf")
  }
  const place = {
    height: 195,
    hash: hash("fcd48a591dd9f7d6d3831324a8e91f1ec183764e1678603fa7a43e9cff962353"),
    diskSize: 0
  }

  it("match the reference node's (reference/rpc.md 3.2)", () => {
    assert.strictEqual(
      encodeJson(coinStatsJson(stats, place)),
      "{\"height\":195,\"bestblock\":\"fcd48a591dd9f7d6d3831324a8e91f1ec183764e1678603fa7a43e9cff962353\"," +
        "\"txouts\":204,\"bogosize\":15993," +
        "\"hash_serialized_3\":\"46c991e62173a79c3b71fd64836b13fdae9873d759d70ea05aa86d759d479cbf\"," +
        "\"amount\":{\"coins\":8599.93000000,\"names\":0.07000000,\"total\":8600.00000000}," +
        "\"transactions\":201,\"disk_size\":0}"
    )
  })

  it("have the other hash, or none", () => {
    const muhash = encodeJson(coinStatsJson({ ...stats, kind: "muhash" }, place))
    assert.include(muhash, "\"bogosize\":15993,\"muhash\":\"46c9")
    assert.notInclude(muhash, "hash_serialized_3")
    const none = encodeJson(coinStatsJson({ ...stats, kind: "none", hash: undefined }, place))
    assert.include(none, "\"bogosize\":15993,\"amount\"")
  })
})
