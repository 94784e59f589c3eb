import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type EvictionCandidate, selectPeerToEvict } from "../../../src/network/addresses/eviction.ts"
import { seeded } from "./support.ts"

const SECRET = new Uint8Array(16).fill(8)

/** Peers that differ only in group, id and age: higher ids are younger. */
const peers = (
  count: number,
  fields: (id: number) => Partial<EvictionCandidate> = () => ({})
): Array<EvictionCandidate> =>
  Array.from({ length: count }, (_, id) => ({
    id,
    connectedAt: 1000 + id,
    group: `ipv4:${id}`,
    bestPing: undefined,
    lastTransaction: 0,
    lastBlock: 0,
    servesBlocks: true,
    relaysTransactions: true,
    local: false,
    network: "ipv4",
    preferEvict: false,
    noban: false,
    ...fields(id)
  }))

/** The evicted ids in order, until all remaining peers are protected. */
const evictAll = (candidates: ReadonlyArray<EvictionCandidate>): ReadonlyArray<number> => {
  const gone: Array<number> = []
  for (let left = candidates;;) {
    const id = selectPeerToEvict(left, SECRET)
    if (id === undefined) return gone
    gone.push(id)
    left = left.filter((candidate) => candidate.id !== id)
  }
}

describe("selectPeerToEvict", () => {
  it("no peer is evicted if there is none, or all are protected", () => {
    assert.isUndefined(selectPeerToEvict([], SECRET))
    assert.isUndefined(selectPeerToEvict(peers(100, () => ({ noban: true })), SECRET))
    // 4 by group, 8 by ping, 4 by transactions, 4 by blocks: all relay transactions.
    assert.isUndefined(selectPeerToEvict(peers(20), SECRET))
    assert.isDefined(selectPeerToEvict(peers(21), SECRET))
    // 8 more block-relay-only peers.
    const blocksAlone = (id: number) => ({ relaysTransactions: id % 2 === 0 })
    assert.isUndefined(selectPeerToEvict(peers(28, blocksAlone), SECRET))
    assert.isDefined(selectPeerToEvict(peers(29, blocksAlone), SECRET))
  })

  it("peers with the best pings, newest transactions or newest blocks are not evicted", () => {
    const evicted = evictAll(peers(200, (id) => ({
      bestPing: id < 8 ? id : 1000 + id,
      lastTransaction: id >= 20 && id < 24 ? 9000 + id : id === 24 ? 8999 : 0,
      lastBlock: id >= 40 && id < 44 ? 9000 + id : id === 44 ? 8999 : 0,
      // The youngest peers have all the merits, so that uptime protects none of them.
      connectedAt: 100_000 - id
    })))
    for (const id of [0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 40, 41, 42, 43]) assert.notInclude(evicted, id)
    assert.isAtLeast(evicted.length, 200 - 28)
  })

  it("the 8 block-relay-only peers with the newest blocks are not evicted", () => {
    const evicted = evictAll(peers(100, (id) => ({
      relaysTransactions: id >= 9,
      lastBlock: id < 9 ? 500 + id : 0,
      // 4 others sent newer blocks.
      ...(id >= 90 && id < 94 ? { lastBlock: 5000 } : {}),
      bestPing: id < 9 ? 5000 : 10,
      connectedAt: 100_000 - id
    })))
    for (let id = 1; id < 9; id++) assert.notInclude(evicted, id)
  })

  it("the older half is not evicted", () => {
    const id = selectPeerToEvict(peers(120), SECRET)
    assert.isAbove(id ?? 0, 60)
  })

  it("the youngest peer of the largest group is evicted", () => {
    const grouped = peers(120, (id) => ({ group: id >= 70 && id < 90 ? "ipv4:same" : `ipv4:${id}` }))
    assert.strictEqual(selectPeerToEvict(grouped, SECRET), 89)
    // Among two groups of equal size, the one with the youngest peer.
    const two = peers(120, (id) => ({
      group: id >= 70 && id < 90 ? `ipv4:${id % 2}` : `ipv4:${id}`,
      bestPing: 1,
      ...(id < 60 ? { bestPing: 0, lastTransaction: 5, lastBlock: 5 } : {})
    }))
    assert.strictEqual(selectPeerToEvict(two, SECRET), 89)
  })

  it("a preferred candidate is evicted first, unless all of them are protected", () => {
    const preferred = peers(120, (id) => ({ preferEvict: id === 100 || id === 101, bestPing: 1000 - id / 100 }))
    const id = selectPeerToEvict(preferred.map((peer) => ({ ...peer, bestPing: peer.preferEvict ? 5000 : 10 })), SECRET)
    assert.include([100, 101], id)
  })

  it("the secret affects only which groups are protected", () => {
    const protectedBy = (secret: Uint8Array): ReadonlyArray<number> => {
      const kept: Array<number> = []
      for (let id = 0; id < 60; id++) {
        // Otherwise this peer is evicted: it has no merit except its group.
        const list = peers(60, (other) => ({
          preferEvict: other === id,
          bestPing: other === id ? 9999 : 1,
          connectedAt: other === id ? 99_999 : other,
          lastTransaction: other === id ? 0 : 5,
          lastBlock: other === id ? 0 : 5
        }))
        if (selectPeerToEvict(list, secret) !== id) kept.push(id)
      }
      return kept
    }
    const one = protectedBy(SECRET)
    assert.lengthOf(one, 4)
    assert.notDeepEqual(one, protectedBy(new Uint8Array(16).fill(9)))
  })

  it("a quarter of the remaining peers is protected for networks with high latency", () => {
    const merits = (id: number): Partial<EvictionCandidate> => ({
      // 20 peers that use up the protection of the other rules.
      ...(id < 20 ? { bestPing: 1, lastTransaction: 5, lastBlock: 5, noban: true } : {})
    })
    const onion = (id: number): Partial<EvictionCandidate> =>
      id >= 116
        ? { network: "torv3", group: "torv3:x", bestPing: 9000 }
        : { bestPing: 10, lastTransaction: 1, lastBlock: 1 }
    // The 4 Tor peers are the youngest, and one group: without their share they would be evicted first.
    assert.notInclude(
      [116, 117, 118, 119],
      selectPeerToEvict(peers(120, (id) => ({ ...onion(id), ...merits(id) })), SECRET)
    )
    const plain = peers(120, (id) => ({ ...onion(id), network: "ipv4", ...merits(id) }))
    assert.include([116, 117, 118, 119], selectPeerToEvict(plain, SECRET))
  })

  it("a protected peer is never evicted; the result is a candidate and does not depend on their order", () => {
    const candidate = FastCheck.record({
      connectedAt: FastCheck.nat(50),
      group: FastCheck.constantFrom("a", "b", "c", "d", "e", "f"),
      bestPing: FastCheck.option(FastCheck.nat(5), { nil: undefined }),
      lastTransaction: FastCheck.nat(3),
      lastBlock: FastCheck.nat(3),
      servesBlocks: FastCheck.boolean(),
      relaysTransactions: FastCheck.boolean(),
      local: FastCheck.boolean(),
      network: FastCheck.constantFrom(
        "ipv4" as const,
        "ipv6" as const,
        "torv3" as const,
        "i2p" as const,
        "cjdns" as const
      ),
      preferEvict: FastCheck.boolean(),
      noban: FastCheck.boolean()
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(candidate, { maxLength: 130 }), (list) => {
        const candidates = list.map((fields, id) => ({ ...fields, id }))
        const free = candidates.filter(({ noban }) => !noban)
        const id = selectPeerToEvict(candidates, SECRET)
        if (free.length > 28) assert.isDefined(id)
        if (id !== undefined) {
          assert.isAbove(free.length, 20)
          assert.isFalse(candidates[id]?.noban)
        }
      }),
      { numRuns: 200, seed: 4 }
    )
    const random = seeded(2)
    const list = peers(
      100,
      (id) => ({ bestPing: Math.floor(random() * 1000), lastTransaction: id * 7919 % 101, lastBlock: id * 31 % 103 })
    )
    assert.strictEqual(selectPeerToEvict([...list].reverse(), SECRET), selectPeerToEvict(list, SECRET))
  })
})
