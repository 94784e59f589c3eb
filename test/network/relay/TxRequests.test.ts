import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  DELAY,
  type HashKind,
  MAX_ANNOUNCEMENTS,
  MAX_IN_FLIGHT,
  REQUEST_TIMEOUT,
  TxRequests
} from "../../../src/network/relay/TxRequests.ts"
import { peerId, type TxidKey, txidKey } from "../../../src/protocol/keys.ts"
import { seeded } from "./random.ts"

const key = (text: string): TxidKey => txidKey(Buffer.from(text))

/** Requests with peers: even ones are preferred, and those above 9 use wtxids. */
const withPeers = (...peers: ReadonlyArray<number>): TxRequests => {
  const requests = new TxRequests(seeded(1))
  for (const peer of peers) requests.connected(peerId(peer), { preferred: peer % 2 === 0, wtxidRelay: peer > 9 })
  return requests
}

const hashesDue = (requests: TxRequests, peer: number, now: number): ReadonlyArray<string> =>
  requests.due(peerId(peer), now).map(({ hash }) => hash)

/** Requests everything due from a peer. */
const askAll = (requests: TxRequests, peer: number, now: number): ReadonlyArray<string> => {
  const due = requests.due(peerId(peer), now).map(({ hash }) => hash)
  for (const hash of due) requests.requested(peerId(peer), hash, now)
  return due
}

