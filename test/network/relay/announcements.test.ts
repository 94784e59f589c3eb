import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { RollingFilter } from "../../../src/base/RollingFilter.ts"
import { sipKey } from "../../../src/base/siphash.ts"
import {
  itemOf,
  MiningOrder,
  roundSize,
  RoundTimes,
  takeRound,
  type TransactionListener
} from "../../../src/network/relay/announcements.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import type { TxidKey } from "../../../src/protocol/keys.ts"
import { FakePool } from "./fakePool.ts"
import { seeded } from "./random.ts"
import { coinOf, spend } from "./spends.ts"

const listener = (options: Partial<TransactionListener> = {}): TransactionListener => ({
  wtxidRelay: true,
  feeFilter: 0,
  known: new RollingFilter({ capacity: 1000, falsePositives: 1e-6, key: sipKey(new Uint8Array(16)) }),
  ...options
})

/** Takes a round, and returns the lock times, which identify transactions in these tests. */
const round = (pool: FakePool, waiting: Set<TxidKey>, to: TransactionListener = listener()): ReadonlyArray<number> =>
  takeRound(waiting, { pool, order: new MiningOrder(pool), listener: to }).map(({ transaction }) =>
    transaction.lockTime
  )

const all = (pool: FakePool): Set<TxidKey> => new Set(pool.byTxid.keys())

describe("takeRound", () => {
  it("the best transactions are announced first, and a parent before a child that pays for it", () => {
    const pool = new FakePool()
    const parent = spend({ seed: 1 })
    pool.add(parent, 100_000)
    pool.add(spend({ seed: 2 }), 300_000)
    pool.add(spend({ seed: 3, of: [coinOf(parent)] }), 900_000)
    pool.add(spend({ seed: 4 }), 700_000)
    assert.deepStrictEqual(round(pool, all(pool)), [4, 1, 3, 2])
  })

  it("removed transactions, known ones, and those below the fee filter are not announced", () => {
    const pool = new FakePool()
    const entries = [1, 2, 3, 4].map((seed) => pool.add(spend({ seed }), seed * 100_000))
    const waiting = all(pool)
    pool.remove(entries[3]?.transaction ?? assert.fail())
    const to = listener({ feeFilter: 200_000 })
    to.known.add(entries[2]?.transaction.wtxid ?? assert.fail())
    assert.deepStrictEqual(round(pool, waiting, to), [2])
    assert.strictEqual(waiting.size, 0)
    assert.isTrue(to.known.has(entries[1]?.transaction.wtxid ?? assert.fail()))
  })

  it("a fee of exactly the filter rate is announced", () => {
    const pool = new FakePool()
    const entry = pool.add(spend({ seed: 1 }), 100_000)
    const exact = (entry.fee * 1000) / entry.vsize
    assert.deepStrictEqual(round(pool, all(pool), listener({ feeFilter: exact })), [1])
    assert.deepStrictEqual(round(pool, all(pool), listener({ feeFilter: exact + 1 })), [])
  })

  it("a round has 70 transactions, more if thousands wait, and never more than 1000", () => {
    assert.deepStrictEqual([0, 999, 1000, 5_500, 185_999, 186_000, 1e6].map(roundSize), [
      70,
      70,
      75,
      95,
      995,
      1000,
      1000
    ])
    const pool = new FakePool()
    for (let seed = 0; seed < 100; seed++) pool.add(spend({ seed }), 100_000 + seed)
    const waiting = all(pool)
    assert.lengthOf(round(pool, waiting), 70)
    assert.strictEqual(waiting.size, 30)
    assert.lengthOf(round(pool, waiting), 30)
  })

  it("a child is never announced before its parent", () => {
    const step = FastCheck.record({ parent: FastCheck.nat({ max: 11 }), rate: FastCheck.integer({ min: 1, max: 9 }) })
    FastCheck.assert(FastCheck.property(FastCheck.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const pool = new FakePool()
      const made = steps.map(({ parent, rate }, seed) => {
        const of = parent < seed ? [...pool.byTxid.values()][parent] : undefined
        const transaction = spend({
          seed,
          outputs: 12,
          ...(of === undefined ? {} : { of: [coinOf(of.transaction, seed)] })
        })
        pool.add(transaction, rate * 100_000)
        return { transaction, parent: of?.transaction }
      })
      const order = round(pool, all(pool))
      assert.lengthOf(order, made.length)
      for (const { parent, transaction } of made) {
        if (parent !== undefined) assert.isBelow(order.indexOf(parent.lockTime), order.indexOf(transaction.lockTime))
      }
    }))
  })
})

describe("RoundTimes", () => {
  /** Mean time between rounds. */
  const mean = (times: RoundTimes, inbound: boolean): number => {
    const ROUNDS = 5_000
    let now = 0
    for (let i = 0; i < ROUNDS; i++) now = times.next(inbound, now)
    return now / ROUNDS
  }

  it("rounds are five seconds apart on average for inbound peers, and two for an outbound peer", () => {
    assert.approximately(mean(new RoundTimes(seeded(1)), true), 5_000, 200)
    assert.approximately(mean(new RoundTimes(seeded(1)), false), 2_000, 80)
  })

  it("inbound peers share one round time, and outbound peers have their own", () => {
    const times = new RoundTimes(seeded(1))
    const first = times.next(true, 0)
    assert.strictEqual(times.next(true, first - 1), first)
    assert.isAbove(times.next(true, first), first)
    assert.notStrictEqual(times.next(false, 0), times.next(false, 0))
  })
})

describe("itemOf", () => {
  it("an item has the wtxid for peers that use wtxids, and the txid for others", () => {
    const entry = new FakePool().add(spend({ witness: [Uint8Array.of(1)] }))
    const { txid, wtxid } = entry.transaction
    assert.deepStrictEqual(itemOf(entry, true), { type: ItemType.wtx, hash: wtxid })
    assert.deepStrictEqual(itemOf(entry, false), { type: ItemType.tx, hash: txid })
    assert.notDeepEqual(txid, wtxid)
  })
})
