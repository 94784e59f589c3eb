import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { join } from "node:path"
import { mainnetParams, regtestParams } from "../../src/consensus/params.ts"
import type { NameEntry } from "../../src/names/NameDb.ts"
import { type Bytes, EMPTY } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { applyAll, blockAt, chainTo, effectOf, hashAt, text, withDb, withNewDb } from "./blocks.ts"

const name = text("d/example")
const rand = new Uint8Array(20).fill(7)

/** The names of a stream as text. */
const namesOf = (stream: Stream.Stream<NameEntry, unknown>) =>
  Effect.map(
    Stream.runCollect(stream),
    (found) => Chunk.toReadonlyArray(found).map((record) => new TextDecoder().decode(record.name))
  )

describe("resolve", () => {
  it.effect("resolve returns every field of the last operation, in plain bytes", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const operation = { name, value: text("{}"), owner: text("owner"), rand, amount: 12_345 }
        yield* applyAll(db, [[blockAt(0), blockAt(1, [{ name: text("d/other") }, operation])]])
        const record = yield* db.resolve(name)
        assert.deepStrictEqual(record, {
          name,
          value: text("{}"),
          height: 1,
          txid: new Uint8Array(effectOf(1, operation, 1).transaction.txid),
          vout: 1,
          address: text("owner"),
          op: "name_firstupdate",
          amount: 12_345
        })
        for (const bytes of [record.name, record.value, record.txid, record.address]) {
          assert.strictEqual(Object.getPrototypeOf(bytes), Uint8Array.prototype)
        }
      })
    ))

  it.effect("resolve fails for an unregistered name, and reports the name", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(db.resolve(name))
        assert.strictEqual(error._tag, "NameNotFound")
        assert.strictEqual(error.message, "name not found: 'd/example'")
        const binary = yield* Effect.flip(db.resolve(Uint8Array.of(0xff, 0)))
        assert.strictEqual(binary.message, "name not found: 0xff00")
      })
    ))

  it.effect("resolve finds names and values of any length and content", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const odd: ReadonlyArray<Bytes> = [EMPTY, Uint8Array.of(0), Uint8Array.of(0, 0), new Uint8Array(70_000).fill(1)]
        const operations = odd.map((name, i) => ({ name, value: i === 0 ? EMPTY : new Uint8Array(100_000).fill(i) }))
        yield* applyAll(db, [[blockAt(0, operations)]])
        for (const [i, name] of odd.entries()) {
          assert.deepStrictEqual((yield* db.resolve(name)).value, operations[i]?.value)
        }
      })
    ))

  it.effect("resolve reads the name each time the effect runs, not when it is created", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const resolve = Effect.map(db.resolve(name), ({ value }) => new TextDecoder().decode(value))
        yield* applyAll(db, [[blockAt(0, [{ name, value: text("old") }])]])
        assert.strictEqual(yield* resolve, "old")
        assert.strictEqual(yield* resolve, "old")
        yield* applyAll(db, [[blockAt(1, [{ name, value: text("new") }])]])
        assert.strictEqual(yield* resolve, "new")
        yield* db.follower.rewind({ height: 0, hash: hashAt(0) })
        assert.strictEqual(yield* resolve, "old")
      })
    ))

  it.scoped("resolve returns the same records without a cache", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withDb(join(directory, "names.db"), (db) =>
        Effect.gen(function*() {
          yield* applyAll(db, [[blockAt(0, [{ name, value: text("1") }])], [blockAt(1, [{ name, value: text("2") }])]])
          assert.deepStrictEqual((yield* db.resolve(name)).value, text("2"))
          assert.deepStrictEqual((yield* db.resolve(name)).value, text("2"))
        }), { cacheEntries: 0 })
    }))
})

describe("resolveActive", () => {
  it.effect("resolveActive fails from exactly one full depth above the update on", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [chainTo(3, { 3: [{ name }] })])
        const at = (tipHeight: number) => db.resolveActive(name, { tipHeight, params: regtestParams })
        assert.strictEqual((yield* at(32)).height, 3)
        const error = yield* Effect.flip(at(33))
        assert.strictEqual(error._tag, "NameExpired")
        assert.strictEqual(error.message, "name expired: 'd/example', last updated at height 3")
        assert.strictEqual((yield* db.resolve(name)).height, 3)
      })
    ))

  it.effect("resolveActive fails with NameNotFound for a name that never existed", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(db.resolveActive(name, { tipHeight: 0, params: regtestParams }))
        assert.strictEqual(error._tag, "NameNotFound")
      })
    ))
})

