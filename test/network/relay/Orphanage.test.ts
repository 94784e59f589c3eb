import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { MAX_SCORE, Orphanage, ORPHANS_RESERVED_WEIGHT } from "../../../src/network/relay/Orphanage.ts"
import { type PeerId, peerId, type WtxidKey, wtxidKey } from "../../../src/protocol/keys.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { seeded } from "./random.ts"
import { coinOf, nowhere, spend } from "./spends.ts"

const wtxidOf = ({ wtxid }: Transaction): WtxidKey => wtxidKey(wtxid)

const orphanage = (limits?: ConstructorParameters<typeof Orphanage>[1]): Orphanage => new Orphanage(seeded(3), limits)

/** The orphans to retry, in order. */
const retries = (orphans: Orphanage): ReadonlyArray<Transaction> => {
  const all: Array<Transaction> = []
  for (let last: PeerId | undefined;;) {
    const next = orphans.nextRetry(last)
    if (next === undefined) return all
    all.push(next.transaction)
    last = next.peer
  }
}

describe("Orphanage", () => {
  it("an orphan is kept as long as one of its announcers is connected", () => {
    const orphans = orphanage()
    const orphan = spend()
    orphans.add(orphan, peerId(1))
    orphans.add(orphan, peerId(2))
    orphans.announced(wtxidOf(orphan), peerId(3))
    assert.strictEqual(orphans.size, 1)
    assert.strictEqual(orphans.usage.weight, orphan.weight)
    assert.deepStrictEqual([1, 2, 3, 4].map((peer) => orphans.hasFrom(wtxidOf(orphan), peerId(peer))), [
      true,
      true,
      true,
      false
    ])
    orphans.gone(peerId(1))
    orphans.gone(peerId(3))
    assert.strictEqual(orphans.get(wtxidOf(orphan)), orphan)
    orphans.gone(peerId(2))
    assert.deepStrictEqual([orphans.size, orphans.usage], [0, { weight: 0, score: 0 }])
  })

  it("a large orphan is kept as bytes, without objects", () => {
    const orphans = orphanage()
    const [small, large] = [spend({ seed: 1 }), spend({ bulk: 20_000 })]
    for (const orphan of [small, large]) orphans.add(orphan, peerId(1))
    assert.strictEqual(orphans.get(wtxidOf(small)), small)
    const again = orphans.get(wtxidOf(large))
    assert.notStrictEqual(again, large)
    assert.deepStrictEqual(again?.bytes, large.bytes)
    // And not the message that contained it.
    assert.strictEqual(again?.bytes.buffer.byteLength, large.size)
    assert.strictEqual(orphans.usage.weight, small.weight + large.weight)
    orphans.gone(peerId(1))
    assert.deepStrictEqual([orphans.size, orphans.usage], [0, { weight: 0, score: 0 }])
  })

  it("the same transaction with another witness is kept separately", () => {
    const orphans = orphanage()
    const [one, other] = [spend({ witness: [Uint8Array.of(1)] }), spend({ witness: [Uint8Array.of(2)] })]
    orphans.add(one, peerId(1))
    orphans.add(other, peerId(1))
    assert.strictEqual(orphans.size, 2)
    orphans.remove(wtxidOf(one))
    assert.isFalse(orphans.has(wtxidOf(one)))
    assert.isTrue(orphans.has(wtxidOf(other)))
  })

  it("a transaction too heavy for relay is not kept", () => {
    const orphans = orphanage()
    const [fits, large] = [spend({ bulk: 99_900 }), spend({ bulk: 100_000 })]
    assert.isAtMost(fits.weight, 400_000)
    assert.isAbove(large.weight, 400_000)
    orphans.add(fits, peerId(1))
    orphans.add(large, peerId(1))
    assert.strictEqual(orphans.size, 1)
  })

  it("children are retried once per parent that arrived", () => {
    const orphans = orphanage()
    const [first, second] = [spend({ seed: 1, outputs: 2 }), spend({ seed: 2 })]
    const child = spend({ of: [coinOf(first), coinOf(second)], seed: 3 })
    const other = spend({ of: [coinOf(first, 1)], seed: 4 })
    const stranger = spend({ seed: 5 })
    for (const orphan of [child, other, stranger]) orphans.add(orphan, peerId(1))
    orphans.parentCame(first)
    orphans.parentCame(first)
    assert.sameMembers([...retries(orphans)], [child, other])
    orphans.parentCame(second)
    assert.deepStrictEqual(retries(orphans), [child])
    assert.deepStrictEqual(retries(orphans), [])
    assert.strictEqual(orphans.size, 3)
  })

  it("retries alternate between peers", () => {
    const orphans = orphanage()
    const parent = spend({ outputs: 4 })
    const children = [0, 1, 2, 3].map((i) => spend({ of: [coinOf(parent, i)], seed: i }))
    for (const [i, child] of children.entries()) orphans.add(child, peerId(i < 3 ? 1 : 2))
    orphans.parentCame(parent)
    const first = orphans.nextRetry(undefined)
    assert.strictEqual(first?.peer, 1)
    assert.strictEqual(orphans.nextRetry(first?.peer)?.peer, 2)
    assert.strictEqual(orphans.nextRetry(peerId(2))?.peer, 1)
    assert.strictEqual(orphans.nextRetry(peerId(1))?.peer, 1)
  })

  it("an orphan that was removed with its charged peer is not retried", () => {
    const orphans = orphanage()
    const parent = spend()
    orphans.add(spend({ of: [coinOf(parent)], seed: 1 }), peerId(1))
    orphans.parentCame(parent)
    orphans.gone(peerId(1))
    assert.isUndefined(orphans.nextRetry(undefined))
  })

  it("orphans that a block contains or conflicts with are removed", () => {
    const orphans = orphanage()
    const contained = spend({ seed: 1 })
    const conflicting = spend({ of: [nowhere(2)], seed: 3 })
    const other = spend({ seed: 4 })
    for (const orphan of [contained, conflicting, other]) orphans.add(orphan, peerId(1))
    orphans.confirmed([contained, spend({ of: [nowhere(2)], seed: 9 })])
    assert.deepStrictEqual([contained, conflicting, other].map((orphan) => orphans.has(wtxidOf(orphan))), [
      false,
      false,
      true
    ])
  })

  it("the orphanage holds 3000 orphans; one more drops the oldest of the peer with the most", () => {
    const orphans = orphanage({ reservedWeight: 10 * ORPHANS_RESERVED_WEIGHT, maxScore: MAX_SCORE })
    const all = Array.from({ length: MAX_SCORE + 1 }, (_, seed) => spend({ seed }))
    for (const orphan of all.slice(0, MAX_SCORE)) orphans.add(orphan, peerId(1))
    assert.strictEqual(orphans.size, MAX_SCORE)
    orphans.add(all[MAX_SCORE] ?? assert.fail(), peerId(1))
    assert.strictEqual(orphans.size, MAX_SCORE)
    assert.isFalse(orphans.has(wtxidOf(all[0] ?? assert.fail())))
    assert.isTrue(orphans.has(wtxidOf(all[1] ?? assert.fail())))
  })

  it("ten inputs count one more, and nine do not", () => {
    const orphans = orphanage()
    const inputs = (count: number) => Array.from({ length: count }, (_, i) => nowhere(i + 1))
    orphans.add(spend({ of: inputs(9) }), peerId(1))
    assert.strictEqual(orphans.usage.score, 1)
    orphans.add(spend({ of: inputs(10) }), peerId(1))
    assert.strictEqual(orphans.usage.score, 3)
    orphans.announced(wtxidOf(spend({ of: inputs(10) })), peerId(2))
    assert.strictEqual(orphans.usage.score, 4)
    assert.deepStrictEqual([orphans.usageOf(peerId(1)).score, orphans.usageOf(peerId(2)).score], [3, 2])
  })

  it("the orphanage holds 404,000 weight units per peer with orphans", () => {
    const orphans = orphanage()
    const big = (seed: number) => spend({ seed, bulk: 99_000 })
    orphans.add(big(1), peerId(1))
    orphans.add(spend({ seed: 2, bulk: 100 }), peerId(1))
    assert.strictEqual(orphans.size, 2)
    orphans.add(big(3), peerId(1))
    assert.strictEqual(orphans.size, 2)
    assert.isAtMost(orphans.usage.weight, ORPHANS_RESERVED_WEIGHT)
    orphans.add(big(4), peerId(2))
    orphans.add(spend({ seed: 5, bulk: 100 }), peerId(2))
    assert.strictEqual(orphans.size, 4)
  })

  it("orphans with a pending retry are dropped last", () => {
    const orphans = orphanage({ reservedWeight: 1e9, maxScore: 2 })
    const parent = spend()
    const [child, other, more] = [spend({ of: [coinOf(parent)], seed: 1 }), spend({ seed: 2 }), spend({ seed: 3 })]
    orphans.add(child, peerId(1))
    orphans.add(other, peerId(1))
    orphans.parentCame(parent)
    orphans.add(more, peerId(1))
    assert.deepStrictEqual([child, other, more].map((orphan) => orphans.has(wtxidOf(orphan))), [true, false, true])
    assert.deepStrictEqual(retries(orphans), [child])
  })

  it("the orphanage keeps its limits, and each peer keeps the orphans within its share", () => {
    const PEERS = 4
    const limits = { reservedWeight: 3_000, maxScore: 40 }
    const step = FastCheck.record({
      do: FastCheck.constantFrom("add", "add", "add", "announce", "parent", "retry", "gone", "block", "remove"),
      peer: FastCheck.nat({ max: PEERS - 1 }),
      which: FastCheck.nat({ max: 25 })
    })
    const parents = Array.from({ length: 6 }, (_, seed) => spend({ seed: 100 + seed, outputs: 5 }))
    const pool = Array.from({ length: 26 }, (_, i) =>
      spend({
        seed: i,
        bulk: 40 * (i % 7),
        of: Array.from({ length: 1 + (i * 5) % 23 }, (_, j) => coinOf(parents[(i + j) % 6] ?? assert.fail(), j % 5))
      }))
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 150 }), FastCheck.nat(), (steps, seed) => {
        const orphans = new Orphanage(seeded(seed), limits)
        for (const { do: what, peer, which } of steps) {
          const orphan = pool[which] ?? assert.fail()
          const parent = parents[which % 6] ?? assert.fail()
          const before = Array.from({ length: PEERS }, (_, peer) => orphans.usageOf(peerId(peer)))
          if (what === "add") orphans.add(orphan, peerId(peer))
          else if (what === "announce") orphans.announced(wtxidOf(orphan), peerId(peer))
          else if (what === "parent") orphans.parentCame(parent)
          else if (what === "retry") orphans.nextRetry(peerId(peer))
          else if (what === "gone") orphans.gone(peerId(peer))
          else if (what === "block") orphans.confirmed([orphan])
          else orphans.remove(wtxidOf(orphan))

          const peers = Array.from({ length: PEERS }, (_, peer) => orphans.usageOf(peerId(peer)))
          const present = pool.filter((orphan) => orphans.has(wtxidOf(orphan)))
          assert.strictEqual(orphans.size, present.length)
          assert.strictEqual(orphans.usage.weight, present.reduce((sum, { weight }) => sum + weight, 0))
          const inputs = present.reduce((sum, { inputs }) => sum + Math.floor(inputs.length / 10), 0)
          assert.strictEqual(orphans.usage.score, peers.reduce((sum, { count }) => sum + count, 0) + inputs)
          assert.isAtMost(orphans.usage.score, limits.maxScore)
          const active = peers.filter(({ count }) => count > 0).length
          assert.isAtMost(orphans.usage.weight, limits.reservedWeight * Math.max(1, active))
          for (let other = 0; other < PEERS; other++) {
            const announced = present.filter((orphan) => orphans.hasFrom(wtxidOf(orphan), peerId(other)))
            assert.strictEqual(peers[other]?.count, announced.length)
            assert.strictEqual(peers[other]?.weight, announced.reduce((sum, { weight }) => sum + weight, 0))
            // A peer within its share keeps its orphans, whatever another peer sends.
            const was = before[other] ?? assert.fail()
            const within = was.weight <= limits.reservedWeight && was.score <= Math.floor(limits.maxScore / PEERS)
            if ((what === "add" || what === "announce") && other !== peer && within) {
              assert.deepStrictEqual(peers[other], was)
            }
          }
        }
      }),
      { numRuns: 300 }
    )
  })
})
