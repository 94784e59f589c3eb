import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { AddressBook } from "../../../src/network/addresses/AddressBook.ts"
import {
  askSeedNodes,
  fixedSeedAddresses,
  fixedSeedsLater,
  lookUp,
  seedAddresses,
  type SeedingOptions
} from "../../../src/network/addresses/seeds.ts"
import type { NetAddress } from "../../../src/network/wire/netAddress.ts"
import { mainnet } from "../../../src/protocol/networks.ts"
import { known, NOW, numbered, seeded } from "./support.ts"

const DAY = 86_400
const SEEDS = ["a.example.", "b.example.", "c.example.", "d.example.", "e.example."]

interface Setup {
  readonly options: SeedingOptions
  readonly asked: Array<string>
  readonly fetched: Array<string>
  readonly peers: { outbound: number; active: boolean }
}

const setup = (
  fields: Partial<SeedingOptions> = {},
  answer: (name: string) => ReadonlyArray<NetAddress> = () => []
): Setup => {
  const asked: Array<string> = []
  const fetched: Array<string> = []
  const peers = { outbound: 0, active: true }
  const options: SeedingOptions = {
    seedNodes: [],
    force: false,
    otherSources: true,
    networks: new Set(["ipv4", "ipv6"]),
    network: { dnsSeeds: SEEDS, fixedSeeds: ["90.1.2.3:8334", "[2a02:1::1]:17722"], defaultP2pPort: 8334 },
    book: new AddressBook({ random: seeded(1) }),
    random: seeded(2),
    resolve: (name) => Effect.sync(() => (asked.push(name), answer(name))),
    proxied: false,
    fullOutbound: Effect.sync(() => peers.outbound),
    active: Effect.sync(() => peers.active),
    fetchFrom: (host, port) => Effect.sync(() => void fetched.push(`${host}:${port}`)),
    ...fields
  }
  return { options, asked, fetched, peers }
}

const bookOf = (count: number): AddressBook => {
  const book = new AddressBook({ random: seeded(1) })
  for (let n = 0; book.size < count; n++) {
    book.add([{ address: numbered(n * 65_537), port: 1, services: 9n, time: NOW }], numbered(n * 65_536), { now: NOW })
  }
  return book
}

const start = TestClock.setTime(NOW * 1000)

