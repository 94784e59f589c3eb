import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { ChainDatabase, type Changes } from "../../../src/chain/state/ChainDatabase.ts"
import { CoinStore } from "../../../src/chain/state/CoinStore.ts"
import { BlockOverlay } from "../../../src/consensus/BlockOverlay.ts"
import type { Coin, NameClaim } from "../../../src/consensus/view.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { type NameKey, nameKey } from "../../../src/protocol/keys.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import { withDirectory } from "../../support/temporary.ts"

/** A small world, so that all combinations occur: outpoints of a few transactions, a few names. */
const keyOf = (n: number): string => outpointKey(outpoint(new Uint8Array(32).fill(n >> 1), (n & 1) * 0x01000001))
const nameOf = (n: number): NameKey => nameKey(new Uint8Array(n % 4).fill(0xfe + (n >> 2)))

const KEYS = 12
/** The first ones belong to coinbases. */
const COINBASE_KEYS = 4
const NAMES = 8

interface World {
  readonly coins: ReadonlyMap<string, Coin>
  readonly claims: ReadonlyMap<NameKey, NameClaim>
}

interface Change {
  readonly coins: ReadonlyMap<string, Coin | undefined>
  readonly claims: ReadonlyMap<NameKey, NameClaim | undefined>
}

/** The world after a change. */
const changed = (world: World, change: Change): World => {
  const coins = new Map(world.coins)
  const claims = new Map(world.claims)
  for (const [key, coin] of change.coins) {
    if (coin === undefined) coins.delete(key)
    else coins.set(key, coin)
  }
  for (const [name, claim] of change.claims) {
    if (claim === undefined) claims.delete(name)
    else claims.set(name, claim)
  }
  return { coins, claims }
}

/** The inverse of a change. */
const inverse = (world: World, change: Change): Change => ({
  coins: new Map([...change.coins.keys()].map((key) => [key, world.coins.get(key)])),
  claims: new Map([...change.claims.keys()].map((name) => [name, world.claims.get(name)]))
})

const shown = (coin: Coin | undefined): unknown =>
  coin === undefined ? undefined : { ...coin, script: toHex(coin.script) }

const holds = (store: CoinStore, world: World): void => {
  for (let n = 0; n < KEYS; n++) assert.deepStrictEqual(shown(store.coin(keyOf(n))), shown(world.coins.get(keyOf(n))))
  for (let n = 0; n < NAMES; n++) assert.deepStrictEqual(store.claim(nameOf(n)), world.claims.get(nameOf(n)))
}

const heldBetween = ({ claims }: World, from: number, to: number): ReadonlyArray<string> =>
  [...claims].flatMap(([name, { height }]) => height >= from && height <= to ? [name] : []).sort()

const REST = { pages: [], headerCount: 1, bestHash: new Uint8Array(32).fill(9) }

type Step =
  | {
    readonly type: "block"
    readonly touches: ReadonlyArray<readonly [number, number]>
    readonly names: ReadonlyArray<number>
  }
  | { readonly type: "undo" | "reopen" | "crash" | "look" }
  | { readonly type: "flush"; readonly keep: number }

const steps: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  {
    weight: 6,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("block" as const),
      touches: FastCheck.array(FastCheck.tuple(FastCheck.nat(KEYS - 1), FastCheck.nat(7)), { maxLength: 8 }),
      names: FastCheck.array(FastCheck.nat(NAMES - 1), { maxLength: 3 })
    })
  },
  { weight: 3, arbitrary: FastCheck.constant({ type: "undo" as const }) },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("flush" as const),
      keep: FastCheck.constantFrom(0, 800, 1e9)
    })
  },
  { weight: 1, arbitrary: FastCheck.constant({ type: "reopen" as const }) },
  { weight: 1, arbitrary: FastCheck.constant({ type: "crash" as const }) },
  { weight: 1, arbitrary: FastCheck.constant({ type: "look" as const }) }
)

