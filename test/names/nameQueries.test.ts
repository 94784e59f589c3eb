import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck, Stream } from "effect"
import { regtestParams } from "../../src/consensus/params.ts"
import type { NameDb, NameEntry } from "../../src/names/NameDb.ts"
import type { ScanOptions } from "../../src/names/nameScan.ts"
import { binaryString, type Bytes, compare, fromBinaryString } from "../../src/protocol/bytes.ts"
import { bytesOf } from "../support/bytes.ts"
import { applyAll, blockAt, blocksWith, text, withNewDb } from "./blocks.ts"

type Db = typeof NameDb.Service

const collected = <E>(stream: Stream.Stream<NameEntry, E>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

const namesOf = <E>(stream: Stream.Stream<NameEntry, E>) =>
  Effect.map(collected(stream), (records) => records.map(({ name }) => binaryString(name)))

const scanned = (db: Db, options: ScanOptions) => namesOf(db.scan(options))

/** One block per name, in this order. */
const withNames = (names: ReadonlyArray<string>, use: (db: Db) => Effect.Effect<void, unknown>) =>
  withNewDb((db) =>
    Effect.zipRight(applyAll(db, [blocksWith(names.map((name) => [{ name: fromBinaryString(name) }]))]), use(db))
  )

describe("scan", () => {
  const names = ["d/b", "d/aa", "id/a", "d/a", "d/c", "x", "", "d/a\xff"]

  it.effect("scan orders names by length, then by bytes (reference/rpc.md 5.4)", () =>
    withNames(names, (db) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* scanned(db, {}), ["", "x", "d/a", "d/b", "d/c", "d/aa", "d/a\xff", "id/a"])
      })))

  it.effect("scan starts at a name, or at the next one if the name does not exist", () =>
    withNames(names, (db) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* scanned(db, { start: text("d/b"), count: 3 }), ["d/b", "d/c", "d/aa"])
        assert.deepStrictEqual(yield* scanned(db, { start: text("d/bb"), count: 2 }), ["id/a"])
        assert.deepStrictEqual(yield* scanned(db, { start: text("d/d"), count: 1 }), ["d/aa"])
        assert.deepStrictEqual(yield* scanned(db, { start: text("zzzzz") }), [])
        assert.deepStrictEqual(yield* scanned(db, { start: text("d/b"), prefix: text("d/a") }), ["d/aa", "d/a\xff"])
        assert.deepStrictEqual(yield* scanned(db, { start: text("d/a"), prefix: text("d/a"), count: 1 }), ["d/a"])
      })))

  it.effect("scan returns at most count names, and none for count 0", () =>
    withNames(names, (db) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* scanned(db, { count: 2, prefix: text("d/a") }), ["d/a", "d/aa"])
        assert.deepStrictEqual(yield* scanned(db, { count: 0 }), [])
        assert.deepStrictEqual(yield* scanned(db, { count: -1 }), [])
      })))

  it.effect("scan filters by the height of the last update, both ends included", () =>
    withNames(names, (db) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* scanned(db, { minHeight: 2, maxHeight: 4 }), ["d/a", "d/c", "id/a"])
        assert.deepStrictEqual(yield* scanned(db, { minHeight: 6 }), ["", "d/a\xff"])
        assert.deepStrictEqual(yield* scanned(db, { maxHeight: -1 }), [])
        const matches = () => true
        assert.deepStrictEqual(yield* scanned(db, { maxHeight: 1, count: 1, matches }), ["d/b"])
        assert.deepStrictEqual(yield* scanned(db, { maxHeight: 2, count: 3, matches }), ["d/b", "d/aa", "id/a"])
      })))

  it.effect("scan uses the current record, not an earlier one", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const name = text("d/a")
        yield* applyAll(db, [[blockAt(0, [{ name, value: text("1") }])], [blockAt(1, [{ name, value: text("2") }])]])
        const records = yield* collected(db.scan({}))
        assert.deepStrictEqual(records, [yield* db.resolve(name)])
        assert.deepStrictEqual(records[0]?.value, text("2"))
      })
    ))

  /** Few different bytes give names with common prefixes. Ranges end at ff and 00. */
  const someName = FastCheck.array(FastCheck.constantFrom(0x00, 0x61, 0x62, 0xff), { maxLength: 4 }).map((list) =>
    Uint8Array.from(list)
  )
  const optional = <A>(arbitrary: FastCheck.Arbitrary<A>) => FastCheck.option(arbitrary, { nil: undefined })

  it.effect.prop("scan returns the same names as a filter over all names", {
    names: FastCheck.uniqueArray(someName, { maxLength: 40, selector: binaryString }),
    scans: FastCheck.array(
      FastCheck.record({
        start: optional(someName),
        prefix: optional(someName),
        count: optional(FastCheck.integer({ min: 0, max: 12 })),
        minHeight: optional(FastCheck.integer({ min: -2, max: 40 })),
        maxHeight: optional(FastCheck.integer({ min: -2, max: 40 })),
        last: optional(FastCheck.constantFrom(0x61, 0xff))
      }),
      { minLength: 1, maxLength: 12 }
    )
  }, ({ names, scans }) =>
    withNames(names.map(binaryString), (db) =>
      Effect.gen(function*() {
        const order = names.map((name, height) => ({ name, height })).sort((a, b) =>
          a.name.length - b.name.length || compare(a.name, b.name)
        )
        for (const { last, ...options } of scans) {
          const { count, maxHeight = 99, minHeight = 0, prefix, start } = options
          const matches = last === undefined ? undefined : (name: Bytes) => name[name.length - 1] === last
          const expected = order.filter(({ height, name }) =>
            (start === undefined || name.length > start.length ||
              (name.length === start.length && compare(name, start) >= 0)) &&
            binaryString(name).startsWith(binaryString(prefix ?? new Uint8Array(0))) &&
            height >= minHeight && height <= maxHeight && (matches === undefined || matches(name))
          ).slice(0, count)
          assert.deepStrictEqual(
            yield* scanned(db, { ...options, matches }),
            expected.map(({ name }) => binaryString(name))
          )
        }
      })), { fastCheck: { numRuns: 30 } })
})

