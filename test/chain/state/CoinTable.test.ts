import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { coinKey, encodeCoin } from "../../../src/chain/state/coinCodec.ts"
import { CoinTable, DIRTY, FRESH, type Multipliers } from "../../../src/chain/state/CoinTable.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"

/** Outpoints of a few transactions: their keys begin alike, and their indexes need all four bytes. */
const keyOf = (n: number): string => {
  const txid = new Uint8Array(32)
  txid[0] = n & 1
  txid[31] = n & 6
  return outpointKey(outpoint(txid, (n >>> 3) * 0x01010101))
}

const KEYS = 48

const numbered = (n: number): string => outpointKey(outpoint(new Uint8Array(32).fill(n % 251), n))

const coinOf = (value: number, length: number): Coin => ({
  value,
  script: new Uint8Array(length).fill(value),
  height: value,
  coinbase: value % 2 === 0
})

interface Entry {
  readonly coin: Coin | undefined
  readonly state: number
}

type Model = ReadonlyMap<string, Entry>

const shown = (coin: Coin | undefined): unknown =>
  coin === undefined ? undefined : { ...coin, script: toHex(coin.script) }

const holds = (table: CoinTable, model: Model, keys: Iterable<string>): void => {
  for (const key of keys) {
    const place = table.find(key)
    const entry = model.get(key)
    assert.strictEqual(place !== 0, entry !== undefined)
    if (entry === undefined) continue
    assert.deepStrictEqual(shown(table.coin(place)), shown(entry.coin))
    assert.strictEqual(table.state(place), entry.state)
  }
}

/** The changes are those of the model, in the order of their keys. */
const hasChanges = (table: CoinTable, model: Model): void => {
  const dirty = [...model].flatMap(([key, { coin, state }]) =>
    (state & DIRTY) === 0 ? [] : [{ key: coinKey(key), coin }]
  )
    .sort((a, b) => Buffer.compare(a.key, b.key))
  const { coins, spent } = table.changes()
  const made = dirty.flatMap(({ coin, key }) => coin === undefined ? [] : [key, encodeCoin(coin)])
  const gone = dirty.flatMap(({ coin, key }) => coin === undefined ? [key] : [])
  assert.strictEqual(Buffer.compare(Buffer.concat([...coins].flat()), Buffer.concat(made)), 0)
  assert.strictEqual(Buffer.compare(Buffer.concat([...spent]), Buffer.concat(gone)), 0)
}

/** The entries that stay when the changes are stored. */
const settled = (model: Model): Map<string, Entry> =>
  new Map([...model].flatMap(([key, { coin }]) => coin === undefined ? [] : [[key, { coin, state: 0 }] as const]))

type Step =
  | { readonly type: "coin"; readonly n: number; readonly length: number; readonly state: number }
  | { readonly type: "spend" | "remove"; readonly n: number }
  | { readonly type: "settle" | "clear" | "look" }

const number = FastCheck.nat(KEYS - 1)

const steps: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  {
    weight: 12,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("coin" as const),
      n: number,
      length: FastCheck.oneof(FastCheck.nat(12), FastCheck.constantFrom(25, 250, 300)),
      state: FastCheck.constantFrom(0, DIRTY, DIRTY | FRESH)
    })
  },
  {
    weight: 6,
    arbitrary: FastCheck.record({ type: FastCheck.constant("spend" as const), n: number })
  },
  {
    weight: 6,
    arbitrary: FastCheck.record({ type: FastCheck.constant("remove" as const), n: number })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({ type: FastCheck.constantFrom("settle" as const, "clear" as const, "look" as const) })
  }
)

const multipliers: FastCheck.Arbitrary<Multipliers | undefined> = FastCheck.constantFrom(
  undefined,
  // All transactions have the same hashes; then those whose txids begin alike.
  [0, 0] as const,
  [1, 1] as const
)

