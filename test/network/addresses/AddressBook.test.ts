import { assert, describe, it } from "@effect/vitest"
import { AddressBook } from "../../../src/network/addresses/AddressBook.ts"
import { add, checkBook, DAY, HOUR, newBook, peerAddress, source } from "./books.ts"
import { address, known, NOW, numbered, seeded } from "./support.ts"

describe("addresses accepted by the book", () => {
  it.each([
    ["90.1.2.3:8334", true],
    ["[2a02:1::1]:8334", true],
    ["10.0.0.1:8334", false],
    ["127.0.0.1:8334", false],
    ["[::1]:8334", false],
    ["[fe80::1]:8334", false],
    ["0.0.0.0:8334", false],
    ["90.1.2.3:0", false]
  ])("%s: %s", (text, taken) => {
    const book = newBook()
    assert.strictEqual(add(book, known(text)), taken ? 1 : 0)
    assert.strictEqual(book.size, taken ? 1 : 0)
  })

  it("the book accepts local addresses only if allowed, and other private ones never", () => {
    const book = newBook({ allowLocal: true })
    assert.strictEqual(add(book, known("127.0.0.1:18444"), known("[::1]:18444"), known("192.168.1.1:8334")), 2)
    assert.strictEqual(add(book, known("0.0.0.0:18444")), 0)
    checkBook(book)
  })

  it("the book stores its own copy of an address, not a view of the message", () => {
    const book = newBook()
    const message = Uint8Array.of(1, 90, 1, 2, 3, 1)
    add(book, { ...peerAddress, address: { network: "ipv4", bytes: message.subarray(1, 5) } })
    message.fill(9)
    const [kept] = book.all()
    assert.strictEqual(kept?.address.bytes.buffer.byteLength, 4)
    assert.deepStrictEqual(Array.from(kept?.address.bytes ?? []), [90, 1, 2, 3])
  })
})

describe("updates of an address in the book", () => {
  it("the penalty makes an address older, unless the source announces itself", () => {
    const book = newBook()
    book.add([peerAddress], source, { now: NOW, penalty: 7200 })
    assert.strictEqual(book.all()[0]?.time, peerAddress.time - 7200)
    const itself = newBook()
    itself.add([peerAddress], peerAddress.address, { now: NOW, penalty: 7200 })
    assert.strictEqual(itself.all()[0]?.time, peerAddress.time)
    const early = newBook()
    early.add([known("90.1.2.3:8334", { time: 100 })], source, { now: NOW, penalty: 7200 })
    assert.strictEqual(early.all()[0]?.time, 0)
  })

  it.each([
    { why: "an hour newer, online", old: NOW - 2 * HOUR, time: NOW - HOUR, taken: false },
    { why: "a second more than an hour newer, online", old: NOW - 2 * HOUR - 1, time: NOW - HOUR, taken: true },
    { why: "a day newer, offline", old: NOW - 4 * DAY, time: NOW - 3 * DAY, taken: false },
    { why: "a second more than a day newer, offline", old: NOW - 4 * DAY - 1, time: NOW - 3 * DAY, taken: true }
  ])("the time is updated: $why", ({ old, taken, time }) => {
    const book = newBook()
    add(book, known("90.1.2.3:8334", { time: old }))
    add(book, known("90.1.2.3:8334", { time, services: 0x400n }))
    assert.strictEqual(book.all()[0]?.time, taken ? time : old)
    assert.strictEqual(book.all()[0]?.services, 0x409n)
  })

  it("the book records services, and the time at the end of a connection", () => {
    const book = newBook()
    add(book, known("90.1.2.3:8334", { time: NOW - 1200 }))
    book.setServices(peerAddress.address, 8334, 1n)
    book.connected(peerAddress.address, 8334, NOW)
    assert.strictEqual(book.all()[0]?.time, NOW - 1200)
    book.connected(peerAddress.address, 8334, NOW + 1)
    assert.strictEqual(book.all()[0]?.time, NOW + 1)
    assert.strictEqual(book.all()[0]?.services, 1n)
  })

  it("the book counts a failure once until some address answers", () => {
    const book = newBook()
    const other = known("91.1.2.3:8334")
    add(book, peerAddress, other)
    const attempts = () => book.find(peerAddress.address, peerAddress.port)?.attempts
    book.attempt(peerAddress.address, 8334, { now: NOW, countFailure: true })
    book.attempt(peerAddress.address, 8334, { now: NOW + 1, countFailure: true })
    assert.strictEqual(attempts(), 1)
    book.good(other.address, other.port, NOW + 2)
    book.attempt(peerAddress.address, 8334, { now: NOW + 3, countFailure: false })
    assert.strictEqual(attempts(), 1)
    book.attempt(peerAddress.address, 8334, { now: NOW + 3, countFailure: true })
    assert.strictEqual(attempts(), 2)
    assert.strictEqual(book.find(peerAddress.address, 8334)?.lastTry, NOW + 3)
    book.good(peerAddress.address, 8334, NOW + 4)
    assert.strictEqual(attempts(), 0)
  })

  it("an address that answered moves to the tried table once, and keeps its time", () => {
    const book = newBook()
    add(book, peerAddress)
    assert.isFalse(book.good(peerAddress.address, 9999, NOW))
    assert.isTrue(book.good(peerAddress.address, 8334, NOW))
    assert.isFalse(book.good(peerAddress.address, 8334, NOW + 1))
    assert.deepStrictEqual(book.counts().get("ipv4"), { fresh: 0, tried: 1 })
    assert.strictEqual(book.all()[0]?.time, peerAddress.time)
    assert.strictEqual(book.all()[0]?.lastSuccess, NOW + 1)
    checkBook(book)
  })
})

