import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { FEE, output, pay, removals, reward, shown, withNode } from "../../support/mempool.ts"

const id = (transaction: Transaction): string => displayHash(transaction.txid)

const ids = (transaction: Transaction): string => `${id(transaction)} (wtxid=${displayHash(transaction.wtxid)})`

describe("replacement", () => {
  it.live("needs no signal, but all fees of the replaced transactions and its own relay fee", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const parent = yield* node.take(pay([reward(1)], { sequence: 0xffffffff }))
        const child = yield* node.take(pay([output(parent)]))
        const replacing = (fee: number) => pay([reward(1), reward(2)], { fee })
        const less = replacing(2 * FEE - 1)
        assert.strictEqual(
          shown(yield* node.refused(less)),
          `insufficient fee, rejecting replacement ${id(less)}, less fees than conflicting txs; 0.00199999 < 0.002`
        )
        // Two inputs and an output: 128 virtual bytes, at 100 a kvB.
        const little = replacing(2 * FEE + 12)
        assert.strictEqual(little.virtualSize, 128)
        const error = yield* node.refused(little)
        assert.strictEqual(
          shown(error),
          `insufficient fee, rejecting replacement ${
            id(little)
          }, not enough additional fees to relay; 0.00000012 < 0.00000013`
        )
        assert.strictEqual(error.kind, "underpaid")
        const enough = replacing(2 * FEE + 13)
        const [trial] = yield* node.pool.test([enough])
        assert.strictEqual(trial?.type, "accepted")
        assert.deepStrictEqual(
          trial?.type === "accepted" ? trial.replaced.map(({ transaction }) => transaction.txidKey) : [],
          [parent.txidKey, child.txidKey]
        )
        assert.isTrue(node.has(parent))
        const removed = yield* removals(node)
        yield* node.take(enough)
        assert.isFalse(node.has(parent) || node.has(child))
        assert.deepStrictEqual(yield* removed, [[child.txidKey, "replaced"], [parent.txidKey, "replaced"]])
      })
    ))

  it.live("has to improve the fee-rate diagram", () =>
    withNode((node) =>
      Effect.gen(function*() {
        // Small with a high rate; its replacement pays more, but for many more bytes.
        yield* node.take(pay([reward(1)]))
        const big = pay([reward(1)], { fee: 1_000_000, outputs: 250 })
        const error = yield* node.refused(big)
        assert.deepStrictEqual([error.kind, shown(error)], [
          "underpaid",
          "replacement-failed, insufficient feerate: does not improve feerate diagram"
        ])
        yield* node.take(pay([reward(1)], { fee: 13_000_000, outputs: 250 }))
      })
    ))

  it.live("may not spend what it replaces", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const parent = yield* node.take(pay([reward(1)]))
        const absurd = pay([reward(1), output(parent)], { fee: 10 * FEE })
        const error = yield* node.refused(absurd)
        assert.deepStrictEqual([error.kind, shown(error)], [
          "consensus",
          `bad-txns-spends-conflicting-tx, ${id(absurd)} spends conflicting transaction ${id(parent)}`
        ])
      })
    ))

  it.live("affects at most a hundred clusters", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const fan = pay([reward(1)], { outputs: 101, fee: 1_000_000 })
        yield* node.mine([fan])
        for (let vout = 0; vout < 101; vout++) yield* node.take(pay([output(fan, vout)], { fee: 10_000 }))
        const spent = Array.from({ length: 101 }, (_, vout) => output(fan, vout))
        const all = pay(spent, { fee: 10_000_000 })
        const error = yield* node.refused(all)
        assert.deepStrictEqual([error.kind, shown(error)], [
          "policy",
          `too many potential replacements, rejecting replacement ${id(all)}; too many conflicting clusters (101 > 100)`
        ])
        yield* node.take(pay(spent.slice(1), { fee: 10_000_000 }))
        assert.strictEqual(node.pool.info().size, 2)
      })
    ))
})

