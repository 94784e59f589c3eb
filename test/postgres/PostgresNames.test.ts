import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Layer, Stream } from "effect"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { changesOf } from "../../src/client/changes.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import type { FindFilter } from "../../src/client/options.ts"
import { fixedPart, recordAt } from "../../src/client/record.ts"
import type { Freshness } from "../../src/client/records.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { BEGINNING, cursorText } from "../../src/names/events/EventCursor.ts"
import type { NameEntry } from "../../src/names/NameEntry.ts"
import { PostgresNames } from "../../src/postgres.ts"
import { addressOf, scriptOf } from "../../src/protocol/address.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { addressScript } from "../../src/protocol/nameOperation.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { applyAll, batches, blockAt, type Operation, text } from "../names/blocks.ts"
import { readAll } from "../names/events/world.ts"
import type { Branches } from "../names/events/world.ts"
import { eventually } from "../support/eventually.ts"
import { assertRecordClasses } from "../support/recordClasses.ts"
import { world } from "../web/events/served.ts"
import { exported, exporting, hasServer, newDatabase, rowsIn, server, sourceAt, withServer } from "./exported.ts"

type Db = Parameters<Branches["events"]>[0]

const OWNERS = [1, 2, 3].map((byte) => scriptOf({ kind: "pubkeyhash", hash: new Uint8Array(20).fill(byte) }))
const ADDRESSES = OWNERS.map((script) => addressOf(regtest, addressScript(script)))

const VALUES = [
  "{\"ip\":\"192.0.2.1\",\"email\":\"Alice@Example.com\"}",
  "{\"map\":{\"www\":{\"ip\":[\"192.0.2.1\",\"192.0.2.2\"]}},\"ns\":[\"ns1.example.com.\"]}",
  "{\"ip6\":\"2001:DB8::1\",\"x\":\"100% _under\\\\score\"}",
  "plain text, 100% of it",
  "{\"email\":\"a\\u0000b\"}",
  "a\0b",
  ""
].map(text)

const operationsAt = (height: number, branch: number): ReadonlyArray<Operation> =>
  [0, 1, 2].map((i) => {
    const number = height * 7 + branch * 3 + i
    const name = number % 13 === 0
      ? Uint8Array.of(0xff, number % 3)
      : text(`${number % 2 === 0 ? "d" : "id"}/n${number % 60}`)
    return {
      name,
      value: VALUES[number % VALUES.length] ?? EMPTY,
      owner: OWNERS[number % 3] ?? EMPTY,
      ...number % 3 === 0 ? { rand: Uint8Array.of(1) } : {}
    }
  })

const blocksOf = (branch: number, from: number, count: number): ReadonlyArray<ConnectedBlock> =>
  Array.from({ length: count }, (_, i) => ({
    ...blockAt(from + i, operationsAt(from + i, branch)),
    hash: hash256(text(`${branch} ${from + i}`))
  }))

const asOf = (height: number): Freshness => ({ height, synced: true, proof: "full" })

/** A record of names.db as a client shows it. */
const shown = (record: NameEntry, height: number) => {
  const fixed = fixedPart(record, regtestParams)
  return fixed === undefined ? undefined : recordAt(fixed, asOf(height), regtestParams)
}

const withExport = (
  use: (parts: {
    readonly db: Db
    readonly branches: Branches
    readonly client: typeof NameClient.Service
    readonly database: string
    readonly reorganize: (depth: number, branch: number, more?: number) => Effect.Effect<void, unknown>
  }) => Effect.Effect<void, unknown>
) =>
  world([], ({ branches, db, port }) =>
    Effect.scoped(Effect.gen(function*() {
      let chain = blocksOf(0, 0, 80)
      branches.add(chain)
      branches.tip = chain.at(-1)
      yield* applyAll(db, batches(chain, 40))
      const database = yield* newDatabase
      yield* exporting(yield* sourceAt(port, branches), database)
      yield* exported(database, branches)
      const reorganize = (depth: number, branch: number, more = 1) =>
        Effect.gen(function*() {
          const kept = chain.slice(0, chain.length - depth)
          const fork = kept.at(-1)
          if (fork === undefined) return assert.fail("the chain is long enough")
          const fresh = blocksOf(branch, kept.length, depth + more)
          branches.add(fresh, fork)
          branches.tip = fresh.at(-1)
          if (depth > 0) yield* db.follower.rewind(fork)
          yield* applyAll(db, batches(fresh, 20))
          chain = [...kept, ...fresh]
        })
      const layer = PostgresNames.layer({ url: server().url(database) })
      yield* Effect.provide(
        Effect.flatMap(NameClient, (client) => use({ branches, db, client, database, reorganize })),
        layer
      )
    })))

