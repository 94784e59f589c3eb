import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, FastCheck, TestClock } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { expirationDepth } from "../../../src/consensus/expiry.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { NameDb, NameEntry, NameQuery } from "../../../src/names/NameDb.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { type SearchKey, searchPairs } from "../../../src/values/searchable.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { applyAll, batches, blockAt, hashAt, type Operation, searchBuilt, text, withDb, withNewDb } from "../blocks.ts"

type Db = typeof NameDb.Service

const shown = ({ name }: { readonly name: Uint8Array }): string => Buffer.from(name).toString("utf8")

const clockAt = (tipHeight: number) => ({ tipHeight, params: regtestParams })

/** All pages of a search. */
const all = (db: Db, asked: NameQuery, { limit = 100, tipHeight = 0 } = {}) =>
  Effect.gen(function*() {
    const found: Array<NameEntry> = []
    for (let cursor: string | undefined, pages = 0;; pages++) {
      assert.isBelow(pages, 1_000)
      const page: { readonly records: ReadonlyArray<NameEntry>; readonly next: string | undefined } = yield* db.find(
        asked,
        { clock: clockAt(tipHeight), limit, cursor }
      )
      assert.isAtMost(page.records.length, limit)
      found.push(...page.records)
      cursor = page.next
      if (cursor === undefined) return found
    }
  })

const names = (db: Db, asked: NameQuery, options = {}) =>
  Effect.map(all(db, asked, options), (found) => found.map(shown).sort())

const VALUES = [
  "{\"ip\":\"192.0.2.1\"}",
  "{\"ip\":[\"192.0.2.1\",\"192.0.2.2\"],\"ns\":\"NS1.Example.org.\"}",
  "{\"map\":{\"www\":{\"ip6\":\"2001:DB8:0::1\"},\"_tor\":{\"txt\":\"abc.onion\"}}}",
  "{\"email\":\"Alice@Example.org\",\"nostr\":{\"names\":{\"_\":\"aa\"}}}",
  "hello World",
  "",
  "{\"ip\":1}",
  "\u00c4\u00d6\u00dc \u03a3\u03a3"
]

const operation = FastCheck.record({
  name: FastCheck.constantFrom("d/a", "d/alpha", "d/beta", "id/alice", "x", "dd/ip").map(text),
  value: FastCheck.constantFrom(...VALUES).map(text),
  owner: FastCheck.constantFrom("owner one 1", "owner two 22").map(text)
})

const blocks = (height: number, lists: ReadonlyArray<ReadonlyArray<Operation>>) =>
  lists.map((list, at) => blockAt(height + at, list))