describe("clusters", () => {
  it.live("have at most 64 transactions", () =>
    withNode((node) =>
      Effect.gen(function*() {
        let last = yield* node.take(pay([reward(1)], { outputs: 2 }))
        const start = last
        for (let i = 1; i < 64; i++) last = yield* node.take(pay([output(last)]))
        for (const next of [pay([output(last)]), pay([output(start, 1)]), pay([output(start, 1), reward(2)])]) {
          const error = yield* node.refused(next)
          assert.deepStrictEqual([error.kind, shown(error)], ["policy", "too-large-cluster"])
        }
        assert.lengthOf(node.pool.cluster(last.txidKey).flatMap(({ entries }) => entries), 64)
        assert.lengthOf(node.pool.ancestors(last.txidKey), 63)
        assert.lengthOf(node.pool.descendants(start.txidKey), 63)
        // A replacement of one of them does not enlarge the cluster.
        yield* node.take(pay([output(start)], { fee: 64 * FEE }))
        yield* node.take(pay([output(start, 1)]))
        assert.strictEqual(node.pool.info().size, 3)
      })
    ))

  it.live("have at most 101 kvB", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const big = (n: number) => pay([reward(n)], { outputs: 3_100, fee: 12_000_000 })
        const a = yield* node.take(big(1))
        assert.isAbove(2 * a.virtualSize, 101_000)
        assert.isBelow(a.virtualSize, 100_000)
        const small = yield* node.take(pay([output(a)]))
        assert.strictEqual(
          (yield* node.refused(pay([output(a, 1)], { outputs: 100, fee: 500_000 }))).reason,
          "too-large-cluster"
        )
        yield* node.take(pay([output(small)]))
      })
    ))
})

describe("TRUC", () => {
  it.live("families have a parent and a child, of one version", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const truc = yield* node.take(pay([reward(1)], { version: 3, outputs: 2 }))
        const plain = yield* node.take(pay([reward(2)]))
        const stranger = pay([output(truc)])
        const error = yield* node.refused(stranger)
        assert.deepStrictEqual([error.kind, shown(error)], [
          "policy",
          `TRUC-violation, non-version=3 tx ${ids(stranger)} cannot spend from version=3 tx ${ids(truc)}`
        ])
        const other = pay([output(plain)], { version: 3 })
        assert.strictEqual(
          shown(yield* node.refused(other)),
          `TRUC-violation, version=3 tx ${ids(other)} cannot spend from non-version=3 tx ${ids(plain)}`
        )
        const large = pay([output(truc)], { version: 3, outputs: 31, fee: 2 * FEE })
        assert.strictEqual(
          shown(yield* node.refused(large)),
          `TRUC-violation, version=3 child tx ${ids(large)} is too big: ${large.virtualSize} > 1000 virtual bytes`
        )
        const child = yield* node.take(pay([output(truc)], { version: 3 }))
        const grandchild = pay([output(child)], { version: 3 })
        assert.strictEqual(
          shown(yield* node.refused(grandchild)),
          `TRUC-violation, tx ${ids(grandchild)} would have too many ancestors`
        )
      })
    ))

  it.live("a second child replaces the first, if it pays for it", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const parent = yield* node.take(pay([reward(1)], { version: 3, outputs: 2 }))
        const child = yield* node.take(pay([output(parent)], { version: 3 }))
        const poor = pay([output(parent, 1)], { version: 3, fee: FEE - 1 })
        assert.strictEqual(
          shown(yield* node.refused(poor)),
          `insufficient fee (including sibling eviction), rejecting replacement ${
            id(poor)
          }, less fees than conflicting txs; 0.00099999 < 0.001`
        )
        const rich = yield* node.take(pay([output(parent, 1)], { version: 3, fee: 2 * FEE }))
        assert.isTrue(node.has(rich) && node.has(parent))
        assert.isFalse(node.has(child))
      })
    ))

  it.live("transactions have at most 10,000 virtual bytes", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const large = pay([reward(1)], { version: 3, outputs: 311, fee: 2_000_000 })
        const error = yield* node.refused(large)
        assert.strictEqual(
          shown(error),
          `TRUC-violation, version=3 tx ${ids(large)} is too big: ${large.virtualSize} > 10000 virtual bytes`
        )
        yield* node.take(pay([reward(1)], { version: 3, outputs: 310, fee: 2_000_000 }))
      })
    ))
})