const collect = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

describe.skipIf(!hasServer)("PostgresNames", () => {
  withServer()

  it.live(
    "answers as names.db does: names, lists, searches",
    () =>
      withExport(({ client, db, reorganize, branches, database }) =>
        Effect.gen(function*() {
          yield* reorganize(5, 1, 4)
          yield* exported(database, branches)
          const height = branches.tip?.height ?? 0
          assert.deepStrictEqual(yield* client.freshness, asOf(height))
          yield* assertRecordClasses(client)
          const all = yield* collect(db.scan({}))
          const records = all.flatMap((record) => shown(record, height) ?? [])
          const living = records.filter(({ expired }) => !expired)
          assert.isAbove(living.length, 20)
          assert.isAbove(records.length, living.length)

          const answers = yield* Effect.forEach(
            records,
            ({ name }) => Effect.either(client.resolveName(name)),
            { concurrency: "unbounded" }
          )
          for (const [i, answer] of answers.entries()) {
            const expected = records[i]
            if (answer._tag === "Right") assert.deepStrictEqual(answer.right, expected)
            else {
              assert.isTrue(expected?.expired)
              assert.strictEqual(answer.left._tag, "NameExpired")
            }
          }
          assert.strictEqual((yield* Effect.flip(client.resolveName("d/none")))._tag, "NameNotFound")
          const site = living.find(({ name, value }) => name.startsWith("d/n") && value.includes("\"ip\"")) ??
            assert.fail("no domain has an address")
          const hosts = yield* Effect.forEach(
            [site.name.slice(2), `www.${site.name.slice(2)}`, "none"],
            (host) => client.resolveDomain(`${host}.bit`)
          )
          assert.deepStrictEqual(
            hosts.map(({ status }) => status),
            site.value.includes("ns1") ? ["delegated", "delegated", "no-name"] : ["records", "no-name", "no-name"]
          )
          assert.deepStrictEqual(hosts.map(({ sources }) => sources), [[site], [site], []])
          for (const each of hosts) assert.deepStrictEqual(each.asOf, asOf(height))

          assert.deepStrictEqual(yield* client.listNames({ limit: 1_000 }), living)
          const inD = living.filter(({ name }) => name.startsWith("d/"))
          assert.deepStrictEqual(yield* client.listNames({ namespace: "d/", limit: 1_000 }), inD)
          assert.deepStrictEqual(yield* client.listNames({ namespace: "d/", limit: 3 }), inD.slice(0, 3))

          const clock = { tipHeight: height, params: regtestParams }
          const filters: ReadonlyArray<readonly [FindFilter, Parameters<Db["find"]>[0]]> = [
            [{ text: "100% " }, { text: "100% " }],
            [{ text: "_under\\" }, { text: "_under\\" }],
            [{ text: "EXAMPLE" }, { text: "EXAMPLE" }],
            [{ text: "d/n1" }, { text: "d/n1" }],
            [{ key: "ip" }, { key: "ip" }],
            [{ key: "ip", value: "192.0.2.2" }, { key: "ip", value: "192.0.2.2" }],
            [{ key: "email", includeExpired: true }, { key: "email", includeExpired: true }],
            [{ key: "ip6", value: "2001:db8:0::1" }, { key: "ip6", value: "2001:db8:0::1" }],
            [{ owner: ADDRESSES[0] }, { owner: OWNERS[0] }],
            [{ namespace: "id/", changedSince: height - 10 }, { prefix: text("id/"), changedSince: height - 10 }],
            [{ expiresWithin: 12 }, { expiresWithin: 12 }],
            [{ includeExpired: true, changedSince: 0 }, { includeExpired: true, changedSince: 0 }]
          ]
          for (const [filter, query] of filters) {
            const found = yield* db.find(query, { clock, limit: 1_000 })
            const expected = found.records.flatMap((record) => shown(record, height) ?? [])
            const got = yield* collect(client.findNames(filter))
            const sorted = (list: typeof got) => list.toSorted((a, b) => a.name < b.name ? -1 : 1)
            assert.deepStrictEqual(sorted(got), sorted(expected), JSON.stringify(filter))
          }
          assert.strictEqual((yield* Effect.flip(client.updateName("d/n1", "{}")))._tag, "WalletDisabled")
          assert.strictEqual((yield* Effect.flip(client.registerName("d/new", "{}")))._tag, "WalletDisabled")
          assert.strictEqual((yield* client.ready("full")).height, height)
        })
      ),
    60_000
  )

  it.live(
    "tells the changes of names.db with its cursors, past and new ones, and what was undone",
    () =>
      withExport(({ branches, client, database, db, reorganize }) =>
        Effect.gen(function*() {
          const events = branches.events(db)
          const types = ["registered", "updated", "renewed", "transferred", "cleared", "expired", "expiring"] as const
          const toldBy = (from: Parameters<typeof readAll>[1]) =>
            Effect.map(readAll(events, from, { notices: true }), (pages) => {
              const tip = branches.tip?.height ?? 0
              const at = (height: number): Freshness => ({ height, synced: height >= tip, proof: "full" })
              return pages.flatMap((page) => page.events).flatMap((event) =>
                event.type === "block" ? [] : changesOf({ params: regtestParams, asOf: at }, event)
              )
            })
          const past = yield* toldBy(BEGINNING)
          const take = (from: string | undefined, count: number) =>
            collect(Stream.take(client.changes({ from, types }), count))
          assert.deepStrictEqual(yield* take("0", past.length), past)
          // From any cursor on.
          const middle = past[Math.floor(past.length / 2)]?.cursor ?? "0"
          const rest = past.slice(past.findIndex(({ cursor }) => cursor === middle) + 1)
          assert.deepStrictEqual(yield* take(middle, rest.length), rest)

          // New blocks, and a reorganization below the reader.
          const now = yield* events.now
          yield* reorganize(6, 3, 5)
          yield* exported(database, branches)
          const fresh = yield* toldBy(now)
          assert.isTrue(fresh.some(({ type }) => type === "undone"))
          assert.deepStrictEqual(yield* take(cursorText(now), fresh.length), fresh)
          for (const each of fresh.filter(({ type }) => type === "undone").slice(0, 4)) {
            const behind = fresh.slice(fresh.indexOf(each) + 1)
            assert.deepStrictEqual(yield* take(each.cursor, behind.length), behind)
          }

          // A subscriber at the tip is told at once.
          const live = yield* Effect.fork(take(undefined, 3))
          yield* eventually(
            "a subscriber",
            Effect.map(
              rowsIn(
                database,
                "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'COMMIT%' AND application_name = 'svcd'"
              ),
              (rows) => rows.length > 0
            )
          )
          const before = yield* events.now
          yield* reorganize(0, 4)
          const told = yield* Fiber.join(live)
          assert.deepStrictEqual(
            told.map(({ cursor }) => cursor),
            (yield* toldBy(before)).filter(({ type }) => type !== "expiring").slice(0, 3).map(({ cursor }) => cursor)
          )
          const failure = yield* Effect.flip(take("a0000010.08388608.ffffffffffffffff", 1))
          assert.strictEqual(failure._tag === "CursorUnusable" ? failure.why : failure._tag, "unknown")
          yield* rowsIn(database, "UPDATE svcd.cursor SET synced = true")
          const above = yield* Effect.flip(take("a9999999.08388608.ffffffffffffffff", 1))
          assert.strictEqual(above._tag === "CursorUnusable" ? above.why : above._tag, "future")
          assert.strictEqual((yield* Effect.flip(take("x", 1)))._tag, "CursorUnusable")
        })
      ),
    60_000
  )

  it.live(
    "says what is wrong: no export, a newer schema, no server, a copy that is not complete",
    () =>
      withExport(({ client, database }) =>
        Effect.gen(function*() {
          const opened = (config: Parameters<typeof PostgresNames.layer>[0]) =>
            Effect.map(Effect.flip(Effect.scoped(Layer.build(PostgresNames.layer(config)))), ({ message }) => message)
          const url = server().url(database)
          assert.include(
            yield* opened({ url, schema: "other" }),
            "there is no export in the schema other: run svcd-export first"
          )
          assert.include(yield* opened({ url: "mysql://x" }), "has to be a URL of the form postgres://")
          const secret = yield* opened({ url: "postgres://me:hunter2@127.0.0.1:1/names" })
          assert.strictEqual(secret, "cannot read names from PostgreSQL at 127.0.0.1:1/names: connection refused")
          yield* rowsIn(database, "UPDATE svcd.cursor SET checked_at = now() - interval '1 hour'")
          const late = yield* Effect.flip(client.resolveName("d/none"))
          assert.strictEqual(late._tag, "NotSynced")
          yield* rowsIn(database, "UPDATE svcd.version SET version = 2")
          assert.include(yield* opened({ url }), "update svcd, or export to another schema")
          yield* rowsIn(database, "ALTER TABLE svcd.names RENAME TO gone")
          assert.strictEqual((yield* Effect.flip(client.resolveName("d/n1")))._tag, "DatabaseUnavailable")
        })
      ),
    60_000
  )
})