describe("find", () => {
  const CHAIN: ReadonlyArray<ReadonlyArray<Operation>> = [
    [{ name: text("d/alpha"), value: text(VALUES[0] ?? ""), owner: text("owner one 1") }],
    [
      { name: text("d/beta"), value: text(VALUES[1] ?? ""), owner: text("owner two 22") },
      { name: text("id/alice"), value: text(VALUES[3] ?? ""), owner: text("owner one 1") }
    ],
    [{ name: text("d/tor"), value: text(VALUES[2] ?? ""), owner: text("owner two 22") }],
    [{ name: text("x"), value: text(VALUES[7] ?? ""), owner: text("owner one 1") }]
  ]

  it.effect("finds by text, items of values, owner, namespace, change and expiry", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [blocks(0, CHAIN)])
        const found = (asked: NameQuery) => names(db, asked, { tipHeight: 3, limit: 1 })
        assert.deepStrictEqual(yield* found({ text: "ALPHA" }), ["d/alpha"])
        assert.deepStrictEqual(yield* found({ text: "example.ORG" }), ["d/beta", "id/alice"])
        assert.deepStrictEqual(yield* found({ text: "\u00e4\u00f6\u00fc" }), ["x"])
        assert.deepStrictEqual(yield* found({ text: "pha\n{\"i" }), [], "not across name and value")
        assert.deepStrictEqual(yield* found({ text: "\"ip\":\"192" }), ["d/alpha"])
        assert.deepStrictEqual(yield* found({ key: "ip", value: "192.0.2.1" }), ["d/alpha", "d/beta"])
        assert.deepStrictEqual(yield* found({ key: "ip6", value: "2001:db8::1" }), ["d/tor"])
        assert.deepStrictEqual(yield* found({ key: "ns", value: "ns1.example.org" }), ["d/beta"])
        assert.deepStrictEqual(yield* found({ key: "email", value: "alice@example.ORG" }), ["id/alice"])
        assert.deepStrictEqual(yield* found({ key: "nostr" }), ["id/alice"])
        assert.deepStrictEqual(yield* found({ key: "tor" }), ["d/tor"])
        assert.deepStrictEqual(yield* found({ key: "ip" }), ["d/alpha", "d/beta"], "each once")
        assert.deepStrictEqual(yield* found({ owner: text("owner one 1") }), ["d/alpha", "id/alice", "x"])
        assert.deepStrictEqual(yield* found({ owner: text("owner one 1"), prefix: text("d/") }), ["d/alpha"])
        assert.deepStrictEqual(yield* found({ prefix: text("d/") }), ["d/alpha", "d/beta", "d/tor"])
        assert.deepStrictEqual(yield* found({ changedSince: 2 }), ["d/tor", "x"])
        assert.deepStrictEqual(yield* found({ changedSince: 1, text: "org" }), ["d/beta", "id/alice"])
      })
    ))

  it.effect("finds what expires, and expired names only on request", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [blocks(0, CHAIN)])
        const depth = expirationDepth(100, regtestParams)
        const at = (tipHeight: number, asked: NameQuery) => names(db, asked, { tipHeight })
        assert.deepStrictEqual(yield* at(depth, { expiresWithin: 1 }), ["d/beta", "id/alice"])
        assert.deepStrictEqual(yield* at(depth, { expiresWithin: 2, prefix: text("d/") }), ["d/beta", "d/tor"])
        assert.deepStrictEqual(yield* at(depth, { text: "alpha" }), [])
        assert.deepStrictEqual(yield* at(depth, { text: "alpha", includeExpired: true }), ["d/alpha"])
        assert.deepStrictEqual(yield* at(depth - 1, { text: "alpha" }), ["d/alpha"])
      })
    ))

  it.effect("lists the last change first, from page to page and down to a height", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const again = { name: text("d/alpha"), value: text("again"), owner: text("owner one 1") }
        yield* applyAll(db, [blocks(0, [...CHAIN, [again]])])
        const listed = (asked: NameQuery) =>
          Effect.map(
            all(db, { ...asked, newestFirst: true }, { tipHeight: 4, limit: 1 }),
            (found) => found.map(shown)
          )
        assert.deepStrictEqual(yield* listed({ prefix: text("") }), ["d/alpha", "x", "d/tor", "id/alice", "d/beta"])
        assert.deepStrictEqual(yield* listed({ prefix: text("d/") }), ["d/alpha", "d/tor", "d/beta"])
        assert.deepStrictEqual(yield* listed({ changedSince: 2 }), ["d/alpha", "x", "d/tor"])
        assert.deepStrictEqual(
          yield* db.readLog(({ count }) =>
            [0, 1, 4, 5].map((at) => count({ from: at * 2 ** 20, to: (at + 1) * 2 ** 20 }))
          ),
          [1, 2, 1, 0]
        )
      })
    ))

  it.effect("refuses a query or a cursor that it cannot answer", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* applyAll(db, [blocks(0, CHAIN)])
        const refused = (asked: NameQuery, cursor?: string) =>
          Effect.map(Effect.flip(db.find(asked, { clock: clockAt(3), limit: 1, cursor })), ({ message }) => message)
        assert.match(yield* refused({ text: "ab" }), /at least 3 characters/)
        assert.match(yield* refused({ text: "a".repeat(501) }), /at most 500/)
        assert.match(yield* refused({ value: "x" }), /needs a key/)
        assert.match(yield* refused({}), /at least one of/)
        const { next } = yield* db.find({ text: "org" }, { clock: clockAt(3), limit: 1 })
        assert.strictEqual(next, "1.text.2")
        for (
          const cursor of [
            "",
            "1.text.",
            "1.text.x",
            "1.key.2.00",
            "2.text.2",
            "1.text.2.00",
            "1.text.99999999999999999"
          ]
        ) {
          assert.match(yield* refused({ text: "org" }, cursor), /cursor/, cursor)
        }
        assert.match(yield* refused({ key: "ip" }, "1.key.2"), /cursor/)
        assert.match(yield* refused({ prefix: text("d/") }, "1.name.2"), /cursor/)
        assert.match(yield* refused({ text: "org", newestFirst: true }), /newest first goes with/)
        assert.match(yield* refused({ prefix: text("d/"), newestFirst: true }, "1.operation.2"), /cursor/)
      })
    ))
})