describe("resolveByHash", () => {
  it.effect("resolveByHash finds a name by its double SHA-256 in digest order", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [[blockAt(0, [{ name: text("d/other") }, { name }])]])
        const record = yield* db.resolveByHash(hash256(name))
        assert.deepStrictEqual(record, yield* db.resolve(name))
      })
    ))

  it.effect("resolveByHash compares the whole hash, and reports a missing hash in its displayed form", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [[blockAt(0, [{ name }])]])
        const near = hash256(name)
        near[31] = (near[31] ?? 0) ^ 1
        const error = yield* Effect.flip(db.resolveByHash(near))
        assert.strictEqual(error._tag, "NameHashNotFound")
        assert.include(error.message, Buffer.from(near).reverse().toString("hex"))
        assert.strictEqual((yield* Effect.flip(db.resolveByHash(EMPTY)))._tag, "NameHashNotFound")
      })
    ))
})

describe("history", () => {
  it.effect("history returns every operation in chain order with salts, also several per block", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const other = text("d/other")
        yield* applyAll(db, [[
          blockAt(0, [{ name, rand, value: text("1") }, { name: other }, { name, value: text("2") }]),
          blockAt(1, [{ name: other }]),
          blockAt(2, [{ name, value: text("3") }])
        ], [blockAt(3, [{ name, rand: EMPTY, value: text("4") }])]])
        const entries = yield* db.history(name)
        assert.deepStrictEqual(entries.map(({ height, value }) => [height, new TextDecoder().decode(value)]), [
          [0, "1"],
          [0, "2"],
          [2, "3"],
          [3, "4"]
        ])
        assert.deepStrictEqual(entries.map(({ op, rand }) => [op, rand]), [
          ["name_firstupdate", rand],
          ["name_update", undefined],
          ["name_update", undefined],
          ["name_firstupdate", EMPTY]
        ])
      })
    ))

  it.effect("historyPage returns a part of the history, newest first, and the total", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const rest = Array.from({ length: 4 }, () => ({ name }))
        yield* applyAll(db, [[blockAt(0, [{ name, rand }, { name: text("d/other") }]), blockAt(1, rest)]])
        const all = (yield* db.history(name)).toReversed()
        const part = (skip: number, count: number) => db.historyPage(name, { skip, count })
        assert.deepStrictEqual(yield* part(0, 5), { entries: all, total: 5 })
        assert.deepStrictEqual(yield* part(0, 2), { entries: all.slice(0, 2), total: 5 })
        assert.deepStrictEqual(yield* part(3, 3), { entries: all.slice(3), total: 5 })
        assert.deepStrictEqual(yield* part(5, 1), { entries: [], total: 5 })
        assert.strictEqual(
          (yield* Effect.flip(db.historyPage(text("d/unknown"), { skip: 0, count: 1 })))._tag,
          "NameNotFound"
        )
      })
    ))

  it.effect("a history of several pages is complete", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        for (const [height, count] of [999, 1, 1, 1_499].entries()) {
          yield* applyAll(db, [[blockAt(height, Array.from({ length: count }, () => ({ name })))]])
          const entries = yield* db.history(name)
          assert.strictEqual(entries.length, [999, 1_000, 1_001, 2_500][height])
          assert.strictEqual(new Set(entries.map(({ value }) => new TextDecoder().decode(value))).size, entries.length)
        }
      })
    ))

  it.effect("history fails for an unregistered name", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(db.history(name)))._tag, "NameNotFound")
      })
    ))
})

describe("byAddress", () => {
  it.effect("byAddress lists the names that a script owns now, in the order of their bytes", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const [alice, bob] = [text("script of alice"), text("script of bob")]
        yield* applyAll(db, [[
          blockAt(0, ["d/b", "d/a", "id/a", "d/c"].map((name) => ({ name: text(name), owner: alice }))),
          blockAt(1, [{ name: text("d/c"), owner: bob }])
        ]])
        assert.deepStrictEqual(yield* namesOf(db.byAddress(alice)), ["d/a", "d/b", "id/a"])
        assert.deepStrictEqual(yield* namesOf(db.byAddress(bob)), ["d/c"])
        assert.deepStrictEqual(yield* namesOf(db.byAddress(alice, { start: text("d/aa"), count: 1 })), ["d/b"])
        assert.deepStrictEqual(yield* namesOf(db.byAddress(EMPTY)), [])
      })
    ))

  it.effect("byAddress distinguishes scripts that differ in any byte", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const scripts = ["", "1", "123", "1234567890", "12345678901", "x2345678901", "12345678902", "12345678901 "]
        yield* applyAll(db, [[blockAt(0, scripts.map((owner) => ({ name: text(`d/${owner}`), owner: text(owner) })))]])
        for (const owner of scripts) {
          assert.deepStrictEqual(yield* namesOf(db.byAddress(text(owner))), [`d/${owner}`])
        }
      })
    ))
})

