import { assert, describe, it } from "@effect/vitest"
import type { GossipOptions } from "../../../src/network/addresses/gossip.ts"
import type { AddressEntry } from "../../../src/network/wire/messages/addr.ts"
import { addressesSent, addrv2, DAY, entries, entry, newPeer, ONION, setup } from "./gossiping.ts"
import { endpoint, NOW } from "./support.ts"

describe("relayed addresses", () => {
  /** Ten peers that take part, and one that sends addresses. */
  const circle = (fields: Partial<GossipOptions> = {}) => {
    const given = setup(fields)
    const peers = Array.from({ length: 10 }, (_, id) => given.connect(newPeer(id + 1, "outbound-full-relay")))
    const teller = given.connect(newPeer(50, "outbound-full-relay"))
    // The answer to our `getaddr` is complete.
    given.receive(teller, addrv2(entries(3, { time: NOW - DAY })))
    const reached = () => peers.filter((peer) => addressesSent(peer).length > 0).map(({ id }) => id)
    return { ...given, peers, teller, reached }
  }

  it("a fresh address is relayed to two peers, not back, and to the same ones for a day", () => {
    const { pass, peers, reached, receive, teller } = circle()
    receive(teller, addrv2([entry(1000)]))
    pass()
    const first = reached()
    assert.lengthOf(first, 2)
    assert.lengthOf(addressesSent(teller), 0)
    const other = peers.find(({ id }) => !first.includes(id))
    assert.isDefined(other)
    receive(teller, addrv2([entry(1000, { time: NOW + 300 })]))
    pass()
    assert.deepStrictEqual(reached(), first)
    for (const peer of peers) assert.isAtMost(addressesSent(peer).length, 1)
  })

  it("an address is relayed to other peers on another day", () => {
    const { clock, pass, reached, receive, teller } = circle()
    for (let day = 0; day < 5; day++) {
      receive(teller, addrv2([entry(1000, { time: clock.now })]))
      pass()
      clock.now += DAY
    }
    assert.isAbove(reached().length, 2)
  })

  it("relayed addresses wait 30 seconds on average, and are sent together", () => {
    const { gossip, peers, receive, teller } = circle()
    gossip.tick(NOW + 1)
    for (let n = 0; n < 60; n++) receive(teller, addrv2([entry(1000 + n)]))
    const waiting = peers.filter((peer) => addressesSent(peer).length === 0).length
    assert.strictEqual(waiting, 10)
    for (let i = 2; i < 400; i++) gossip.tick(NOW + i)
    for (const peer of peers) {
      assert.isAtMost(peer.sent.filter(({ type }) => type === "addrv2").length, 1)
    }
    assert.isAbove(peers.filter((peer) => addressesSent(peer).length > 1).length, 5)
  })

  it.each<[string, number, Partial<AddressEntry>, boolean]>([
    ["fresh and few", 10, {}, true],
    ["too many", 11, {}, false],
    ["ten minutes old", 1, { time: NOW - 600 }, false],
    ["one second younger than ten minutes", 1, { time: NOW - 599 }, true],
    ["without useful services", 1, { services: 8n }, false],
    ["private", 1, { address: endpoint("10.0.0.1:1").address }, false]
  ])("only fresh addresses in short messages are relayed: %s", (_, count, fields, goes) => {
    const { pass, reached, receive, teller } = circle()
    receive(teller, addrv2(Array.from({ length: count }, (__, n) => entry(2000 + n, fields))))
    pass()
    assert.strictEqual(reached().length > 0, goes)
  })

  it("addresses are not relayed while a peer answers our getaddr", () => {
    const { connect, pass, reached, receive } = circle()
    const peer = connect(newPeer(60, "outbound-full-relay"))
    receive(peer, addrv2(entries(1000, { time: NOW - DAY })))
    receive(peer, addrv2([entry(3000)]))
    pass()
    assert.lengthOf(reached(), 0)
    receive(peer, addrv2([{ ...entry(3001), time: NOW + 300 }]))
    pass()
    assert.lengthOf(reached(), 2)
  })

  it("addresses are relayed only in a format that the peer supports", () => {
    const { connect, pass, receive } = setup()
    const old = connect(newPeer(1, "outbound-full-relay", { addrV2: false }))
    const teller = connect(newPeer(2, "outbound-full-relay"))
    receive(teller, addrv2([]))
    receive(teller, addrv2([{ ...entry(0), ...endpoint(ONION) }]))
    receive(teller, addrv2([entry(1)]))
    pass()
    assert.deepStrictEqual(old.sent.slice(1), [{ type: "addr", addresses: [entry(1)] }])
  })

  it("an address of an unreachable network is relayed to one or two peers", () => {
    const { pass, peers, receive, teller } = circle({ reachable: () => false })
    for (let n = 0; n < 40; n++) receive(teller, addrv2([entry(1000 + n)]))
    pass(1000)
    const copies = peers.reduce((sum, peer) => sum + addressesSent(peer).length, 0)
    assert.isAbove(copies, 45)
    assert.isBelow(copies, 75)
  })

  it("relay forgets a disconnected peer", () => {
    const { gone, gossip, pass, peers, receive, reached, teller } = circle()
    for (const peer of peers) gone(peer)
    receive(teller, addrv2([entry(1000)]))
    pass()
    assert.lengthOf(reached(), 0)
    assert.deepStrictEqual(gossip.gossipOf(teller).enabled, true)
    assert.deepStrictEqual(gossip.gossipOf(newPeer(1, "inbound")), { enabled: false, processed: 0, rateLimited: 0 })
  })
})
