import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type BlockSource, type DownloadPeer, makeDownloadPeer } from "../../../src/network/sync/DownloadPeer.ts"
import { Flights } from "../../../src/network/sync/Flights.ts"
import { headerId, type PeerId, peerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

const CHOSEN: BlockSource = { preferred: true, serves: true, limited: false, below: Infinity }

const SIZE = 20_000

/** Some peers and a chain of blocks that are not stored. */
const setting = (count: number, budget = 10 * SIZE) => {
  const tree = new BranchTree()
  const headers = tree.grow(GENESIS, 20)
  const peers = new Map<PeerId, DownloadPeer>()
  for (let i = 0; i < count; i++) peers.set(peerId(i), makeDownloadPeer(peerId(i), CHOSEN))
  const peerAt = (i: number): DownloadPeer => peers.get(peerId(i)) ?? assert.fail(`no peer ${i}`)
  return { tree, headers, peers, peerAt, flights: new Flights({ tree, peers, budget }) }
}

const FIRST = headerId(1)

describe("Flights", () => {
  it("a block is missing until it is requested, and again after the last request for it was cancelled", () => {
    const { flights, peerAt } = setting(2)
    assert.isTrue(flights.isMissing(FIRST))
    for (const i of [0, 1, 1]) flights.ask(peerAt(i), FIRST, i)
    assert.deepStrictEqual(flights.askersOf(FIRST), [{ peer: peerId(0), since: 0 }, { peer: peerId(1), since: 1 }])
    assert.isFalse(flights.isMissing(FIRST))
    assert.isFalse(flights.cancel(peerAt(0), FIRST))
    assert.isFalse(flights.cancel(peerAt(0), FIRST))
    assert.isFalse(flights.isMissing(FIRST))
    assert.isTrue(flights.cancel(peerAt(1), FIRST))
    assert.isTrue(flights.isMissing(FIRST))
  })

  it("a block that arrives ends all requests for it, and is unstored until it settles", () => {
    const { flights, peerAt } = setting(2)
    for (const i of [0, 1]) flights.ask(peerAt(i), FIRST, 0)
    flights.arrives({ header: FIRST, size: SIZE })
    assert.deepStrictEqual([peerAt(0).flights.size, peerAt(1).flights.size, flights.count], [0, 0, 0])
    assert.isTrue(flights.isUnstored(FIRST))
    assert.isFalse(flights.isMissing(FIRST))
    assert.isTrue(flights.settled(FIRST))
    assert.isFalse(flights.settled(FIRST))
    assert.isTrue(flights.isMissing(FIRST), "the chain refused it")
  })

  it("blocks in flight and unstored blocks share the budget, and two blocks are always in flight", () => {
    const { flights, headers, peerAt } = setting(1)
    assert.strictEqual(flights.room, 10)
    for (const header of headers.slice(0, 4)) flights.ask(peerAt(0), header, 0)
    assert.strictEqual(flights.room, 6)
    for (const header of headers.slice(4, 7)) flights.keep({ header, size: SIZE })
    flights.keep({ header: headers[4] ?? FIRST, size: SIZE })
    assert.strictEqual(flights.room, 3)
    const full = setting(1, 0)
    assert.strictEqual(full.flights.room, 2)
  })

  it("a peer has waited since it was asked or last delivered", () => {
    const { flights, peerAt } = setting(1)
    const peer = peerAt(0)
    assert.strictEqual(flights.waited(peer, 500), 0)
    flights.ask(peer, FIRST, 500)
    assert.strictEqual(flights.waited(peer, 700), 200)
    peer.lastDelivery = 600
    assert.strictEqual(flights.waited(peer, 700), 100)
  })

  it("property: the flights of the peers and the askers of the flights agree", () => {
    const step = FastCheck.record({
      what: FastCheck.constantFrom("ask", "cancel", "arrives", "settled"),
      peer: FastCheck.nat(2),
      header: FastCheck.integer({ min: 1, max: 6 })
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 100 }), (steps) => {
        const { flights, headers, peerAt } = setting(3)
        for (const { header: number, peer, what } of steps) {
          const header = headerId(number)
          if (what === "ask") flights.ask(peerAt(peer), header, 0)
          else if (what === "cancel") flights.cancel(peerAt(peer), header)
          else if (what === "arrives") flights.arrives({ header, size: 1 })
          else flights.settled(header)
          for (const header of headers) {
            const asked = [0, 1, 2].filter((i) => peerAt(i).flights.has(header))
            assert.deepStrictEqual(flights.askersOf(header).map(({ peer }) => Number(peer)).sort(), asked)
            assert.strictEqual(flights.isInFlight(header), asked.length > 0)
          }
        }
      })
    )
  })
})
