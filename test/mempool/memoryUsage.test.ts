import { assert, describe, it } from "@effect/vitest"
import { entryMemory, entryUsage, referenceUsage } from "../../src/mempool/memoryUsage.ts"
import { Op } from "../../src/protocol/script.ts"
import { pay, reward } from "../support/mempool.ts"

/** An output with so many bytes of data: larger than a transaction may have, but this is only counted. */
const data = (length: number) => ({ value: 0, script: new Uint8Array(length).fill(Op.OP_RETURN) })

describe("the memory that counts for a transaction", () => {
  it("is that of the reference node for large scripts: its tests fill a pool of 5 MB with 72 of these", () => {
    const large = pay([reward(1)], { more: [data(67_441)] })
    assert.strictEqual(entryUsage(large), referenceUsage(large))
    assert.isBelow(72 * entryUsage(large) + entryUsage(pay([reward(2)])), 5_000_000)
    assert.isAbove(75 * entryUsage(large), 5_000_000)
    assert.isAbove(72 * entryMemory(large), 5_000_000)
  })

  it("bounds what a transaction takes here, for any form", () => {
    for (const outputs of [1, 2, 50, 1_000]) {
      const transaction = pay([reward(1)], { outputs })
      assert.isAtMost(entryMemory(transaction), 1.5 * entryUsage(transaction))
      assert.isAtLeast(entryUsage(transaction), referenceUsage(transaction))
      const places = transaction.inputs.length + transaction.outputs.length
      assert.isAtMost(entryMemory(transaction) + 150 * places, 1.5 * entryUsage(transaction, true))
    }
  })
})
