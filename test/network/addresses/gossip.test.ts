import { assert, describe, it } from "@effect/vitest"
import type { GossipOptions } from "../../../src/network/addresses/gossip.ts"
import { ownAddressFor } from "../../../src/network/addresses/ownAddress.ts"
import type { ConnectionType, Peer } from "../../../src/network/Peer.ts"
import type { AddressEntry } from "../../../src/network/wire/messages/addr.ts"
import { addressesSent, addrv2, DAY, entries, entry, newPeer, ONION, setup } from "./gossiping.ts"
import { endpoint, NOW, numbered } from "./support.ts"

describe("requests for addresses", () => {
  it.each<[ConnectionType, boolean]>([
    ["outbound-full-relay", true],
    ["manual", true],
    ["addr-fetch", true],
    ["block-relay-only", false],
    ["feeler", false],
    ["inbound", false]
  ])("%s: %s", (type, asked) => {
    const { connect, gossip } = setup()
    const peer = connect(newPeer(1, type))
    assert.deepStrictEqual(peer.sent, asked ? [{ type: "getaddr" }] : [])
    assert.strictEqual(gossip.gossipOf(peer).enabled, asked)
  })
})

describe("received addresses", () => {
  it("a peer with addr may send any number of addresses, and gets an answer of its own", () => {
    const { book, gossip, receive } = setup()
    const trusted = newPeer(1, "inbound", { permissions: new Set(["addr"]) })
    receive(trusted, addrv2(entries(900)))
    assert.deepStrictEqual(gossip.gossipOf(trusted), { enabled: true, processed: 900, rateLimited: 0 })
    const answerTo = (id: number, permissions: Peer["permissions"]) => {
      const peer = newPeer(id, "inbound", { permissions })
      receive(peer, { type: "getaddr" })
      return addressesSent(peer).map(({ address }) => address.bytes.join(".")).sort().join()
    }
    assert.isAbove(book.size, 100)
    assert.strictEqual(answerTo(2, new Set()), answerTo(3, new Set()))
    assert.notStrictEqual(answerTo(4, new Set(["addr"])), answerTo(5, new Set(["addr"])))
  })

  it("received addresses are limited: one at first, one every ten seconds, and a thousand more after getaddr", () => {
    const { clock, connect, gossip, receive } = setup()
    const inbound = connect(newPeer(1, "inbound"))
    receive(inbound, addrv2(entries(5)))
    assert.deepStrictEqual(gossip.gossipOf(inbound), { enabled: true, processed: 1, rateLimited: 4 })
    clock.now += 9.9
    receive(inbound, addrv2(entries(5)))
    assert.strictEqual(gossip.gossipOf(inbound).processed, 1)
    clock.now += 0.2
    receive(inbound, addrv2(entries(5)))
    assert.strictEqual(gossip.gossipOf(inbound).processed, 2)
    clock.now += 1_000_000
    receive(inbound, addrv2(entries(1000)))
    receive(inbound, addrv2(entries(1000)))
    assert.strictEqual(gossip.gossipOf(inbound).processed, 1002)
    const outbound = connect(newPeer(2, "outbound-full-relay"))
    receive(outbound, addrv2(entries(1000)))
    receive(outbound, addrv2(entries(2)))
    assert.deepStrictEqual(gossip.gossipOf(outbound), { enabled: true, processed: 1001, rateLimited: 1 })
  })

  it("received addresses enter the book two hours older, with a usable time", () => {
    const { book, connect, receive } = setup()
    const peer = connect(newPeer(1, "outbound-full-relay"))
    const times = [NOW, NOW + 600, NOW + 601, 100_000_000, 100_000_001]
    receive(peer, addrv2(times.map((time, n) => entry(n, { time }))))
    const kept = times.map((_, n) => book.find(numbered(n * 65_537), 8334)?.time)
    const wrong = NOW - 5 * DAY
    assert.deepStrictEqual(kept, [NOW, NOW + 600, wrong, wrong, 100_000_001].map((time) => time - 7200))
    receive(peer, { type: "addr", addresses: [{ ...entry(99), ...endpoint("80.1.1.1:8334") }] })
    assert.strictEqual(book.find(peer.address, 8334)?.time, NOW)
  })

  it("received addresses are dropped if useless, banned, discouraged or unreachable", () => {
    const { bans, book, connect, gossip, receive } = setup({ reachable: (network) => network !== "torv3" })
    const peer = connect(newPeer(1, "outbound-full-relay"))
    bans.ban("92.0.0.0/8", { until: NOW + 100, now: NOW })
    bans.discourage(endpoint("93.1.2.3:1").address)
    const with_ = (text: string, services = 1n): AddressEntry => ({ ...entry(0), ...endpoint(text), services })
    receive(
      peer,
      addrv2([
        with_("91.1.2.3:8334", 8n),
        with_("92.1.2.3:8334"),
        with_("93.1.2.3:8334"),
        with_("10.1.2.3:8334"),
        with_(ONION),
        entry(0, { address: { network: "unknown", id: 99, bytes: new Uint8Array(3) } }),
        with_("94.1.2.3:8334", 0x400n)
      ])
    )
    assert.deepStrictEqual(book.all().map(({ address }) => address.bytes[0]), [94])
    assert.strictEqual(gossip.gossipOf(peer).processed, 4)
  })

  it("addresses of a block-relay peer are ignored, and an addr-fetch peer is disconnected after them", () => {
    const { book, connect, gossip, receive } = setup()
    const blocks = connect(newPeer(1, "block-relay-only"))
    receive(blocks, addrv2(entries(5)))
    assert.strictEqual(book.size, 0)
    assert.isFalse(gossip.gossipOf(blocks).enabled)
    const fetched = connect(newPeer(2, "addr-fetch"))
    receive(fetched, addrv2(entries(1)))
    assert.lengthOf(fetched.disconnections, 0)
    receive(fetched, addrv2(entries(2)))
    assert.isFalse(fetched.disconnections[0]?.misbehaving)
    const silent = connect(newPeer(3, "addr-fetch"))
    gossip.tick(NOW + 300)
    assert.lengthOf(silent.disconnections, 0)
    gossip.tick(NOW + 301)
    assert.lengthOf(silent.disconnections, 1)
  })
})