describe("DNS seeds", () => {
  it.effect("all seeds are queried at once, in any order, if no address is known", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, fetched, options } = setup({}, (name) =>
        name === "x9.b.example." ? [numbered(1), numbered(70_000)] : [])
      yield* seedAddresses(options)
      assert.deepStrictEqual(
        [...asked].sort(),
        SEEDS.map((seed) =>
          `x9.${seed}`
        )
      )
      assert.notDeepEqual(asked, SEEDS.map((seed) => `x9.${seed}`))
      // Seeds without an answer are connected to by their bare names.
      assert.deepStrictEqual([...fetched].sort(), ["a", "c", "d", "e"].map((name) => `${name}.example:8334`))
      const found = options.book.all()
      assert.lengthOf(found, 2)
      for (const { port, services, source, time } of found) {
        assert.strictEqual(port, 8334)
        assert.strictEqual(services, 9n)
        assert.strictEqual(source, "seed:x9.b.example.")
        assert.isAtMost(time, NOW - 3 * DAY)
        assert.isAbove(time, NOW - 7 * DAY)
      }
    }))

  it.effect("each seed adds at most 32 addresses", () =>
    Effect.gen(function*() {
      yield* start
      const many = Array.from({ length: 60 }, (_, n) => numbered(n * 65_537))
      const { options } = setup({ network: { ...mainnet, dnsSeeds: ["a.example."] } }, () => many)
      yield* seedAddresses(options)
      const given = new Set(many.slice(0, 32).map(({ bytes }) => bytes.join(".")))
      const kept = options.book.all().map(({ address }) => address.bytes.join("."))
      assert.isAbove(kept.length, 20)
      assert.isTrue(kept.every((text) => given.has(text)))
    }))

  it.effect("all seeds are queried at once, whatever is known, if that is forced", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, options, peers } = setup({ book: bookOf(999), force: true })
      peers.outbound = 8
      yield* seedAddresses(options)
      assert.lengthOf(asked, SEEDS.length)
    }))

  it.effect("seed nodes are asked one after the other, while there are too few peers", () =>
    Effect.gen(function*() {
      yield* start
      const seedNodes = [{ host: "n1", port: 1 }, { host: "n2", port: 2 }, { host: "n3", port: 3 }]
      const { fetched, options, peers } = setup({ seedNodes })
      const nodes = yield* Effect.fork(askSeedNodes(options))
      yield* TestClock.adjust("9 seconds")
      assert.lengthOf(fetched, 1)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(fetched, 2)
      peers.outbound = 2
      yield* TestClock.adjust("15 seconds")
      assert.lengthOf(fetched, 2)
      peers.outbound = 1
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(nodes)
      assert.sameMembers(fetched, ["n1:1", "n2:2", "n3:3"])
    }))

  it.effect("with known addresses, seed nodes wait, and DNS seeds are asked if they brought no peers", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, fetched, options } = setup({ book: bookOf(5), force: true, seedNodes: [{ host: "n1", port: 1 }] })
      const nodes = yield* Effect.fork(askSeedNodes(options))
      const dns = yield* Effect.fork(seedAddresses(options))
      yield* TestClock.adjust("9 seconds")
      assert.lengthOf(fetched, 0)
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual([...fetched, ...asked], ["n1:1"])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(nodes)
      yield* Fiber.join(dns)
      assert.lengthOf(asked, SEEDS.length)
    }))

  it.effect("DNS seeds are not asked if seed nodes brought peers", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, options, peers } = setup({ book: bookOf(5), seedNodes: [{ host: "n1", port: 1 }] })
      const fiber = yield* Effect.fork(seedAddresses(options))
      peers.outbound = 2
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.lengthOf(asked, 0)
    }))

  it.effect("seeds are not queried if there are peers after 11 seconds", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, options, peers } = setup({ book: bookOf(1) })
      const fiber = yield* Effect.fork(seedAddresses(options))
      yield* TestClock.adjust("10 seconds")
      peers.outbound = 2
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(asked, [])
    }))

  it.effect("seeds are queried three at a time while there are too few peers", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, options, peers } = setup({ book: bookOf(999) })
      peers.outbound = 1
      const fiber = yield* Effect.fork(seedAddresses(options))
      yield* TestClock.adjust("10999 millis")
      assert.lengthOf(asked, 0)
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(asked, 3)
      yield* TestClock.adjust("11 seconds")
      assert.lengthOf(asked, 5)
      yield* Fiber.join(fiber)
    }))

  it.effect("seeds are queried after five minutes if many addresses are known", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, options } = setup({ book: bookOf(1000) })
      const fiber = yield* Effect.fork(seedAddresses(options))
      yield* TestClock.adjust("299 seconds")
      assert.lengthOf(asked, 0)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(asked, 3)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("seeds are queried only while network activity is enabled", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, options, peers } = setup()
      peers.active = false
      const fiber = yield* Effect.fork(seedAddresses(options))
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(asked, 0)
      peers.active = true
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.lengthOf(asked, 5)
    }))

  it.effect("seeds are connected to by name through a proxy, without DNS queries", () =>
    Effect.gen(function*() {
      yield* start
      const { asked, fetched, options } = setup({ proxied: true })
      yield* seedAddresses(options)
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual([...fetched].sort(), ["a", "b", "c", "d", "e"].map((name) => `${name}.example:8334`))
    }))
})

describe("the system resolver", () => {
  it.live("lookUp returns the addresses of a name, and none for an unknown name", () =>
    Effect.gen(function*() {
      const local = yield* lookUp("127.0.0.1")
      assert.deepStrictEqual(local.map(({ bytes }) => Array.from(bytes)), [[127, 0, 0, 1]])
      assert.deepStrictEqual(yield* lookUp("a name that cannot be"), [])
    }))
})

describe("fixed seeds", () => {
  it("all fixed seeds are parsed, and are one to two weeks old", () => {
    const seeds = fixedSeedAddresses(mainnet, seeded(1), NOW)
    assert.lengthOf(seeds, mainnet.fixedSeeds.length)
    for (const { time } of seeds) {
      assert.isAtMost(time, NOW - 7 * DAY)
      assert.isAbove(time, NOW - 14 * DAY)
    }
    assert.lengthOf(fixedSeedAddresses({ ...mainnet, fixedSeeds: ["nonsense"] }, seeded(1), NOW), 0)
  })

  it.effect("fixed seeds are added after a minute, for networks without any address", () =>
    Effect.gen(function*() {
      yield* start
      const { options } = setup()
      const fiber = yield* Effect.fork(fixedSeedsLater(options))
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(options.book.size, 0)
      options.book.add([known("91.1.2.3:8334")], { seed: "x" }, { now: NOW })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        options.book.all().map(({ address: { network }, port }) => `${network} ${port}`),
        ["ipv4 8334", "ipv6 17722"]
      )
    }))

  it.effect("fixed seeds are added at once without other sources, and only of networks in use", () =>
    Effect.gen(function*() {
      yield* start
      const { options } = setup({ otherSources: false, networks: new Set(["ipv6"]) })
      yield* fixedSeedsLater(options)
      assert.deepStrictEqual(options.book.all().map(({ address: { network } }) => network), ["ipv6"])
    }))
})
