import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { AddressBook } from "../../../src/network/addresses/AddressBook.ts"
import { add, checkBook, DAY, newBook, peerAddress } from "./books.ts"
import { NOW, numbered, seeded } from "./support.ts"

type Step =
  | { readonly do: "add"; readonly n: number; readonly from: number; readonly age: number }
  | { readonly do: "good" | "attempt" | "connected"; readonly n: number }
  | { readonly do: "resolve" | "sample"; readonly n: number }

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  FastCheck.record({
    do: FastCheck.constant("add" as const),
    n: FastCheck.nat(300),
    from: FastCheck.nat(12),
    age: FastCheck.integer({ min: -1000, max: 40 * DAY })
  }),
  FastCheck.record({
    do: FastCheck.constantFrom("good" as const, "attempt" as const, "connected" as const),
    n: FastCheck.nat(300)
  }),
  FastCheck.record({ do: FastCheck.constantFrom("resolve" as const, "sample" as const), n: FastCheck.nat(100) })
)

describe("random operations on a book", () => {
  it("the book keeps its invariants, and is the same after it was stored", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 300 }), FastCheck.integer(), (steps, seed) => {
        const book = newBook({ random: seeded(seed) })
        let now = NOW
        const place = (n: number) => numbered(n * 65_537)
        for (const action of steps) {
          now += 60
          if (action.do === "add") {
            const entry = { address: place(action.n), port: 8334, services: 9n, time: now - action.age }
            book.add([entry], numbered(action.from * 65_536), { now, penalty: 7200 })
          } else if (action.do === "good") book.good(place(action.n), 8334, now)
          else if (action.do === "attempt") book.attempt(place(action.n), 8334, { now, countFailure: true })
          else if (action.do === "connected") book.connected(place(action.n), 8334, now)
          else if (action.do === "resolve") book.resolveCollisions(now)
          else book.sample({ max: action.n, percent: 50, now })
        }
        checkBook(book)
        const restored = AddressBook.fromJSON(book.toJSON(), { random: seeded(seed + 1) })
        checkBook(restored)
        assert.deepStrictEqual(restored.toJSON(), book.toJSON())
      }),
      { numRuns: 40, seed: 20_260_101 }
    )
  })
})

describe("a stored book", () => {
  it("a restored book drops only invalid entries", () => {
    const book = newBook()
    add(book, peerAddress)
    const kept = book.toJSON()
    const [row] = kept.addresses
    assert.isDefined(row)
    const damaged = [
      row,
      row,
      { ...row, address: "somewhere" },
      { ...row, network: "ipv6" as const },
      { ...row, address: "10.0.0.1" },
      { ...row, address: "91.2.3.4", buckets: [] },
      { ...row, address: "92.2.3.4", buckets: [1, 1, 2, 3, 4, 5, 6, 7, 8, 9] }
    ]
    const restored = AddressBook.fromJSON({ ...kept, addresses: damaged }, { random: seeded(3) })
    checkBook(restored)
    assert.deepStrictEqual(restored.all().map(({ address }) => address.bytes[0]), [90, 92])
    const fresh = AddressBook.fromJSON({ key: "00", addresses: [row] }, { random: seeded(3) })
    checkBook(fresh)
    assert.strictEqual(fresh.size, 1)
    assert.notStrictEqual(fresh.toJSON().key, "00")
  })

  it("the book distinguishes addresses of all networks", () => {
    const book = newBook()
    const bytes = Uint8Array.of(0xfc, ...new Uint8Array(15).fill(7))
    const key = new Uint8Array(32).fill(9)
    const list = [
      { address: { network: "cjdns" as const, bytes }, port: 1, services: 2n ** 64n - 1n, time: NOW },
      { address: { network: "torv3" as const, bytes: key }, port: 1, services: 9n, time: NOW },
      { address: { network: "i2p" as const, bytes: key }, port: 1, services: 9n, time: NOW }
    ]
    assert.strictEqual(book.add(list, { seed: "x9.seed." }, { now: NOW }), 3)
    const restored = AddressBook.fromJSON(book.toJSON(), { random: seeded(3) })
    assert.deepStrictEqual(restored.all(), book.all())
  })
})