describe("TxRequests", () => {
  it("a preferred peer is asked at once, and another peer two seconds later", () => {
    const requests = withPeers(1, 2)
    requests.announce(peerId(2), { hash: key("a"), kind: "wtxid", now: 0 })
    requests.announce(peerId(1), { hash: key("b"), kind: "wtxid", now: 0 })
    assert.deepStrictEqual(requests.due(peerId(2), 0), [{
      ...requests.due(peerId(2), 0)[0],
      hash: key("a"),
      kind: "wtxid"
    }])
    assert.deepStrictEqual(hashesDue(requests, 1, DELAY - 1), [])
    assert.deepStrictEqual(requests.peersDue(DELAY), [peerId(1), peerId(2)])
    assert.deepStrictEqual(hashesDue(requests, 1, DELAY), ["b"])
  })

  const delays: ReadonlyArray<[string, ReadonlyArray<number>, number, HashKind, number]> = [
    ["a wtxid of a preferred peer", [10], 10, "wtxid", 0],
    ["a txid without wtxid peers", [2], 2, "txid", 0],
    ["a txid with wtxid peers", [2, 11], 2, "txid", DELAY],
    ["a txid of an inbound peer, with wtxid peers", [1, 10], 1, "txid", 2 * DELAY]
  ]
  it.each(delays)("the delay is correct for %s", (_, peers, peer, kind, delay) => {
    const requests = withPeers(...peers)
    requests.announce(peerId(peer), { hash: key("a"), kind, now: 1000 })
    if (delay > 0) assert.deepStrictEqual(hashesDue(requests, peer, 1000 + delay - 1), [])
    assert.deepStrictEqual(hashesDue(requests, peer, 1000 + delay), ["a"])
  })

  it("the delay is longer for a peer with a hundred transactions in flight", () => {
    const requests = withPeers(2)
    for (let i = 0; i < MAX_IN_FLIGHT - 1; i++) {
      requests.announce(peerId(2), { hash: key(`${i}`), kind: "txid", now: 0 })
    }
    askAll(requests, 2, 0)
    requests.announce(peerId(2), { hash: key("hundredth"), kind: "txid", now: 0 })
    assert.deepStrictEqual(askAll(requests, 2, 0), ["hundredth"])
    assert.strictEqual(requests.inFlightOf(peerId(2)), MAX_IN_FLIGHT)
    requests.announce(peerId(2), { hash: key("more"), kind: "txid", now: 0 })
    assert.deepStrictEqual(hashesDue(requests, 2, DELAY - 1), [])
    assert.deepStrictEqual(hashesDue(requests, 2, DELAY), ["more"])
  })

  it("a peer may have 5000 open announcements, and more once some are done", () => {
    const requests = withPeers(2)
    for (let i = 0; i <= MAX_ANNOUNCEMENTS; i++) {
      requests.announce(peerId(2), { hash: key(`${i}`), kind: "txid", now: 0 })
    }
    assert.strictEqual(requests.countOf(peerId(2)), MAX_ANNOUNCEMENTS)
    assert.deepStrictEqual(requests.candidates(key(`${MAX_ANNOUNCEMENTS}`)), [])
    requests.forget(key("7"))
    requests.announce(peerId(2), { hash: key("another"), kind: "txid", now: 0 })
    assert.deepStrictEqual(requests.candidates(key("another")), [peerId(2)])
  })

  it("one peer is asked at a time, a preferred one first, and the next after a minute", () => {
    const requests = withPeers(1, 2, 3)
    for (const peer of [1, 2, 3]) requests.announce(peerId(peer), { hash: key("a"), kind: "txid", now: 0 })
    assert.deepStrictEqual(requests.peersDue(DELAY), [peerId(2)])
    askAll(requests, 2, DELAY)
    assert.deepStrictEqual(requests.peersDue(DELAY + REQUEST_TIMEOUT - 1), [])
    const [next = peerId(-1), ...more] = requests.peersDue(DELAY + REQUEST_TIMEOUT)
    assert.include([1, 3], next)
    assert.deepStrictEqual(more, [])
    assert.strictEqual(requests.inFlightOf(peerId(2)), 0)
  })

  it("a preferred peer goes before another one that announced earlier and is not asked yet", () => {
    const requests = withPeers(1, 2)
    requests.announce(peerId(1), { hash: key("a"), kind: "txid", now: 0 })
    assert.deepStrictEqual(requests.peersDue(DELAY), [peerId(1)])
    requests.announce(peerId(2), { hash: key("a"), kind: "txid", now: DELAY })
    assert.deepStrictEqual(requests.peersDue(DELAY), [peerId(2)])
  })

  it("the next peer is asked when one does not have the transaction or disconnects", () => {
    const requests = withPeers(2, 4, 6)
    for (const peer of [2, 4, 6]) requests.announce(peerId(peer), { hash: key("a"), kind: "txid", now: 0 })
    const asked: Array<number> = []
    for (const end of ["answered", "gone"] as const) {
      const [peer = peerId(-1)] = requests.peersDue(0)
      askAll(requests, peer, 0)
      asked.push(peer)
      if (end === "gone") requests.gone(peer)
      else requests.answered(peer, key("a"))
    }
    assert.lengthOf(new Set([...asked, ...requests.peersDue(0)]), 3)
  })

  it("a peer is not asked twice, unless no candidate peer is left", () => {
    const requests = withPeers(2, 4)
    for (const peer of [2, 4]) requests.announce(peerId(peer), { hash: key("a"), kind: "txid", now: 0 })
    const [first = peerId(-1)] = requests.peersDue(0)
    askAll(requests, first, 0)
    requests.answered(first, key("a"))
    requests.announce(first, { hash: key("a"), kind: "txid", now: 0 })
    const [second = peerId(-1)] = requests.peersDue(0)
    assert.notStrictEqual(first, second)
    askAll(requests, second, 0)
    requests.answered(second, key("a"))
    assert.strictEqual(requests.size, 0)
    requests.announce(first, { hash: key("a"), kind: "txid", now: 0 })
    assert.deepStrictEqual(requests.peersDue(0), [first])
  })

  it("equal peers are selected at random, not by arrival", () => {
    const chosen = new Set<number>()
    for (let seed = 0; seed < 50; seed++) {
      const requests = new TxRequests(seeded(seed))
      for (const peer of [1, 2, 3]) requests.connected(peerId(peer), { preferred: true, wtxidRelay: false })
      for (const peer of [1, 2, 3]) requests.announce(peerId(peer), { hash: key("a"), kind: "txid", now: 0 })
      for (const peer of requests.peersDue(0)) chosen.add(peer)
    }
    assert.deepStrictEqual([...chosen].sort(), [1, 2, 3])
  })

  it("peers that are not connected are ignored", () => {
    const requests = withPeers(2)
    requests.announce(peerId(4), { hash: key("a"), kind: "txid", now: 0 })
    requests.requested(peerId(2), key("a"), 0)
    requests.answered(peerId(2), key("a"))
    assert.strictEqual(requests.size, 0)
    assert.isTrue(requests.knows(peerId(2)))
    assert.isFalse(requests.knows(peerId(4)))
  })

  it("each transaction has one request at a time, and finally all peers were asked or one answered", () => {
    const peer = FastCheck.nat({ max: 5 })
    const hash = FastCheck.constantFrom(key("a"), key("b"), key("c"))
    const step = FastCheck.oneof(
      FastCheck.record({ do: FastCheck.constant("announce" as const), peer, hash, wtxid: FastCheck.boolean() }),
      FastCheck.record({ do: FastCheck.constantFrom("ask" as const, "answer" as const), peer, hash }),
      FastCheck.record({ do: FastCheck.constantFrom("gone" as const, "connect" as const), peer }),
      FastCheck.record({ do: FastCheck.constant("forget" as const), hash }),
      FastCheck.record({ do: FastCheck.constant("wait" as const), time: FastCheck.constantFrom(500, 2_000, 60_000) })
    )
    FastCheck.assert(FastCheck.property(FastCheck.array(step, { maxLength: 60 }), FastCheck.nat(), (steps, seed) => {
      const requests = new TxRequests(seeded(seed))
      const connect = (peer: number): void =>
        requests.connected(peerId(peer), { preferred: peer % 2 === 0, wtxidRelay: peer > 2 })
      for (let peer = 0; peer <= 5; peer++) connect(peer)
      let now = 0
      for (const step of steps) {
        if (step.do === "announce") {
          requests.announce(peerId(step.peer), { hash: step.hash, kind: step.wtxid ? "wtxid" : "txid", now })
        } else if (step.do === "answer") requests.answered(peerId(step.peer), step.hash)
        else if (step.do === "gone") requests.gone(peerId(step.peer))
        else if (step.do === "connect") connect(step.peer)
        else if (step.do === "forget") requests.forget(step.hash)
        else if (step.do === "wait") now += step.time
        else askAll(requests, step.peer, now)
        requests.check()
      }
      for (let round = 0; round < 10; round++) {
        now += REQUEST_TIMEOUT
        for (const peer of requests.peersDue(now)) askAll(requests, peer, now)
        requests.check()
      }
      assert.strictEqual(requests.size, 0)
      for (let peer = 0; peer <= 5; peer++) requests.gone(peerId(peer))
      requests.check()
    }))
  })
})
