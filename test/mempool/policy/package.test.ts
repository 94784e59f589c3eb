import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Trial } from "../../../src/mempool/Mempool.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { FEE, output, pay, reward, shown, type TestNode, withNode } from "../../support/mempool.ts"

const wordsOf = (trial: Trial): string =>
  trial.type === "rejected"
    ? shown(trial.rejected)
    : trial.type === "unjudged"
    ? `unjudged: ${trial.packageError ?? ""}`
    : "accepted"

const verdicts = ({ pool }: TestNode, transactions: ReadonlyArray<Transaction>) =>
  Effect.map(Effect.orDie(pool.test(transactions)), (trials) => trials.map(wordsOf))

const chainOf = (length: number, version = 2): ReadonlyArray<Transaction> => {
  const made = [pay([reward(1)], { version })]
  for (let last = made[0]; last !== undefined && made.length < length; last = made.at(-1)) {
    made.push(pay([output(last)], { version }))
  }
  return made
}

describe("a test of several transactions", () => {
  it.live("lets later transactions spend earlier ones, and adds none to the pool", () =>
    withNode((node) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* verdicts(node, chainOf(25)), Array.from({ length: 25 }, () => "accepted"))
        assert.strictEqual(node.pool.info().size, 0)
        const [trial] = yield* node.pool.test(chainOf(2))
        assert.strictEqual(trial?.type === "accepted" ? trial.effectiveFeeRate : 0, Math.floor(FEE * 1000 / 85))
        assert.deepStrictEqual(yield* verdicts(node, []), [])
      })
    ))

  it.live("checks each by its own fee, and returns no result for the others if one fails", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [a, b] = [pay([reward(1)]), pay([reward(2)], { fee: 0 })]
        assert.deepStrictEqual(yield* verdicts(node, [a, b, pay([output(b)], { fee: 9 * FEE })]), [
          "unjudged: ",
          "min relay fee not met, 0 < 8500",
          "unjudged: "
        ])
      })
    ))

  it.live("refuses malformed packages", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [a, b] = chainOf(2)
        if (a === undefined || b === undefined) return assert.fail("no chain")
        const all = (error: string, count = 2) => Array.from({ length: count }, () => `unjudged: ${error}`)
        assert.deepStrictEqual(yield* verdicts(node, [b, a]), all("package-not-sorted"))
        assert.deepStrictEqual(yield* verdicts(node, [a, a]), all("package-contains-duplicates"))
        assert.deepStrictEqual(yield* verdicts(node, [a, pay([reward(1)], { fee: 1 })]), all("conflict-in-package"))
        assert.deepStrictEqual(yield* verdicts(node, chainOf(26)), all("package-too-many-transactions", 26))
        const heavy = [1, 2].map((n) => pay([reward(n)], { outputs: 1600, fee: 10_000_000 }))
        assert.deepStrictEqual(yield* verdicts(node, heavy), all("package-too-large"))
        const [x, y, z] = chainOf(3, 3)
        if (x === undefined || y === undefined || z === undefined) return assert.fail("no chain")
        assert.match((yield* verdicts(node, [x, y, z])).join(), /^unjudged: TRUC-violation, tx .* would have too many/)
        assert.deepStrictEqual(yield* verdicts(node, [x, y]), ["accepted", "accepted"])
      })
    ))

  it.live("replaces nothing, and counts clusters together with those of the pool", () =>
    withNode((node) =>
      Effect.gen(function*() {
        yield* node.take(pay([reward(3)]))
        assert.deepStrictEqual(yield* verdicts(node, [pay([reward(3)], { fee: 9 * FEE }), pay([reward(4)])]), [
          "bip125-replacement-disallowed",
          "unjudged: "
        ])
        let last = yield* node.take(pay([reward(5)]))
        for (let i = 1; i < 62; i++) last = yield* node.take(pay([output(last)]))
        const a = pay([output(last)])
        const b = pay([output(a)])
        assert.deepStrictEqual(yield* verdicts(node, [a, b]), ["accepted", "accepted"])
        assert.deepStrictEqual(
          yield* verdicts(node, [a, b, pay([output(b)])]),
          Array.from({ length: 3 }, () => "unjudged: too-large-cluster")
        )
      })
    ))
})