describe("CoinTable", () => {
  it("CoinTable behaves as a map, with collisions, removed entries, used places and stored changes", () => {
    FastCheck.assert(
      FastCheck.property(
        multipliers,
        FastCheck.array(steps, { minLength: 20, maxLength: 250, size: "max" }),
        (multipliers, steps) => {
          const table = new CoinTable(multipliers)
          let model = new Map<string, Entry>()
          const put = (key: string, coin: Coin | undefined, state: number): void => {
            const place = table.find(key)
            if (place === 0) table.add(key, coin, state)
            else table.set(place, coin, state)
            model.set(key, { coin, state })
          }
          for (const [i, step] of steps.entries()) {
            switch (step.type) {
              case "coin":
                put(keyOf(step.n), coinOf(i, step.length), step.state)
                break
              case "spend":
                put(keyOf(step.n), undefined, DIRTY)
                break
              case "remove": {
                const place = table.find(keyOf(step.n))
                if (place !== 0) table.remove(place)
                model.delete(keyOf(step.n))
                break
              }
              case "settle":
                hasChanges(table, model)
                table.settle()
                model = settled(model)
                break
              case "clear":
                table.clear()
                model = new Map()
                break
              case "look":
                holds(table, model, Array.from({ length: KEYS }, (_, n) => keyOf(n)))
            }
          }
          holds(table, model, Array.from({ length: KEYS }, (_, n) => keyOf(n)))
          hasChanges(table, model)
          for (const key of model.keys()) table.remove(table.find(key))
          assert.strictEqual(table.bytes, 0)
        }
      ),
      { numRuns: 60 }
    )
  })

  it("CoinTable grows over many chunks, uses freed places again and shrinks", () => {
    const COUNT = 12_000
    const table = new CoinTable()
    const model = new Map<string, Entry>()
    for (let n = 0; n < COUNT; n++) {
      const entry = { coin: coinOf(n, n % 300), state: DIRTY | FRESH }
      table.add(numbered(n), entry.coin, entry.state)
      model.set(numbered(n), entry)
    }
    const full = table.bytes
    assert.isAbove(full, COUNT * 200)
    hasChanges(table, model)
    for (let n = 0; n < COUNT; n++) {
      if (n % 10 === 0) continue
      table.remove(table.find(numbered(n)))
      model.delete(numbered(n))
    }
    // Most of the room is free, and counts as far as it is more than one chunk.
    assert.isBelow(table.bytes, full)
    assert.isAbove(table.bytes, full / 3)
    table.settle()
    const kept = settled(model)
    holds(table, kept, Array.from({ length: COUNT }, (_, n) => numbered(n)))
    for (let n = 0; n < COUNT; n++) if (n % 10 !== 0) table.add(numbered(n), coinOf(n, n % 300), DIRTY)
    assert.strictEqual(table.bytes, full)
    table.clear()
    assert.strictEqual(table.bytes, 0)
    for (let n = 0; n < COUNT; n++) table.add(numbered(n), coinOf(n + 1, 30), 0)
    for (let n = 0; n < COUNT; n++) assert.strictEqual(table.coin(table.find(numbered(n)))?.value, n + 1)
  })

  it("CoinTable keeps a coin that is longer than a chunk, and refuses one that no record can have", () => {
    const table = new CoinTable()
    const long = coinOf(1, 3 * 1024 * 1024)
    const model = new Map<string, Entry>()
    for (const [n, coin] of [coinOf(2, 25), long, coinOf(3, 25), long, coinOf(4, 1024 * 1024 - 60)].entries()) {
      table.add(numbered(n), coin, DIRTY)
      model.set(numbered(n), { coin, state: DIRTY })
    }
    holds(table, model, model.keys())
    hasChanges(table, model)
    const [first = ""] = model.keys()
    assert.throws(() => table.set(table.find(first), coinOf(5, 1 << 24), DIRTY), RangeError, /too long/)
    holds(table, model, model.keys())
    // The long chunks are used again by short records, which do not fill more than the room of one chunk.
    table.clear()
    const short = new Map<string, Entry>()
    for (let n = 0; n < 10_000; n++) {
      const entry = { coin: coinOf(n, 300), state: DIRTY }
      table.add(numbered(n), entry.coin, entry.state)
      short.set(numbered(n), entry)
    }
    holds(table, short, short.keys())
  })
})