describe("the indexes", () => {
  /** Every row of the indexes. */
  const indexed = (filename: string): unknown => {
    const database = new SQLite(filename, { readonly: true })
    try {
      const keys = database.prepare("SELECT * FROM name_keys ORDER BY key, value, name_id").raw().all()
      const tables = database.prepare<[], { readonly name: string }>(
        "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY name"
      ).all().map(({ name }) => name)
      const groups = tables.map((table) => {
        database.exec(`CREATE VIRTUAL TABLE temp.v_${table} USING fts5vocab('main', '${table}', 'instance')`)
        return database.prepare(`SELECT doc, term FROM temp.v_${table} ORDER BY doc, term`).raw().all()
      }).filter((rows) => rows.length > 0)
      return { keys, groups, search: database.prepare("SELECT operation FROM search").raw().all() }
    } finally {
      database.close()
    }
  }

  it.effect.prop(
    "are after any reorganisation what they are if they are built again",
    {
      steps: FastCheck.array(
        FastCheck.record({
          back: FastCheck.nat({ max: 6 }),
          lists: FastCheck.array(FastCheck.array(operation, { maxLength: 3 }), { minLength: 1, maxLength: 5 }),
          size: FastCheck.integer({ min: 1, max: 5 })
        }),
        { minLength: 1, maxLength: 5 }
      )
    },
    ({ steps }) =>
      Effect.scoped(Effect.gen(function*() {
        const filename = join(yield* temporaryDirectory, "names.db")
        let height = -1
        yield* withDb(filename, (db) =>
          Effect.gen(function*() {
            for (const { back, lists, size } of steps) {
              const to = Math.max(0, height - back)
              if (height >= 0 && to < height) {
                yield* db.follower.rewind({ height: to, hash: hashAt(to) })
                height = to
              }
              yield* applyAll(db, batches(blocks(height + 1, lists), size))
              height += lists.length
            }
            const end = Math.max(0, height - 1)
            yield* db.follower.rewind({ height: end, hash: hashAt(end) })
          }))
        const kept = indexed(filename)
        yield* withDb(filename, searchBuilt, { rebuildSearch: true })
        assert.deepStrictEqual(Object(kept).keys, Object(indexed(filename)).keys)
        assert.deepStrictEqual(Object(kept).groups, Object(indexed(filename)).groups)
      })),
    { fastCheck: { numRuns: 12 } }
  )

  it.effect.prop(
    "find what a look at every name finds",
    {
      lists: FastCheck.array(FastCheck.array(operation, { maxLength: 4 }), { minLength: 1, maxLength: 8 }),
      texts: FastCheck.constantFrom("exa", "192.0", "hello", "\"ip", "alp", "zzz"),
      key: FastCheck.constantFrom<SearchKey>("ip", "ip6", "ns", "email", "nostr", "tor"),
      limit: FastCheck.integer({ min: 1, max: 3 })
    },
    ({ key, limit, lists, texts }) =>
      withNewDb((db) =>
        Effect.gen(function*() {
          yield* applyAll(db, batches(blocks(0, lists), 3))
          const current = new Map(lists.flat().map((each) => [toHex(each.name), each]))
          const expected = (wanted: (each: Operation) => boolean) =>
            [...current.values()].filter(wanted).map(shown).sort()
          const options = { limit, tipHeight: lists.length - 1 }
          assert.deepStrictEqual(
            yield* names(db, { text: texts }, options),
            expected(({ name, value = text("") }) =>
              [name, value].some((bytes) => Buffer.from(bytes).toString("utf8").toLowerCase().includes(texts))
            )
          )
          assert.deepStrictEqual(
            yield* names(db, { key }, options),
            expected(({ value = text("") }) => searchPairs(value).some((pair) => pair.key === key))
          )
        })
      ),
    { fastCheck: { numRuns: 15 } }
  )

  it.effect("are left out by an import, even in its pauses, and built afterwards", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const lists = Array.from({ length: 60 }, (_, at) => [{ name: text(`d/import ${at}`) }])
        const found = Effect.map(names(db, { text: "import" }), ({ length }) => length)
        const [first = [], second = [], ...few] = [
          ...batches(blocks(0, lists.slice(0, 50)), 25),
          blocks(50, lists.slice(50))
        ]
        yield* db.follower.apply(first)
        yield* TestClock.adjust("10 seconds")
        yield* db.follower.apply(second)
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* found, 0)
        // Its last blocks are few.
        yield* applyAll(db, few)
        yield* searchBuilt(db)
        assert.strictEqual(yield* found, 60)
      })
    ))

  it.effect("of a file from before are built in the background, while everything answers", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "names.db")
      const lists = Array.from(
        { length: 700 },
        (_, at) => [{ name: text(`d/name ${at}`), value: text(VALUES[0] ?? "") }]
      )
      yield* withDb(filename, (db) => applyAll(db, batches(blocks(0, lists), 10)))
      const database = new SQLite(filename)
      database.exec(`
        DROP TABLE name_text_0; DROP TABLE name_keys; DROP TABLE search;
        DROP INDEX names_by_script;
        DROP INDEX names_without_script;
        ALTER TABLE names DROP COLUMN script;
        DELETE FROM effect_sql_migrations WHERE migration_id >= 5`)
      database.close()
      // The sums are of the file before this change.
      rmSync(`${filename}.sums`)
      let told = 0
      const tell = Effect.sync(() => void told++)
      const open = <A, E, R>(use: (db: Db) => Effect.Effect<A, E, R>) => withDb(filename, use, { searchBuilt: tell })
      yield* open((db) =>
        Effect.gen(function*() {
          const asked = { key: "ip", value: "192.0.2.1", includeExpired: true } as const
          const before = yield* db.find(asked, { clock: clockAt(699), limit: 1_000 })
          assert.deepStrictEqual({ found: before.records.length, indexed: before.indexed }, { found: 0, indexed: 0 })
          assert.strictEqual((yield* db.resolve(text("d/name 5"))).height, 5)
          assert.strictEqual(told, 0)
          yield* searchBuilt(db)
          yield* eventually("the node is told", Effect.sync(() => told === 1))
          assert.lengthOf(yield* all(db, asked, { limit: 300, tipHeight: 699 }), 700)
          assert.lengthOf(yield* all(db, { text: "name 69", includeExpired: true }, { tipHeight: 699 }), 11)
        })
      )
    })))

  it.effect("are left to the background while many names arrive at once", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const lists = [
          Array.from({ length: 600 }, (_, at) => ({ name: text(`d/${at}`), value: text(VALUES[0] ?? "") }))
        ]
        yield* applyAll(db, [blocks(0, lists)])
        assert.strictEqual((yield* db.find({ key: "ip" }, { clock: clockAt(0), limit: 1 })).indexed, 0)
        yield* searchBuilt(db)
        assert.lengthOf(yield* all(db, { key: "ip" }, { limit: 250 }), 600)
      })
    ))
})
