import { assert, describe, it } from "@effect/vitest"
import { NamePool } from "../../src/mempool/NamePool.ts"
import type { PoolEntry } from "../../src/mempool/PoolEntry.ts"
import type { NameOperation } from "../../src/protocol/nameOperation.ts"
import { nameTx, reward } from "../support/mempool.ts"
import { nameNew, saltOf, text } from "../support/regtest.ts"

const scriptOf = (operation: NameOperation) => ({ operation, address: new Uint8Array(0) })

const commitmentTo = (salt: number, from = salt) => {
  const operation = nameNew(text("d/a"), saltOf(salt))
  const transaction = nameTx(operation, [reward(from)])
  const script = scriptOf(operation)
  const entry: PoolEntry = {
    transaction,
    fee: 0,
    modifiedFee: 0,
    weight: 4,
    vsize: 1,
    sigopCost: 0,
    time: 0,
    height: 0,
    sequence: 0,
    name: { vout: 0, script }
  }
  return { entry, transaction, made: [script] }
}

describe("NamePool", () => {
  it("remembers a commitment after its transaction is gone, and refuses only other transactions with it", () => {
    const pool = new NamePool()
    const one = commitmentTo(1)
    pool.add(one.entry)
    pool.remove(one.entry)
    assert.isFalse(pool.refuses(one.transaction, one.made))
    const other = commitmentTo(1, 2)
    assert.isTrue(pool.refuses(other.transaction, other.made))
  })

  it("forgets the oldest commitments beyond its capacity", () => {
    const pool = new NamePool(2)
    for (const salt of [1, 2, 3]) pool.add(commitmentTo(salt).entry)
    const refused = [1, 2, 3].map((salt) => {
      const other = commitmentTo(salt, 10 + salt)
      return pool.refuses(other.transaction, other.made)
    })
    assert.deepStrictEqual(refused, [false, true, true])
  })
})