describe("terrible addresses", () => {
  const sampled = (prepare: (book: AddressBook) => void, now = NOW, time = NOW - DAY): boolean => {
    const book = newBook()
    add(book, known("90.1.2.3:8334", { time }))
    prepare(book)
    return book.sample({ max: 0, percent: 0, now }).length === 1
  }
  const fail = (count: number, last: number) => (book: AddressBook): void => {
    for (let i = 0; i < count; i++) {
      // Another address answers in between, so that the next failure counts.
      book.attempt(peerAddress.address, 8334, { now: last - count + i + 1, countFailure: true })
      book.good(address("99.9.9.9"), 1, last + 1)
    }
  }
  const answer = (at: number) => (book: AddressBook): void => void book.good(peerAddress.address, 8334, at)

  it("an address is terrible if it was not seen for 30 days, or comes from the future", () => {
    assert.isTrue(sampled(() => {}, NOW, NOW - 30 * DAY))
    assert.isFalse(sampled(() => {}, NOW, NOW - 30 * DAY - 1))
    assert.isTrue(sampled(() => {}, NOW, NOW + 600))
    assert.isFalse(sampled(() => {}, NOW, NOW + 601))
  })

  it("an address is terrible if it failed three times and never answered", () => {
    assert.isTrue(sampled(fail(2, NOW - 61)))
    assert.isFalse(sampled(fail(3, NOW - 61)))
  })

  it("an address is not terrible if it was tried within the last minute", () => {
    assert.isTrue(sampled(fail(3, NOW - 60)))
    assert.isFalse(sampled(fail(3, NOW - 61)))
  })

  it("an address is terrible if it failed ten times over a week", () => {
    const both = (count: number, success: number) => (book: AddressBook): void => {
      answer(success)(book)
      fail(count, NOW - 61)(book)
    }
    assert.isTrue(sampled(both(9, NOW - 8 * DAY)))
    assert.isFalse(sampled(both(10, NOW - 8 * DAY)))
    assert.isTrue(sampled(both(10, NOW - 7 * DAY)))
    assert.isFalse(sampled(both(10, NOW - 7 * DAY - 1)))
  })
})

