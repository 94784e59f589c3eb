import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FEE, output, pay, reward, withNode } from "../support/mempool.ts"

describe("Mempool", () => {
  it.live("adds transactions and finds them by all their identifiers", () =>
    withNode(({ mine, pool, take }) =>
      Effect.gen(function*() {
        const parent = yield* take(pay([reward(1)], { outputs: 2 }))
        const child = yield* take(pay([output(parent), output(parent, 1)]))
        assert.deepStrictEqual([...pool.entries()].map(({ transaction }) => transaction.txidKey), [
          parent.txidKey,
          child.txidKey
        ])
        assert.strictEqual(pool.get(parent.txidKey)?.fee, FEE)
        yield* mine([parent])
        assert.strictEqual(pool.info().size, 1)
      })
    ))
})
