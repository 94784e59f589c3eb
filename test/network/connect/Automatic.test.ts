import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AddressBook } from "../../../src/network/addresses/AddressBook.ts"
import type { AddressStore } from "../../../src/network/addresses/AddressStore.ts"
import { Automatic, type AutomaticOptions, type OpenConnections } from "../../../src/network/connect/Automatic.ts"
import { type ChoiceOptions, chooseAddress } from "../../../src/network/connect/choose.ts"
import { Connections } from "../../../src/network/connect/Connections.ts"
import { slotLimits } from "../../../src/network/connect/slots.ts"
import { Pace } from "../../../src/network/peer/Pace.ts"
import { OUTBOX_LIMITS } from "../../../src/network/peer/PeerConnection.ts"
import { Turns } from "../../../src/network/peer/Turns.ts"
import type { KnownAddress } from "../../../src/network/peerInfo.ts"
import { formatNetAddress, parseNetAddress } from "../../../src/network/wire/addressText.ts"
import { endpointKey } from "../../../src/network/wire/netAddress.ts"
import { networkGroup } from "../../../src/network/wire/netGroup.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { ampleBudget } from "../../support/memory.ts"
import { memoryStore, NO_INFO } from "../../support/peerManager.ts"
import { messagesTo } from "../../support/receive.ts"
import { fakePeer } from "../relay/fakePeer.ts"

const NOW = 1_700_000_000

/** Reproducible random numbers. */
const seeded = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const known = (text: string, changes: Partial<KnownAddress> = {}): KnownAddress => {
  const address = parseNetAddress(text)
  if (address === undefined) throw new Error(text)
  return { address, port: 8334, services: 9n, time: NOW - 1_000, ...changes }
}

const bookOf = (...addresses: ReadonlyArray<KnownAddress>): AddressBook => {
  const book = new AddressBook({ random: seeded(1) })
  for (const [index, address] of addresses.entries()) book.add([address], { seed: `s${index}` }, { now: NOW })
  return book
}

/** Addresses of this many groups. */
const spread = (count: number, changes: Partial<KnownAddress> = {}) =>
  Array.from({ length: count }, (_, i) => known(`${20 + (i % 150)}.${1 + Math.floor(i / 150)}.3.4`, changes))

describe("chooseAddress", () => {
  const options = (changes: Partial<ChoiceOptions> = {}): ChoiceOptions => ({
    purpose: "outbound-full-relay",
    networks: new Set(["ipv4", "ipv6"]),
    groups: new Set(),
    taken: new Set(),
    barred: () => false,
    nearTip: false,
    now: NOW,
    random: seeded(2),
    ...changes
  })
  const chosen = (book: AddressBook, changes: Partial<ChoiceOptions> = {}) => {
    const found = chooseAddress(book, options(changes))
    return found === undefined ? undefined : formatNetAddress(found.address)
  }

  it("no address is selected from an empty book", () => assert.isUndefined(chosen(bookOf())))

  it("only addresses of reachable networks are selected", () => {
    const book = bookOf(known("2a01::1"))
    assert.strictEqual(chosen(book), "2a01::1")
    assert.isUndefined(chosen(book, { networks: new Set(["ipv4"]) }))
  })

  it("excluded groups, peers and addresses are not selected", () => {
    const one = known("21.1.3.4")
    const book = bookOf(one)
    assert.strictEqual(chosen(book), "21.1.3.4")
    assert.isUndefined(chosen(book, { groups: new Set([networkGroup(one.address)]) }))
    assert.isUndefined(chosen(book, { taken: new Set([endpointKey(one.address, one.port)]) }))
    assert.isUndefined(chosen(book, { barred: () => true }))
    // A feeler may be of the same group, because it does not stay connected.
    assert.strictEqual(chosen(book, { purpose: "feeler", groups: new Set([networkGroup(one.address)]) }), "21.1.3.4")
  })

  it("addresses need the services that the state of the chain requires, except for a feeler", () => {
    const book = bookOf(known("21.1.3.4", { services: 0x408n }))
    assert.isUndefined(chosen(book))
    assert.strictEqual(chosen(book, { nearTip: true }), "21.1.3.4")
    assert.strictEqual(chosen(book, { purpose: "feeler" }), "21.1.3.4")
  })

  it("addresses not tried within ten minutes are preferred, and none is tried twice within half a minute", () => {
    const [fresh, recent] = [known("21.1.3.4"), known("22.1.3.4")]
    const book = bookOf(fresh, recent)
    book.attempt(recent.address, recent.port, { now: NOW - 599, countFailure: false })
    for (let i = 0; i < 20; i++) assert.strictEqual(chosen(book, { random: seeded(i) }), "21.1.3.4")
    const alone = bookOf(recent)
    alone.attempt(recent.address, recent.port, { now: NOW - 30, countFailure: false })
    assert.strictEqual(chosen(alone), "22.1.3.4")
    assert.isUndefined(chosen(alone, { now: NOW - 1 }))
  })

  it("ports of other services are selected only if there is no other address", () => {
    const book = bookOf(known("21.1.3.4", { port: 22 }), known("22.1.3.4"))
    for (let i = 0; i < 20; i++) assert.strictEqual(chosen(book, { random: seeded(i) }), "22.1.3.4")
    assert.strictEqual(chosen(bookOf(known("21.1.3.4", { port: 22 }))), "21.1.3.4")
  })

  it("the same rules apply in a large book", () => {
    const random = seeded(3)
    const book = new AddressBook({ random })
    for (let i = 0; i < 3_000; i++) {
      const text = `${1 + (i % 9)}.${i >> 8}.${i & 0xff}.7`
      book.add([known(text, { services: i % 2 === 0 ? 9n : 1n })], { seed: `s${i}` }, { now: NOW })
    }
    assert.isAbove(book.size, 1_000)
    for (let i = 0; i < 20; i++) {
      const found = chooseAddress(book, options({ random }))
      if (found !== undefined) assert.strictEqual(found.services, 9n)
    }
    assert.isUndefined(chooseAddress(book, options({ random, barred: () => true })))
  })
})

