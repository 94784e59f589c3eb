import { assert, describe, it } from "@effect/vitest"
import { handlingCost } from "../../../src/network/peer/costs.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { regtest } from "../../../src/protocol/networks.ts"

describe("handlingCost", () => {
  it("grows with what has to be looked at", () => {
    const header = decodeBlock(regtest.genesisBlock)
    assert.isAbove(
      handlingCost({ type: "headers", headers: Array.from({ length: 2_000 }, () => header) }),
      1_000 * handlingCost({ type: "headers", headers: [] })
    )
    assert.isAtLeast(handlingCost({ type: "tx", transaction: header.transactions[0] ?? assert.fail("none") }), 0.3)
  })

  it("is small for a ping, and for a whole handshake less than what a new peer has", () => {
    assert.isAtMost(handlingCost({ type: "ping", nonce: 1n }), 0.1)
    assert.isAtMost(2 * handlingCost({ type: "verack" }) + 10 * handlingCost({ type: "sendheaders" }), 5)
  })
})