describe("selection", () => {
  it("selection returns nothing if no address matches", () => {
    const book = newBook()
    assert.isUndefined(book.select({}, NOW))
    add(book, peerAddress)
    assert.isUndefined(book.select({ networks: new Set(["torv3"]) }, NOW))
    book.good(peerAddress.address, 8334, NOW)
    assert.isUndefined(book.select({ newOnly: true }, NOW))
    assert.strictEqual(book.select({}, NOW)?.port, 8334)
  })

  it("selection draws new and tried addresses equally, from the requested networks", () => {
    const book = newBook()
    const six = known("[2a02:1::1]:8334")
    add(book, peerAddress, six)
    book.good(peerAddress.address, 8334, NOW - DAY)
    const networks = Array.from({ length: 200 }, () => book.select({}, NOW)?.address.network)
    const share = networks.filter((network) => network === "ipv6").length
    assert.isAbove(share, 60)
    assert.isBelow(share, 140)
    for (let i = 0; i < 20; i++) {
      assert.strictEqual(book.select({ networks: new Set(["ipv6"]) }, NOW)?.address.network, "ipv6")
      assert.strictEqual(book.select({ newOnly: true }, NOW)?.address.network, "ipv6")
    }
  })

  it("selection seldom draws an address that was just tried, and normally again after ten minutes", () => {
    const book = newBook()
    const other = known("91.1.2.3:8334")
    add(book, peerAddress, other)
    book.attempt(other.address, 8334, { now: NOW, countFailure: false })
    const share = (now: number): number =>
      Array.from({ length: 300 }, () => book.select({}, now)).filter((found) => found?.address.bytes[0] === 91).length
    assert.isBelow(share(NOW + 599), 40)
    assert.isAbove(share(NOW + 600), 100)
  })
})

describe("collisions among tried addresses", () => {
  /** A book in which one address answered whose tried slot is taken, and the two competitors. */
  const collided = () => {
    const book = newBook()
    for (let n = 0; !book.hasCollisions; n++) {
      const next = numbered(n * 131)
      book.add([{ address: next, port: 8334, services: 9n, time: NOW }], numbered(n * 65536), { now: NOW })
      book.good(next, 8334, NOW)
    }
    const old = book.selectCollision()
    assert.isDefined(old)
    const waiting = book.all().find(({ lastSuccess, tried }) => !tried && lastSuccess === NOW)
    assert.isDefined(waiting)
    const isTried = (which: { readonly address: typeof old.address; readonly port: number }) =>
      book.find(which.address, which.port)?.tried
    return { book, old, waiting, isTried }
  }

  it("an address that answered within 4 hours keeps its slot", () => {
    const { book, isTried, old, waiting } = collided()
    book.good(old.address, old.port, NOW + 100)
    book.resolveCollisions(NOW + 100 + 4 * HOUR - 1)
    assert.isFalse(book.hasCollisions)
    assert.isTrue(isTried(old))
    assert.isFalse(isTried(waiting))
    checkBook(book)
  })

  it("an address that was tried and did not answer within a minute is replaced", () => {
    const { book, isTried, old, waiting } = collided()
    const later = NOW + 4 * HOUR
    book.attempt(old.address, old.port, { now: later, countFailure: true })
    book.resolveCollisions(later + 60)
    assert.isTrue(book.hasCollisions)
    book.resolveCollisions(later + 61)
    assert.isFalse(book.hasCollisions)
    assert.isFalse(isTried(old))
    assert.isTrue(isTried(waiting))
    assert.isUndefined(book.selectCollision())
    checkBook(book)
  })

  it("an address that could not be tested within 40 minutes is replaced", () => {
    const { book, isTried, old, waiting } = collided()
    const answered = NOW + 5 * HOUR
    book.good(waiting.address, waiting.port, answered)
    book.resolveCollisions(answered + 2400)
    assert.isTrue(isTried(old))
    book.resolveCollisions(answered + 2401)
    assert.isFalse(isTried(old))
    assert.isTrue(isTried(waiting))
    checkBook(book)
  })

  it("at most ten collisions wait", () => {
    const book = newBook()
    for (let n = 0; n < 12_000; n++) {
      const next = numbered(n * 131)
      book.add([{ address: next, port: 8334, services: 9n, time: NOW }], numbered(n * 65536), { now: NOW })
      book.good(next, 8334, NOW)
    }
    const later = NOW + 5 * HOUR
    book.resolveCollisions(later)
    const moved = book.all().filter(({ lastSuccess, tried }) => tried && lastSuccess === later)
    assert.isAtLeast(moved.length, 8)
    assert.isAtMost(moved.length, 10)
    assert.isFalse(book.hasCollisions)
    checkBook(book)
  })
})