describe("the answer to getaddr", () => {
  const filled = (count: number, options: Partial<GossipOptions> = {}) => {
    const given = setup(options)
    for (let n = 0; given.book.size < count; n++) {
      given.book.add([{ ...entry(n), address: numbered(n * 65_537) }], numbered(n * 65_536), { now: NOW })
    }
    return given
  }

  it("the answer to getaddr is 23 % of the book, once, and only for inbound peers", () => {
    const { connect, receive } = filled(1000)
    const peer = connect(newPeer(1, "inbound"))
    receive(peer, { type: "getaddr" })
    assert.lengthOf(addressesSent(peer), 230)
    receive(peer, { type: "getaddr" })
    assert.lengthOf(peer.sent, 1)
    const outbound = connect(newPeer(2, "outbound-full-relay"))
    receive(outbound, { type: "getaddr" })
    assert.lengthOf(addressesSent(outbound), 0)
  })

  it("our own address comes before the answer, in a message of its own", () => {
    const own = endpoint("95.1.2.3:8334")
    const { connect, receive } = filled(1000, { ownAddress: () => own })
    const peer = connect(newPeer(1, "inbound"))
    receive(peer, { type: "getaddr" })
    const [first, sample] = peer.sent.map((message) => message.type === "addrv2" ? message.addresses : [])
    assert.deepStrictEqual(first?.map(({ address, port }) => ({ address, port })), [own])
    assert.lengthOf(sample ?? [], 230)
  })

  it("the answer has at most 1000 addresses, in a format that the peer supports", () => {
    const { connect, receive } = filled(5000)
    const peer = connect(newPeer(1, "inbound", { addrV2: false }))
    receive(peer, { type: "getaddr" })
    assert.lengthOf(addressesSent(peer), 1000)
    assert.deepStrictEqual(peer.sent.map(({ type }) => type), ["addr"])
  })

  it("the answer stays the same for about a day, for all peers on the same network and local address", () => {
    const { clock, connect, receive } = filled(300)
    const told = (id: number): ReadonlyArray<string> => {
      const peer = connect(newPeer(id, "inbound"))
      receive(peer, { type: "getaddr" })
      return addressesSent(peer).map(({ address }) => address.bytes.join(".")).sort()
    }
    const first = told(1)
    clock.now += 21 * 3600 - 1
    assert.deepStrictEqual(told(2), first)
    clock.now += 6 * 3600 + 2
    assert.notDeepEqual(told(3), first)
  })

  it("the answer has no banned or discouraged address", () => {
    const { bans, connect, receive } = filled(100)
    bans.ban("50.0.0.0/8", { until: NOW + 10, now: NOW })
    const peer = connect(newPeer(1, "inbound"))
    receive(peer, { type: "getaddr" })
    assert.lengthOf(peer.sent, 0)
  })
})