describe("Automatic", () => {
  const started = (store: AddressStore, changes: Partial<AutomaticOptions> = {}) => {
    const calls: Array<{ readonly type: string; readonly host: string }> = []
    const random = seeded(7)
    const connections = new Connections({
      context: {
        magic: regtest.magic,
        handlers: [],
        messages: messagesTo(() => Effect.void),
        totals: { sent: 0, received: 0 },
        nonce: () => 1n,
        outbox: OUTBOX_LIMITS,
        pace: new Pace(0),
        turns: new Turns(() => 0),
        meter: () => 0,
        budget: ampleBudget(),
        peerTimeout: 60_000,
        pardoned: () => {}
      },
      introduce: () => ({ services: 9n, userAgent: "", startHeight: 0, nearTip: true }),
      opened: () => {},
      misbehaved: () => {}
    })
    const automatic = new Automatic({
      connections,
      limits: slotLimits({ maxPeers: 125, maxInbound: 125, maxOutbound: 25, listening: true, configured: 0 }),
      store,
      random,
      networks: new Set(["ipv4", "ipv6"]),
      active: () => true,
      nearTip: () => true,
      needExtraPeer: () => false,
      sync: () => NO_INFO.sync,
      lastAnnouncement: () => 0,
      call: ({ host }, type) => {
        calls.push({ type, host })
        return Effect.never
      },
      spawn: (effect) => void Effect.runFork(effect),
      ...changes
    }, NOW)
    const steps = (seconds: number, from = NOW): void => {
      for (let at = from; at < from + seconds; at++) automatic.step(at)
    }
    const count = (type: string): number => calls.filter((call) => call.type === type).length
    return { automatic, calls, steps, count }
  }

  it("the node opens 8 full-relay and 2 block-relay connections of different groups, then a feeler from time to time", () => {
    const store = memoryStore({ book: bookOf(...spread(100)) })
    const { calls, count, steps } = started(store, { nearTip: () => false })
    steps(10)
    assert.deepStrictEqual([count("outbound-full-relay"), count("block-relay-only")], [8, 2])
    assert.strictEqual(new Set(calls.map(({ host }) => host.split(".").slice(0, 2).join("."))).size, 10)
    steps(1_200, NOW + 10)
    // The first feeler keeps the slot: it never ends here.
    assert.deepStrictEqual([count("outbound-full-relay"), count("block-relay-only"), count("feeler")], [8, 2, 1])
  })

  it("the node opens a feeler every two minutes on average", () => {
    const store = memoryStore({ book: bookOf(...spread(100)) })
    const call: AutomaticOptions["call"] = (_, type) => {
      if (type === "feeler") feelers++
      return type === "feeler"
        ? Effect.succeed({
          disconnection: { reason: "", misbehaving: false },
          hello: undefined,
          lasted: 0,
          self: false
        })
        : Effect.never
    }
    let feelers = 0
    const { steps } = started(store, { call, nearTip: () => false })
    steps(12_000)
    assert.isAbove(feelers, 60)
    assert.isBelow(feelers, 140)
  })

  it("the node opens one more connection if the tip is stale", () => {
    let stale = false
    const store = memoryStore({ book: bookOf(...spread(100)) })
    const { count, steps } = started(store, { needExtraPeer: () => stale, nearTip: () => false })
    steps(11)
    stale = true
    steps(10, NOW + 11)
    assert.strictEqual(count("outbound-full-relay"), 9)
  })

  it("the node tries anchors first, unless they are banned", () => {
    const banned = known("99.1.1.1")
    const store = memoryStore({ book: bookOf(...spread(20)), anchors: [banned, known("98.1.1.1")] })
    store.bans.ban("99.1.1.1", { until: NOW + 1_000, now: NOW })
    const { calls, steps } = started(store)
    steps(2)
    assert.deepStrictEqual(calls[0], { type: "block-relay-only", host: "98.1.1.1" })
    assert.strictEqual(calls[1]?.type, "outbound-full-relay")
    assert.isFalse(calls.some(({ host }) => host === "99.1.1.1"))
  })

  it("the node disconnects the extra peer with the oldest block announcement, whatever blocks it sent", () => {
    const peers = Array.from({ length: 9 }, (_, id) => fakePeer({ id }))
    const gone: Array<number> = []
    const connections: OpenConnections = {
      all: [],
      peers,
      count: () => peers.length,
      find: (id) => ({ disconnect: () => void gone.push(id) })
    }
    const { steps } = started(memoryStore({ book: bookOf(...spread(20)) }), {
      connections,
      sync: ({ id }) => ({ ...NO_INFO.sync, lastBlock: id }),
      lastAnnouncement: ({ id }) => id === 6 ? 1 : 2
    })
    steps(1)
    assert.deepStrictEqual(gone, [6])
  })

  it("the node never connects again to an address that is its own", () => {
    const store = memoryStore({ book: bookOf(known("21.1.3.4")) })
    let count = 0
    const { steps } = started(store, {
      call: () => {
        count++
        return Effect.succeed({
          disconnection: { reason: "", misbehaving: false },
          hello: undefined,
          lasted: 0,
          self: true
        })
      }
    })
    steps(5_000)
    assert.strictEqual(count, 1)
  })

  it("the node opens no connection while network activity is disabled", () => {
    const { calls, steps } = started(memoryStore({ book: bookOf(...spread(20)) }), { active: () => false })
    steps(100)
    assert.deepStrictEqual(calls, [])
  })
})