describe("lists in pages", () => {
  /** 2,500 names: one full page of one length, one name more, and less than one page. */
  const many = Array.from({ length: 2_500 }, (_, i) => {
    const longer = i < 1_000 ? 0 : i < 2_001 ? 1 : 2
    return `d/${"x".repeat(longer)}${String(i * 7 % 2_500).padStart(4, "0")}`
  })
  const byBytes = [...many].sort()
  const byLength = [...byBytes].sort((a, b) => a.length - b.length)

  it.effect("lists of several pages are complete, without repeated names", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const owner = text("owner of many")
        yield* applyAll(db, [[
          blockAt(0, many.slice(0, 1_000).map((name) => ({ name: text(name), owner }))),
          blockAt(1, many.slice(1_000).map((name) => ({ name: text(name), owner })))
        ]])
        assert.deepStrictEqual(yield* scanned(db, {}), byLength)
        assert.deepStrictEqual(yield* scanned(db, { count: 1_001 }), byLength.slice(0, 1_001))
        assert.deepStrictEqual(yield* scanned(db, { prefix: text("d/x") }), byLength.filter((n) => n.startsWith("d/x")))
        assert.deepStrictEqual(
          yield* scanned(db, { matches: (name) => name[name.length - 1] === 0x39, count: 200 }),
          byLength.filter((name) => name.endsWith("9")).slice(0, 200)
        )
        assert.deepStrictEqual(
          yield* scanned(db, { minHeight: 1, count: 1_200 }),
          byLength.filter((name) => many.indexOf(name) >= 1_000).slice(0, 1_200)
        )
        assert.deepStrictEqual(
          yield* scanned(db, { maxHeight: 0, count: 900 }),
          byLength.filter((name) => many.indexOf(name) < 1_000).slice(0, 900)
        )
        assert.deepStrictEqual(yield* namesOf(db.byAddress(owner)), byBytes)
        assert.deepStrictEqual(yield* namesOf(db.byAddress(owner, { count: 1_000 })), byBytes.slice(0, 1_000))
        assert.deepStrictEqual(yield* namesOf(db.scanByPrefix({ prefix: text("d/") })), byBytes)
        const expiring = yield* namesOf(db.expiringBetween({ from: 30, to: 31 }, regtestParams))
        assert.deepStrictEqual(expiring, many)
      })
    ))

  it.effect("lists by height are correct for few and for many names", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const all = Array.from({ length: 5_001 }, (_, i) => `d/${String(i).padStart(4, "0")}`)
        yield* applyAll(db, [[
          blockAt(0, all.map((name) => ({ name: text(name) }))),
          blockAt(1, all.slice(1).map((name) => ({ name: text(name) })))
        ]])
        assert.deepStrictEqual(yield* scanned(db, { minHeight: 0 }), all, "5,001 names")
        assert.deepStrictEqual(yield* scanned(db, { minHeight: 1 }), all.slice(1), "5,000 names")
        const options = { start: text(all[4_000] ?? ""), prefix: text("d/4"), count: 7 }
        assert.deepStrictEqual(yield* scanned(db, { ...options, minHeight: 0 }), all.slice(4_000, 4_007))
        assert.deepStrictEqual(yield* scanned(db, { ...options, minHeight: 1 }), all.slice(4_000, 4_007))
      })
    ))

  it.effect("lists read no further than the consumer requests", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [[blockAt(0, many.map((name) => ({ name: text(name) })))]])
        const asked: Array<string> = []
        const first = yield* Stream.runHead(db.scan({
          matches: (name) => {
            asked.push(binaryString(name))
            return true
          }
        }))
        assert.strictEqual(first._tag, "Some")
        assert.isAtMost(asked.length, 1_000)
      })
    ))

  it.effect("lists give the event loop a turn between pages", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [[blockAt(0, many.map((name) => ({ name: text(name) })))]])
        let turns = 0
        const counting = setInterval(() => turns++, 0)
        const none = yield* scanned(db, { matches: () => (busyFor(2), false) })
        clearInterval(counting)
        assert.deepStrictEqual(none, [])
        assert.isAtLeast(turns, 2)
      })
    ))
})

