import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BloomFilter } from "../../../src/network/relay/BloomFilter.ts"
import { fromHex } from "../../../src/protocol/bytes.ts"
import { pushData } from "../../../src/protocol/script.ts"
import { makeTransaction, outpoint } from "../../../src/protocol/transaction.ts"

const bytes = (hex: string): Uint8Array => fromHex(hex) ?? assert.fail(`${hex} is not hexadecimal`)

const DATA = [
  "99108ad8ed9bb6274d3980bab5a85c048f0950c8",
  "b5a2c786d9ef4658287ced5914b37a1b4aa32eee",
  "b9300670b4c5366e95b2699e8b18bc75e5f729c5"
].map(bytes)

const filterOf = (changes: { readonly size?: number; readonly flags?: number; readonly tweak?: number } = {}) =>
  new BloomFilter({
    filter: new Uint8Array(changes.size ?? 64),
    hashFunctions: 11,
    tweak: changes.tweak ?? 0,
    flags: changes.flags ?? 0
  })

const KEY = new Uint8Array(33).fill(2)

const HASH = new Uint8Array(20).fill(7)

/** A transaction that spends a coin, and pays to a hash and to a key. */
const payment = (spent = outpoint(new Uint8Array(32).fill(9), 3)) =>
  makeTransaction({
    version: 2,
    inputs: [{ prevout: spent, scriptSig: pushData(Uint8Array.of(1, 2, 3, 4)), sequence: 0, witness: [] }],
    outputs: [
      { value: 1, script: Uint8Array.of(0xa9, ...pushData(HASH), 0x87) },
      { value: 2, script: Uint8Array.of(...pushData(KEY), 0xac) }
    ],
    lockTime: 0
  })

describe("BloomFilter", () => {
  // Upstream `test/bloom_tests.cpp`, `bloom_create_insert_serialize` and the same with a tweak.
  it.each([[0, "614e9b"], [2_147_483_649, "ce4299"]])("has the bits of upstream's with tweak %i", (tweak, bits) => {
    const all = new BloomFilter({ filter: bytes(bits), hashFunctions: 5, tweak, flags: 1 })
    for (const data of DATA) assert.isTrue(all.has(data))
    assert.isFalse(all.has(bytes("19108ad8ed9bb6274d3980bab5a85c048f0950c8")))
    const made = new BloomFilter({ filter: new Uint8Array(3), hashFunctions: 5, tweak, flags: 1 })
    for (const data of DATA) made.add(data)
    for (let i = 0; i < 256; i++) {
      const probe = Uint8Array.of(i)
      assert.strictEqual(made.has(probe), all.has(probe))
    }
  })

  it("has what was added, and does not change the message that it came from", () => {
    const some = FastCheck.array(FastCheck.uint8Array({ maxLength: 40 }), { maxLength: 20 })
    FastCheck.assert(FastCheck.property(some, FastCheck.nat(), (entries, tweak) => {
      const filter = new Uint8Array(36)
      const bloom = new BloomFilter({ filter, hashFunctions: 5, tweak, flags: 0 })
      for (const entry of entries) bloom.add(entry)
      assert.isTrue(entries.every((entry) => bloom.has(entry)))
      assert.isTrue(filter.every((byte) => byte === 0))
    }))
  })

  it("matches a transaction by txid, spent coin, or data in a script", () => {
    const transaction = payment()
    const [input = assert.fail()] = transaction.inputs
    const parts = { txid: transaction.txid, coin: input.prevout, hash: HASH, key: KEY, data: Uint8Array.of(1, 2, 3, 4) }
    for (const [name, part] of Object.entries(parts)) {
      const bloom = filterOf()
      assert.isFalse(bloom.matches(transaction), name)
      bloom.add(part)
      assert.isTrue(bloom.matches(transaction), name)
    }
  })

  it("without bits everything matches, and adding does nothing", () => {
    const bloom = filterOf({ size: 0 })
    bloom.add(HASH)
    assert.isTrue(bloom.matches(payment()))
  })

  it.each([
    [0, [false, false]],
    [1, [true, true]],
    [2, [false, true]]
  ])("with flags %i adds matching outputs to itself", (flags, expected) => {
    const first = payment()
    const spends = [0, 1].map((index) => {
      const bloom = filterOf({ flags })
      bloom.add(index === 0 ? HASH : KEY)
      bloom.matches(first)
      const other = makeTransaction({
        version: 2,
        inputs: [{ prevout: outpoint(first.txid, index), scriptSig: new Uint8Array(0), sequence: 0, witness: [] }],
        outputs: [{ value: 1, script: Uint8Array.of(0x51) }],
        lockTime: 0
      })
      return bloom.matches(other)
    })
    assert.deepStrictEqual(spends, expected)
  })
})