describe("a sample", () => {
  const book = newBook()
  book.add(
    Array.from({ length: 500 }, (_, n) => ({ address: numbered(n * 70_001), port: 8334, services: 9n, time: NOW })),
    source,
    { now: NOW }
  )
  add(book, known("[2a02:1::1]:8334"), known("90.1.2.3:8334", { time: NOW - 31 * DAY }))

  it("a sample has at most a number, and a percentage, of all addresses", () => {
    assert.lengthOf(book.sample({ max: 10, percent: 0, now: NOW }), 10)
    assert.lengthOf(book.sample({ max: 1000, percent: 23, now: NOW }), Math.floor((book.size * 23) / 100))
    assert.lengthOf(book.sample({ max: 3, percent: 23, now: NOW }), 3)
    assert.lengthOf(book.sample({ max: 0, percent: 0, now: NOW }), book.size - 1)
    assert.lengthOf(book.sample({ max: 0, percent: 0, now: NOW, network: "ipv6" }), 1)
    assert.lengthOf(new AddressBook({ random: seeded(1) }).sample({ max: 1000, percent: 23, now: NOW }), 0)
  })

  it("a sample has no duplicates, and differs each time", () => {
    const one = book.sample({ max: 50, percent: 0, now: NOW }).map(({ address }) => address.bytes.join("."))
    assert.strictEqual(new Set(one).size, 50)
    assert.notDeepEqual(
      book.sample({ max: 50, percent: 0, now: NOW }).map(({ address }) => address.bytes.join(".")),
      one
    )
    checkBook(book)
  })
})

describe("bounds", () => {
  it("one source fills at most 64 buckets", () => {
    const book = newBook()
    const list = Array.from({ length: 30_000 }, (_, n) => ({
      address: { network: "ipv4" as const, bytes: Uint8Array.of(50 + (n % 40), n % 251, n % 256, n >>> 8) },
      port: 8334,
      services: 9n,
      time: NOW
    }))
    book.add(list, source, { now: NOW })
    const buckets = new Set(Array.from(book.places(), ({ bucket }) => bucket))
    assert.isAtMost(buckets.size, 64)
    assert.isAtMost(book.size, 64 * 64)
    assert.isAbove(book.size, 3000)
    checkBook(book)
  })

  it("tried addresses of one group fill at most 8 buckets", () => {
    const book = newBook()
    for (let n = 0; n < 5000; n++) {
      const next = { network: "ipv4" as const, bytes: Uint8Array.of(60, 1, n >>> 8, n & 0xff) }
      book.add([{ address: next, port: 8334, services: 9n, time: NOW }], numbered(n * 65536), { now: NOW })
      book.good(next, 8334, NOW)
    }
    const buckets = new Set(
      Array.from(book.places()).filter(({ table }) => table === "tried").map(({ bucket }) => bucket)
    )
    assert.isAtMost(buckets.size, 8)
    assert.isAtMost(book.counts().get("ipv4")?.tried ?? 0, 8 * 64)
    checkBook(book)
  })

  it("an address from many sources is in at most 8 buckets", () => {
    const book = newBook()
    for (let n = 0; n < 20_000; n++) {
      book.add([{ ...peerAddress, time: NOW + n }], numbered((n % 250) * 65536), { now: NOW })
    }
    assert.isAbove(Array.from(book.places()).length, 4)
    checkBook(book)
  })
})