/** A block: existing coins are spent, missing ones created; some are created and spent at once; names are claimed. */
const connect = (store: CoinStore, world: World, step: Extract<Step, { type: "block" }>, height: number): Change => {
  const overlay = new BlockOverlay(store)
  for (const [n, how] of step.touches) {
    const key = keyOf(n)
    const coin = overlay.coin(key)
    // Only a coinbase may repeat an outpoint, and only that of another coinbase (reference/protocol.md 4.8).
    const coinbase = n < COINBASE_KEYS
    const repeats = coinbase && how >= 6
    // A block cannot create a coin again that it spends: the same transaction would need the same inputs.
    if (coin === undefined && !coinbase && overlay.removed.has(key)) continue
    if (coin !== undefined && !repeats) overlay.spend(key, coin)
    else overlay.add(key, { value: height, script: new Uint8Array(how).fill(height), height, coinbase })
  }
  for (const n of step.names) overlay.setClaim(nameOf(n), { height, outpoint: keyOf(n) })
  const change = { coins: overlay.coins, claims: overlay.claims }
  // The coins that the overlay removed must have existed.
  const back = inverse(world, change)
  for (const [key, coin] of back.coins) assert.deepStrictEqual(shown(overlay.removed.get(key)), shown(coin))
  assert.deepStrictEqual([...overlay.claimsBefore].sort(), [...back.claims].sort())
  return change
}