describe("expiringBetween", () => {
  it.effect("expiringBetween lists names that expire in a range, both ends included, in the order of expiry", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const at = Object.fromEntries([5, 6, 7, 8].map((height) => [height, [{ name: text(`d/${height}`) }]]))
        yield* applyAll(db, [chainTo(9, { ...at, 9: [{ name: text("d/5") }] })])
        const between = (from: number, to: number) => namesOf(db.expiringBetween({ from, to }, regtestParams))
        assert.deepStrictEqual(yield* between(36, 37), ["d/6", "d/7"])
        assert.deepStrictEqual(yield* between(37, 37), ["d/7"])
        assert.deepStrictEqual(yield* between(30, 35), [])
        assert.deepStrictEqual(yield* between(0, 1_000), ["d/6", "d/7", "d/8", "d/5"])
        assert.deepStrictEqual(yield* between(38, 37), [])
      })
    ))

  it.effect("expiringBetween uses the growing depth of the main network (reference/protocol.md 4.7)", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const heights = [11_999, 12_000, 12_001]
        const at = Object.fromEntries(heights.map((height) => [height, [{ name: text(`${height}`) }]]))
        yield* applyAll(db, [chainTo(12_001, at)])
        const between = (from: number, to: number) => namesOf(db.expiringBetween({ from, to }, mainnetParams))
        assert.deepStrictEqual(yield* between(23_999, 23_999), ["11999"])
        assert.deepStrictEqual(yield* between(24_000, 24_000), ["12000"])
        assert.deepStrictEqual(yield* between(24_001, 48_000), [], "nothing expires while the depth grows")
        assert.deepStrictEqual(yield* between(48_001, 48_001), ["12001"])
        assert.deepStrictEqual(yield* between(23_999, 48_001), ["11999", "12000", "12001"])
      })
    ))
})

describe("stats and cursor", () => {
  it.effect("stats count names, active names and operations", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const statsAt = (tipHeight: number) =>
          Effect.map(db.stats({ tipHeight, params: regtestParams }), ({ active, names, operations }) => ({
            active,
            names,
            operations
          }))
        assert.deepStrictEqual(yield* statsAt(0), { names: 0, operations: 0, active: 0 })
        yield* applyAll(db, [chainTo(2, { 1: [{ name }, { name }], 2: [{ name: text("d/b") }] })])
        assert.deepStrictEqual(yield* statsAt(30), { names: 2, operations: 3, active: 2 })
        assert.deepStrictEqual(yield* statsAt(31), { names: 2, operations: 3, active: 1 })
        assert.deepStrictEqual(yield* statsAt(32), { names: 2, operations: 3, active: 0 })
        const { fileSize } = yield* db.stats({ tipHeight: 0, params: regtestParams })
        assert.isAbove(fileSize, 4096)
        assert.strictEqual(fileSize % 4096, 0)
      })
    ))

  it.effect("the cursor is at the latest block", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        assert.isUndefined(yield* db.cursor)
        yield* applyAll(db, [[blockAt(0), blockAt(1)]])
        assert.deepStrictEqual(yield* db.cursor, { height: 1, hash: new Uint8Array(hashAt(1)) })
        yield* db.follower.rewind({ height: 0, hash: hashAt(0) })
        assert.deepStrictEqual(yield* db.follower.cursor, { height: 0, hash: new Uint8Array(hashAt(0)) })
      })
    ))

  it.effect("atOnce returns the last committed record, from memory or from the file", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const found = () => {
          const known = db.atOnce(nameKey(name))
          return known && [known.record && Buffer.from(known.record.value).toString(), known.tipHeight]
        }
        assert.isUndefined(found(), "no block is known")
        yield* applyAll(db, [[blockAt(0), blockAt(1)]])
        assert.deepStrictEqual(found(), [undefined, 1])
        yield* applyAll(db, [[blockAt(2, [{ name, value: text("1") }])]])
        assert.deepStrictEqual([found(), found()], [["1", 2], ["1", 2]])
        yield* applyAll(db, [[blockAt(3)]])
        assert.deepStrictEqual(found(), ["1", 3])
        yield* applyAll(db, [[blockAt(4, [{ name, value: text("2") }])]])
        assert.deepStrictEqual([found(), found()], [["2", 4], ["2", 4]])
        yield* db.follower.rewind({ height: 3, hash: hashAt(3) })
        assert.deepStrictEqual(found(), ["1", 3])
      })
    ))
})

describe("commits", () => {
  it.effect("commits tells of each commit, and wakes the readers that wait for the next one", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const commits = yield* db.commits
        const before = commits.count
        const waiting = yield* Effect.fork(commits.next())
        yield* applyAll(db, [[blockAt(0, [{ name }])]])
        yield* Fiber.join(waiting)
        assert.isAbove(commits.count, before)
        const again = yield* Effect.fork(commits.next())
        yield* db.follower.rewind({ height: 0, hash: hashAt(0) })
        yield* Fiber.join(again)
      })
    ))
})
