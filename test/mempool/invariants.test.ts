import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isExpired } from "../../src/consensus/expiry.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { Op } from "../../src/protocol/script.ts"
import { outpointKey, type Transaction } from "../../src/protocol/transaction.ts"
import type { StorageFailure } from "../../src/storage/errors.ts"
import { nameTx, output, pay, reward, type TestNode, withNode } from "../support/mempool.ts"
import { numbers } from "../support/numbers.ts"
import { nameNew, saltOf, text } from "../support/regtest.ts"

/** Random operations on a node; after each the pool has to meet reference/protocol.md 5.5 and 5.6. */

const NAMES = ["d/a", "d/b"].map(text)

const check = ({ chain, pool }: TestNode): Effect.Effect<void, StorageFailure> =>
  chain.coins.atTip(({ claim, coin, tip }) =>
    Effect.sync(() => {
      const spent = new Set<string>()
      const registered = new Set<string>()
      const entries = [...pool.entries()]
      const height = tip.height + 1
      for (const { name } of entries) {
        if (name?.script.operation.op !== "name_firstupdate") continue
        const key = nameKey(name.script.operation.name)
        assert.isFalse(registered.has(key), "two registrations of a name")
        registered.add(key)
        const current = claim(key)
        assert.isTrue(current === undefined || isExpired(current, height, regtestParams), "a taken name")
      }
      for (const { name, transaction } of entries) {
        for (const { prevout } of transaction.inputs) {
          const key = outpointKey(prevout)
          assert.isFalse(spent.has(key), "an outpoint spent twice")
          spent.add(key)
          assert.strictEqual(pool.spender(key)?.transaction.txidKey, transaction.txidKey)
          assert.isDefined(pool.coin(key) ?? coin(key), "an input that is not there")
        }
        if (name?.script.operation.op !== "name_update") continue
        const key = nameKey(name.script.operation.name)
        const current = claim(key)
        const alive = current !== undefined && !isExpired(current, height, regtestParams)
        assert.isTrue(alive || registered.has(key), "an update of an unregistered name")
      }
      const info = pool.info()
      assert.strictEqual(info.size, entries.length)
      assert.strictEqual(info.totalFee, entries.reduce((sum, { fee }) => sum + fee, 0))
      assert.strictEqual(info.bytes, entries.reduce((sum, { vsize }) => sum + vsize, 0))
      assert.isAtMost(info.usage, info.maxUsage)
      const seen = new Set<string>()
      for (const { entries: chunk } of pool.chunks()) {
        for (const { transaction } of chunk) {
          for (const parent of pool.parents(transaction.txidKey)) assert.isTrue(seen.has(parent.transaction.txidKey))
          seen.add(transaction.txidKey)
        }
      }
      assert.strictEqual(seen.size, entries.length)
    })
  )

interface Made {
  readonly transaction: Transaction
  /** The name of the operation, with its salt. */
  readonly about: { readonly name: Uint8Array; readonly rand: Uint8Array } | undefined
}

/** An operation on coins, names or both; it is often refused. */
const something = (made: ReadonlyArray<Made>, next: (below: number) => number): Made => {
  const fee = 30_000 + next(400_000)
  const pick = next(6)
  const about = { name: NAMES[next(NAMES.length)] ?? text("d/c"), rand: saltOf(1 + next(200)) }
  if (pick === 0) {
    return { transaction: nameTx(nameNew(about.name, about.rand), [reward(1 + next(40))], { fee }), about }
  }
  const named = made.filter((one) => one.about !== undefined)
  const from = named.at(-1 - next(Math.min(named.length, 10)))
  if (pick > 3 || from?.about === undefined) {
    const last = next(3) > 0 ? made.at(-1 - next(Math.min(made.length, 12)))?.transaction : undefined
    const spent = last === undefined ? reward(1 + next(40)) : output(last, next(last.outputs.length))
    return { transaction: pay([spent], { fee, outputs: 1 + next(3) }), about: undefined }
  }
  const { name, rand } = from.about
  const operation = from.transaction.outputs[0]?.script[0] === Op.OP_1
    ? { op: "name_firstupdate", name, rand, value: text("x") } as const
    : { op: "name_update", name, value: text(String(fee)) } as const
  const coins = [output(from.transaction), output(from.transaction, 1)]
  return { transaction: nameTx(operation, coins, { fee }), about: from.about }
}

describe("the mempool under random operations", () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    it.live(`keeps its promises (${seed})`, () =>
      withNode((node) =>
        Effect.gen(function*() {
          const next = numbers(7_919 * seed)
          const made: Array<Made> = []
          const accepted = new Map<string, number>()
          for (let step = 0; step < 250; step++) {
            const action = next(20)
            if (action === 0) {
              // A part of the pool without name operations and their descendants.
              const waiting = node.pool.chunks().flatMap(({ entries }) => entries)
              const plain = waiting.filter(({ name, transaction }) =>
                name === undefined && node.pool.ancestors(transaction.txidKey).every((one) => one.name === undefined)
              )
              yield* node.mine(plain.slice(0, next(5)).map(({ transaction }) => transaction))
            } else if (action === 1) yield* node.mineEmpty(1 + next(12))
            else if (action === 2 && (yield* node.chain.tip).height > 141) {
              const tip = yield* node.chain.tip
              const hash = next(2) === 0 ? tip.hash : tip.header.prevHash
              yield* node.chain.control.invalidate(hash)
            } else if (action === 3) {
              const entry = node.pool.chunks().at(-1)?.entries[0]
              if (entry !== undefined) yield* node.pool.prioritise(entry.transaction.txidKey, next(100_000) - 50_000)
            } else if (action === 4) {
              const names = [...node.pool.pending()].filter(({ name, transaction }) =>
                name?.script.operation.op === "name_new" && node.pool.ancestors(transaction.txidKey).length === 0
              )
              yield* node.mine(names.map(({ transaction }) => transaction))
            } else {
              const one = something(made, next)
              const result = yield* Effect.either(node.pool.accept(one.transaction))
              if (result._tag === "Right") {
                made.push(one)
                const kind = result.right.name?.script.operation.op ?? "currency"
                accepted.set(kind, 1 + (accepted.get(kind) ?? 0))
              }
            }
            yield* check(node)
          }
          // Otherwise it would only test refusals.
          for (
            const [kind, least] of [["currency", 20], ["name_new", 5], ["name_firstupdate", 2], [
              "name_update",
              2
            ]] as const
          ) {
            assert.isAtLeast(accepted.get(kind) ?? 0, least, kind)
          }
        }), { maxUsage: 60_000 }), 60_000)
  }
})