describe("CoinStore over a database", () => {
  it("CoinStore behaves as a map, whatever is flushed, dropped, reopened, undone or lost in a crash", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(steps, { minLength: 5, maxLength: 40 }),
        (steps) =>
          withDirectory((directory) => {
            let database = new ChainDatabase(directory, 4096)
            let store = new CoinStore(database)
            let world: World = { coins: new Map(), claims: new Map() }
            let undo: ReadonlyArray<Change> = []
            let stored = { world, undo }
            let height = 0
            const reopen = (): void => {
              database.close()
              database = new ChainDatabase(directory, 4096)
              store = new CoinStore(database)
            }
            const flush = (keep: number): void => {
              store.flush(REST, keep)
              assert.isFalse(store.hasChanges)
              stored = { world, undo }
            }
            for (const step of steps) {
              switch (step.type) {
                case "block": {
                  const change = connect(store, world, step, ++height)
                  store.apply(change.coins, change.claims)
                  undo = [...undo, inverse(world, change)]
                  world = changed(world, change)
                  break
                }
                case "undo": {
                  const change = undo.at(-1)
                  if (change === undefined) break
                  undo = undo.slice(0, -1)
                  store.apply(change.coins, change.claims)
                  world = changed(world, change)
                  break
                }
                case "flush":
                  flush(step.keep)
                  break
                case "reopen":
                  flush(0)
                  reopen()
                  break
                case "crash":
                  reopen()
                  world = stored.world
                  undo = stored.undo
                  break
                case "look":
                  holds(store, world)
              }
              const from = Math.max(0, height - 3)
              assert.deepStrictEqual(
                store.claimsBetween(from, height).map(([name]) => name).sort(),
                heldBetween(world, from, height)
              )
              assert.isAtLeast(store.memory, 0)
            }
            holds(store, world)
            flush(0)
            reopen()
            holds(store, world)
            const coins = database.coinsAfter(undefined, 1000)
            assert.strictEqual(coins.length, world.coins.size)
            assert.deepStrictEqual(
              new Map(coins.map(([key, coin]) => [key, shown(coin)])),
              new Map(
                [...world.coins].map(([key, coin]) => [key, shown(coin)])
              )
            )
            assert.deepStrictEqual(new Map(database.claimsAfter(undefined, 1000)), new Map(world.claims))
            database.close()
          })
      ),
      { numRuns: 80 }
    )
  })

  it("CoinStore keeps no view of the coins that it gets: it would keep their whole block in memory", () => {
    withDirectory((directory) => {
      const database = new ChainDatabase(directory, 4096)
      const store = new CoinStore(database)
      const block = new Uint8Array(1_000).fill(7)
      const coin: Coin = { value: 1, script: block.subarray(100, 130), height: 1, coinbase: false }
      store.apply(new Map([[keyOf(1), coin]]), new Map())
      block.fill(0)
      const read = store.coin(keyOf(1))?.script ?? assert.fail("no coin")
      assert.strictEqual(toHex(read), "07".repeat(30))
      assert.strictEqual(read.buffer.byteLength, 30)
      database.close()
    })
  })

  it("CoinStore counts its memory, and removed coins leave nothing behind", () => {
    withDirectory((directory) => {
      const database = new ChainDatabase(directory, 4096)
      const store = new CoinStore(database)
      const coin: Coin = { value: 1, script: new Uint8Array(100), height: 1, coinbase: false }
      store.apply(new Map([[keyOf(1), coin]]), new Map())
      assert.isTrue(store.hasChanges)
      const one = store.memory
      assert.isAbove(one, 100)
      store.apply(new Map([[keyOf(2), coin]]), new Map([[nameOf(1), { height: 1, outpoint: keyOf(2) }]]))
      assert.isAbove(store.memory, 2 * one)
      // A claim counts with its name, once.
      const [long, claim] = [nameKey(new Uint8Array(255)), { height: 1, outpoint: keyOf(2) }]
      const beside = new CoinStore(database)
      for (let n = 0; n < 2; n++) beside.apply(new Map(), new Map([[long, claim]]))
      assert.strictEqual(beside.memory, 128 + 255)
      // A coin that was created and spent before it was stored leaves no trace.
      const two = store.memory
      store.apply(new Map([[keyOf(3), coin]]), new Map())
      store.apply(new Map([[keyOf(3), undefined]]), new Map())
      assert.strictEqual(store.memory, two)
      store.flush(REST, 1e9)
      assert.strictEqual(store.memory, two)
      store.apply(new Map([[keyOf(1), undefined]]), new Map())
      store.flush(REST, 1e9)
      assert.strictEqual(store.memory, two - one)
      store.apply(new Map([[keyOf(4), coin]]), new Map())
      store.flush(REST, 0)
      assert.strictEqual(store.memory, 0)
      database.close()
    })
  })

  it("CoinStore makes no second copy of the changed coins for a flush", () => {
    const [count, size] = [500, 10_000]
    const held = { before: 0, grown: Infinity }
    class Watched extends ChainDatabase {
      override commit(changes: Changes): void {
        const coins = [...changes.coins]
        held.grown = process.memoryUsage().arrayBuffers - held.before
        super.commit({ ...changes, coins })
      }
    }
    withDirectory((directory) => {
      const database = new Watched(directory, 4096)
      const store = new CoinStore(database)
      const coin: Coin = { value: 1, script: new Uint8Array(size), height: 1, coinbase: false }
      const keys = Array.from({ length: count }, (_, n) => outpointKey(outpoint(new Uint8Array(32), n)))
      store.apply(new Map(keys.map((key) => [key, coin])), new Map())
      held.before = process.memoryUsage().arrayBuffers
      store.flush(REST, 0)
      assert.isBelow(held.grown, (count * size) / 2)
      assert.lengthOf(database.coinsAfter(undefined, count + 1), count)
      database.close()
    })
  })

  it("CoinStore flushes a change in the same time, however much is in memory", () => {
    const coin: Coin = { value: 1, script: new Uint8Array(25), height: 1, coinbase: false }
    const numbered = (n: number): string => outpointKey(outpoint(new Uint8Array(32), n))
    /** The shortest of several flushes of one coin each, in milliseconds. */
    const flushTime = (kept: number): number =>
      withDirectory((directory) => {
        const database = new ChainDatabase(directory, 4096)
        const store = new CoinStore(database)
        store.apply(new Map(Array.from({ length: kept }, (_, n) => [numbered(n), coin])), new Map())
        store.flush(REST, Infinity)
        const times = Array.from({ length: 10 }, (_, n) => {
          store.apply(new Map([[numbered(kept + n), coin]]), new Map())
          const since = performance.now()
          store.flush(REST, Infinity)
          return performance.now() - since
        })
        database.close()
        return Math.min(...times)
      })
    const few = flushTime(10)
    const many = flushTime(100_000)
    assert.isBelow(many, 5 * few + 1)
  })
})