describe("scanByPrefix", () => {
  it.effect.prop(
    "scanByPrefix returns the names with the prefix, in the order of their bytes",
    {
      names: FastCheck.uniqueArray(bytesOf(0, 3), { maxLength: 30, selector: binaryString }),
      prefix: FastCheck.oneof(bytesOf(0, 2), FastCheck.constantFrom(Uint8Array.of(0xff), Uint8Array.of(0x61, 0xff))),
      start: FastCheck.option(bytesOf(0, 3), { nil: undefined }),
      count: FastCheck.option(FastCheck.nat(5), { nil: undefined })
    },
    ({ count, names, prefix, start }) =>
      withNames([...names, prefix].map(binaryString), (db) =>
        Effect.gen(function*() {
          const expected = [...new Set([...names, prefix].map(binaryString))].map(fromBinaryString).sort(compare)
            .filter(
              (name) =>
                binaryString(name).startsWith(binaryString(prefix)) &&
                (start === undefined || compare(name, start) >= 0)
            ).slice(0, count)
          assert.deepStrictEqual(
            yield* namesOf(db.scanByPrefix({ prefix, start, count })),
            expected.map(binaryString)
          )
        })),
    { fastCheck: { numRuns: 30 } }
  )
})

/** Blocks the thread for some microseconds. */
const busyFor = (microseconds: number): void => {
  const until = performance.now() + microseconds / 1000
  while (performance.now() < until);
}
