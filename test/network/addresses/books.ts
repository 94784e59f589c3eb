import { assert } from "@effect/vitest"
import { AddressBook, type AddressBookOptions } from "../../../src/network/addresses/AddressBook.ts"
import { endpointKey } from "../../../src/network/wire/netAddress.ts"
import { address, known, NOW, seeded } from "./support.ts"

export const HOUR = 3600
export const DAY = 24 * HOUR

export const newBook = (options: Partial<AddressBookOptions> = {}): AddressBook =>
  new AddressBook({ random: seeded(7), key: new Uint8Array(16).fill(5), ...options })

export const source = address("80.1.2.3")
export const peerAddress = known("90.1.2.3:8334")

export const add = (book: AddressBook, ...list: ReadonlyArray<ReturnType<typeof known>>): number =>
  book.add(list, source, { now: NOW })

/** Asserts that every address has one tried slot, or 1 to 8 new buckets, and that the counts match the slots. */
export const checkBook = (book: AddressBook): void => {
  const seen = new Map<string, { fresh: Set<number>; tried: number }>()
  const slots = new Set<string>()
  for (const { address: { address, port, tried }, bucket, position, table } of book.places()) {
    const slot = `${table} ${bucket} ${position}`
    assert.isFalse(slots.has(slot))
    slots.add(slot)
    assert.isBelow(bucket, table === "new" ? 1024 : 256)
    assert.isBelow(position, 64)
    assert.strictEqual(tried, table === "tried")
    const key = endpointKey(address, port)
    const places = seen.get(key) ?? { fresh: new Set<number>(), tried: 0 }
    seen.set(key, places)
    if (table === "tried") places.tried++
    else {
      assert.isFalse(places.fresh.has(bucket))
      places.fresh.add(bucket)
    }
  }
  const all = book.all()
  assert.strictEqual(seen.size, all.length)
  assert.strictEqual(book.size, all.length)
  const counts = new Map<string, { fresh: number; tried: number }>()
  for (const entry of all) {
    const places = seen.get(endpointKey(entry.address, entry.port))
    assert.isDefined(places)
    assert.deepStrictEqual(book.find(entry.address, entry.port), entry)
    const count = counts.get(entry.address.network) ?? { fresh: 0, tried: 0 }
    counts.set(entry.address.network, count)
    if (entry.tried) {
      count.tried++
      assert.strictEqual(places.tried, 1)
      assert.strictEqual(places.fresh.size, 0)
      assert.isAbove(entry.lastSuccess, 0)
    } else {
      count.fresh++
      assert.strictEqual(places.tried, 0)
      assert.isAtLeast(places.fresh.size, 1)
      assert.isAtMost(places.fresh.size, 8)
    }
  }
  assert.deepStrictEqual(new Map(book.counts()), new Map(counts))
}