describe("our own address", () => {
  const own = endpoint("95.1.2.3:8334")

  it("our own address is announced at once and alone, then daily on average", () => {
    const { clock, connect, gossip } = setup({ ownAddress: () => own })
    const peer = connect(newPeer(1, "outbound-full-relay"))
    gossip.tick(NOW + 1)
    assert.deepStrictEqual(peer.sent.slice(1), [addrv2([{ time: NOW + 1, services: 0x409n, ...own }])])
    for (; clock.now < NOW + 100 * DAY; clock.now += 60) gossip.tick(clock.now)
    const count = addressesSent(peer).length
    assert.isAbove(count, 60)
    assert.isBelow(count, 140)
  })

  it.each<[string, Partial<GossipOptions>, ConnectionType]>([
    ["during initial download", { ownAddress: () => own, initialDownload: () => true }, "outbound-full-relay"],
    ["without one", {}, "outbound-full-relay"],
    ["if it is unroutable", { ownAddress: () => endpoint("10.0.0.1:8334") }, "outbound-full-relay"],
    ["to a block-relay peer", { ownAddress: () => own }, "block-relay-only"],
    ["to an inbound peer that sent no address message", { ownAddress: () => own }, "inbound"]
  ])("our own address is not announced %s", (_, fields, type) => {
    const { connect, pass } = setup(fields)
    const peer = connect(newPeer(1, type))
    pass()
    assert.lengthOf(addressesSent(peer), 0)
  })

  it("our own address is a known one, or the one that the peer sees", () => {
    const seen = endpoint("96.1.2.3:5555")
    const local = [{ ...own, score: 1 }, { ...endpoint("[2a02:1::1]:8334"), score: 4 }]
    const tell = (peer: Peer, fields: Partial<Parameters<typeof ownAddressFor>[1]> = {}) =>
      ownAddressFor(peer, { local: [], listenPort: 8334, discover: true, random: () => 0, ...fields })
    const plain = newPeer(1, "inbound")
    const inbound = newPeer(1, "inbound", { ourAddress: seen })
    const outbound = newPeer(1, "outbound-full-relay", { ourAddress: seen })
    assert.isUndefined(tell(plain))
    assert.deepStrictEqual(tell(plain, { local }), own)
    assert.deepStrictEqual(
      tell(newPeer(1, "inbound", { from: "[2a02:2::1]:1" }), { local }),
      endpoint("[2a02:1::1]:8334")
    )
    assert.isUndefined(tell(plain, { local: [{ ...endpoint("10.0.0.1:8334"), score: 4 }] }))
    assert.deepStrictEqual(tell(inbound), seen)
    assert.deepStrictEqual(tell(outbound), { ...seen, port: 8334 })
    assert.isUndefined(tell(inbound, { discover: false }))
    assert.isUndefined(tell(newPeer(1, "inbound", { ourAddress: seen, from: "127.0.0.1:1" })))
    assert.isUndefined(tell(newPeer(1, "inbound", { ourAddress: endpoint("10.0.0.1:1") })))
    // Half of the time the one that the peer sees; an eighth if peers have confirmed a known one.
    assert.deepStrictEqual(tell(inbound, { local, random: () => 0.49 }), seen)
    assert.deepStrictEqual(tell(inbound, { local, random: () => 0.5 }), own)
    const confirmed = [{ ...own, score: 5 }]
    assert.deepStrictEqual(tell(inbound, { local: confirmed, random: () => 0.124 }), seen)
    assert.deepStrictEqual(tell(inbound, { local: confirmed, random: () => 0.125 }), own)
  })
})

describe("floods", () => {
  it("at most 1000 addresses wait for a peer", () => {
    const { connect, gossip, receive } = setup()
    const slow = connect(newPeer(1, "outbound-full-relay"))
    gossip.tick(NOW)
    for (let id = 2; id < 12; id++) {
      const teller = connect(newPeer(id, "outbound-full-relay"))
      receive(teller, addrv2([]))
      for (let n = 0; n < 60; n++) {
        receive(teller, addrv2(Array.from({ length: 10 }, (_, i) => entry(id * 1000 + n * 10 + i))))
      }
    }
    slow.sent.length = 0
    for (let i = 1; i < 400; i++) gossip.tick(NOW + i)
    assert.isAbove(addressesSent(slow).length, 500)
    for (const message of slow.sent) if (message.type === "addrv2") assert.isAtMost(message.addresses.length, 1000)
  })
})
