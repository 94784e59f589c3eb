import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type ExportSource, runExport } from "../../src/postgres/exporter.ts"
import { openSchema } from "../../src/postgres/openSchema.ts"
import { connectTo } from "../../src/postgres/PgConnection.ts"
import { type Migration, MIGRATIONS } from "../../src/postgres/schema.ts"
import { eventually } from "../support/eventually.ts"
import { exported, exporting, hasServer, NOT_INSTALLED, rowsIn, server, targetIn, withServer } from "./exported.ts"
import { assertEqual, withBlocks } from "./exportedBlocks.ts"

/** Milliseconds for a test of many steps, of which each may take its time on a busy machine. */
const TIMEOUT = 180_000

const fails = (source: ExportSource, database: string, options: { schema?: string; lockSeconds?: number } = {}) =>
  Effect.map(
    Effect.flip(runExport({ source, target: targetIn(database), schema: "svcd", ...options })),
    (failure) => failure.message
  )

if (!hasServer) process.stderr.write(`${NOT_INSTALLED}; test/postgres is skipped\n`)

describe.skipIf(!hasServer)("svcd-export", () => {
  withServer()

  it.live(
    "equals names.db at first, with each block, and after reorganizations",
    () =>
      withBlocks(({ branches, database, db, reorganize, source }) =>
        Effect.gen(function*() {
          yield* exporting(source, database)
          yield* exported(database, branches)
          yield* assertEqual(db, database)
          for (const [i, depth] of [1, 2, 7, 40].entries()) {
            yield* reorganize(depth, i + 1)
            yield* exported(database, branches)
            yield* assertEqual(db, database)
          }
          // The queries of the documentation.
          const page = readFileSync(new URL("../../docs/postgres.md", import.meta.url), "utf8")
          const queries = [...page.matchAll(/```sql\n([^`]*)```/g)].map(([, query = ""]) => query)
          assert.isAtLeast(queries.length, 10)
          for (const query of queries) yield* rowsIn(database, query)
          // What PostgreSQL takes as JSON and as text is there, the rest is in the bytes alone.
          const json = yield* rowsIn(
            database,
            "SELECT count(*) FILTER (WHERE json IS NOT NULL)::int AS json, count(*) FILTER (WHERE value_text IS NULL)::int AS bytes FROM svcd.names"
          )
          assert.isAbove(Number(json[0]?.["json"]), 3)
          assert.isAbove(Number(json[0]?.["bytes"]), 3)
          const [living] = yield* rowsIn(database, "SELECT min(expires_in)::int AS least FROM svcd.living_names")
          assert.isAbove(Number(living?.["least"]), 0)
        })
      ),
    TIMEOUT
  )

  it.live(
    "continues after crashes and restarts of PostgreSQL, even in the middle of a transaction",
    () =>
      withBlocks(({ branches, database, db, reorganize, source }) =>
        Effect.gen(function*() {
          const running = yield* exporting(source, database)
          yield* exported(database, branches)
          for (const [i, how] of (["immediate", "fast", "immediate"] as const).entries()) {
            const work = yield* Effect.fork(reorganize(20, 20 + i))
            // The undoing of twenty blocks takes some time.
            yield* Effect.promise(() => server().stop(how))
            yield* Fiber.join(work)
            yield* Effect.promise(() => server().resume())
            yield* exported(database, branches)
            yield* assertEqual(db, database)
          }
          assert.isNull(running.unsafePoll())
        })
      ),
    TIMEOUT
  )

  it.live(
    "waits while the server is read-only, or cancels statements",
    () =>
      withBlocks(({ branches, database, db, reorganize, source }) =>
        Effect.gen(function*() {
          const alter = (setting: string) => rowsIn("postgres", `ALTER DATABASE ${database} ${setting}`)
          const said: Array<string> = []
          const waits = (code: string) =>
            eventually(`an attempt that ends with ${code}`, () => said.some((line) => line.includes(`(${code})`)))
          const running = yield* exporting(source, database, { said })
          yield* exported(database, branches)
          const cut = rowsIn(
            "postgres",
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`
          )
          yield* alter("SET default_transaction_read_only = on")
          yield* cut
          yield* reorganize(3, 30)
          yield* waits("25006")
          yield* alter("SET default_transaction_read_only = off")
          yield* cut
          yield* exported(database, branches)
          yield* assertEqual(db, database)
          // A statement that takes longer than the server allows it, on a machine of any speed.
          yield* rowsIn(
            database,
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END'"
          )
          yield* rowsIn(database, "CREATE TRIGGER slow BEFORE UPDATE ON svcd.cursor EXECUTE FUNCTION slow()")
          yield* alter("SET statement_timeout = 100")
          yield* cut
          yield* reorganize(3, 31)
          yield* waits("57014")
          yield* rowsIn(database, "SET statement_timeout = 0; DROP TRIGGER slow ON svcd.cursor")
          yield* alter("RESET statement_timeout")
          yield* cut
          yield* exported(database, branches)
          yield* assertEqual(db, database)
          assert.isNull(running.unsafePoll())
        })
      ),
    TIMEOUT
  )

  it.live(
    "refuses a schema of a newer version, another network, a second exporter, and a database that does not fit",
    () =>
      withBlocks(({ branches, database, source }) =>
        Effect.gen(function*() {
          const running = yield* exporting(source, database)
          yield* exported(database, branches)
          assert.strictEqual(
            yield* fails(source, database, { lockSeconds: 1 }),
            "another svcd-export writes the schema svcd of this database: stop it, or give -schema another name"
          )
          yield* Fiber.interrupt(running)
          assert.strictEqual(
            yield* fails({ ...source, network: "mainnet" }, database),
            "the schema svcd has the names of regtest, and the daemon is on mainnet: give -schema another name"
          )
          yield* rowsIn(database, "UPDATE svcd.version SET version = 99")
          assert.strictEqual(
            yield* fails(source, database),
            "the schema svcd has version 99, and this svcd knows versions up to 1: update svcd, or export to another schema"
          )
          assert.strictEqual(
            yield* fails(source, database, { schema: "user" }),
            "user is a reserved word of PostgreSQL: give -schema another name"
          )
          const plain = `${database}_ascii`
          yield* rowsIn("postgres", `CREATE DATABASE ${plain} ENCODING 'SQL_ASCII' TEMPLATE template0`)
          assert.strictEqual(
            yield* fails(source, plain),
            "the encoding of the database is SQL_ASCII, which cannot store all names: " +
              "make another with createdb -E UTF8 -T template0 NAME"
          )
          for (
            const [url, reason] of [["postgres://hunter2:%ff@host/db", "URI malformed"], [
              "postgres://host/db?sslrootcert=/no/such.pem",
              "ENOENT: no such file or directory, open '/no/such.pem'"
            ]] as const
          ) {
            const wrong = { shown: "test", url: Redacted.make(url) }
            assert.strictEqual(
              (yield* Effect.flip(runExport({ source, target: wrong, schema: "svcd" }))).message,
              `the URL of the database cannot be used: ${reason}`
            )
          }
          const nowhere = yield* fails(source, "no_such_database")
          assert.include(nowhere, "(3D000); make the database first")
          yield* rowsIn(database, "CREATE ROLE guest LOGIN")
          const target = { shown: "test", url: Redacted.make(server().url(database, "guest")) }
          const failure = yield* Effect.flip(runExport({ source, target, schema: "other" }))
          assert.include(failure.message, "(42501); the user needs CREATE on the database")
        })
      ),
    TIMEOUT
  )

  it.live(
    "brings the tables of an older version to its own in one transaction, and keeps what they have",
    () =>
      withBlocks(({ branches, database, db, source }) =>
        Effect.gen(function*() {
          const first = yield* exporting(source, database)
          yield* exported(database, branches)
          yield* Fiber.interrupt(first)
          const connection = yield* connectTo(targetIn(database))
          const open = (...later: ReadonlyArray<Migration>) =>
            openSchema(connection, { schema: "svcd", network: "regtest", migrations: [...MIGRATIONS, ...later] })
          const version = Effect.map(rowsIn(database, "SELECT version FROM svcd.version"), ([row]) => row?.["version"])
          const operations = rowsIn(database, "SELECT count(*)::int AS count FROM svcd.name_operations")
          const [before, position] = [yield* operations, yield* open()]
          const withNotes: Migration = (schema) => [
            `ALTER TABLE ${schema}.blocks ADD COLUMN note text`,
            `UPDATE ${schema}.blocks SET note = 'old'`
          ]
          const broken: Migration = (schema) => [`ALTER TABLE ${schema}.no_such_table ADD COLUMN note text`]
          assert.include((yield* Effect.flip(open(withNotes, broken))).message, "(42P01)")
          const columns = rowsIn(
            database,
            "SELECT count(*)::int AS count FROM information_schema.columns WHERE table_schema = 'svcd' AND column_name = 'note'"
          )
          assert.deepStrictEqual([yield* version, yield* columns], [MIGRATIONS.length, [{ count: 0 }]])
          assert.deepStrictEqual(yield* open(withNotes), position)
          assert.deepStrictEqual(
            [yield* version, yield* columns, yield* operations],
            [MIGRATIONS.length + 1, [{ count: 1 }], before]
          )
          // A second start changes nothing, and an older program refuses the tables.
          assert.deepStrictEqual(yield* open(withNotes), position)
          assert.include((yield* Effect.flip(open())).message, "knows versions up to 1: update svcd")
          yield* assertEqual(db, database)
        })
      ),
    TIMEOUT
  )

  it.live(
    "goes back to a block that the daemon knows, where it does not know the last ones",
    () =>
      withBlocks(({ branches, chain, database, db, reorganize, source }) =>
        Effect.gen(function*() {
          const first = yield* exporting(source, database)
          yield* exported(database, branches)
          yield* Fiber.interrupt(first)
          for (const [i, last] of [50, 58, 20, 0].entries()) {
            // Blocks that this daemon has never seen.
            yield* rowsIn(
              database,
              `UPDATE svcd.blocks SET hash = sha256(hash), cursor = 'a' || right(cursor, -1) WHERE height > ${last}`
            )
            yield* rowsIn(
              database,
              `UPDATE svcd.cursor SET cursor = left(cursor, 18) || 'ffffffffffffffff'`
            )
            const said: Array<string> = []
            const next = yield* exporting(source, database, { said })
            yield* exported(database, branches)
            yield* assertEqual(db, database)
            assert.isTrue(said.some((line) => line.includes(`"to":${last}}`)), said.join("\n"))
            const steps = said.filter((line) => line.includes("blocks undone"))
            assert.isAtLeast(steps.length, (60 - last) / 25, said.join("\n"))
            yield* reorganize(2, 40 + i)
            yield* exported(database, branches)
            yield* assertEqual(db, database)
            yield* Fiber.interrupt(next)
          }
          // A daemon that is behind may come to these blocks: they are kept until it has synced.
          yield* rowsIn(database, "UPDATE svcd.blocks SET hash = sha256(hash) WHERE height > 20")
          yield* rowsIn(database, `UPDATE svcd.cursor SET cursor = left(cursor, 18) || 'ffffffffffffffff'`)
          const tip = branches.tip?.height ?? -1
          const said: Array<string> = []
          const behind = Effect.succeed({ height: 3, synced: false, proof: "work" } as const)
          const waiting = yield* exporting({ ...source, state: behind }, database, { said })
          const words = `the daemon syncs at block 3, and does not know block ${tip}`
          yield* eventually("an export that waits", () => said.some((line) => line.includes(words)))
          yield* Fiber.interrupt(waiting)
          assert.deepStrictEqual(yield* rowsIn(database, "SELECT height FROM svcd.cursor"), [{ height: tip }])
          const many = yield* Effect.flip(
            runExport({ source, target: targetIn(database), schema: "svcd", mostUndone: tip - 21 })
          )
          assert.strictEqual(
            many.message,
            `the daemon cannot continue after block ${tip}: it does not know the last ${
              tip - 20
            } blocks, and no more than ` +
              `${tip - 21} are undone. Drop the schema to export everything again, or follow another daemon`
          )
          // Nothing in common: the operator has to decide.
          yield* rowsIn(database, "UPDATE svcd.blocks SET hash = sha256(hash)")
          assert.include(yield* fails(source, database), "Drop the schema to export everything again")
          assert.isAbove(chain.length, 50)
        })
      ),
    TIMEOUT
  )

  it.live(
    "makes the index for texts without the limit of statements, and goes on without it",
    () =>
      withBlocks(({ branches, database, db, reorganize, source }) =>
        Effect.gen(function*() {
          const hasIndex = Effect.map(
            rowsIn(database, "SELECT to_regclass('svcd.names_by_text') IS NOT NULL AS found"),
            ([row]) => row?.["found"]
          )
          /** Exports a reorganization, without the index at first. */
          const again = (branch: number) =>
            Effect.scoped(Effect.gen(function*() {
              yield* rowsIn(database, "DROP INDEX IF EXISTS svcd.names_by_text")
              yield* reorganize(2, branch)
              const said: Array<string> = []
              yield* exporting(source, database, { said })
              yield* exported(database, branches)
              yield* assertEqual(db, database)
              return said
            }))
          const onIndex = (statement: string) =>
            rowsIn(
              database,
              `CREATE OR REPLACE FUNCTION on_index() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN ${statement}; END$$`
            )
          yield* again(70)
          assert.isTrue(yield* hasIndex)
          yield* onIndex("IF current_setting('statement_timeout') <> '0' THEN RAISE disk_full; END IF")
          yield* rowsIn(
            database,
            "CREATE EVENT TRIGGER on_index ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION on_index()"
          )
          yield* rowsIn("postgres", `ALTER DATABASE ${database} SET statement_timeout = '1h'`)
          yield* again(71)
          assert.isTrue(yield* hasIndex)
          yield* onIndex("RAISE disk_full")
          const full = yield* again(72)
          assert.isFalse(yield* hasIndex)
          assert.include(full.join("\n"), "their index cannot be made")
        })
      ),
    TIMEOUT
  )

  it.live(
    "begins again at its cursor where the daemon leaves out a block",
    () =>
      withBlocks(({ branches, chain, database, db, reorganize, source }) =>
        Effect.gen(function*() {
          // With pauses that add up, these would take longer than the test waits.
          const atEnd = Array.from({ length: 13 }, (_, i) => chain.length + 2 * i)
          const left: Array<number> = [35, ...atEnd]
          /** The daemon, which once leaves out each of these blocks. */
          const leaving = (lines: ReturnType<ExportSource["lines"]>) => {
            const height = left.shift()
            return Stream.filter(lines, ({ event }) => event.height !== height || event.type === "undone")
          }
          const said: Array<string> = []
          const failing = { ...source, lines: (from: string) => leaving(source.lines(from)) }
          const running = yield* exporting(failing, database, { said, pauses: { first: 20, longest: 120_000 } })
          yield* exported(database, branches)
          yield* assertEqual(db, database)
          for (let i = 0; i < 2 * atEnd.length; i++) yield* reorganize(0, 60 + i)
          yield* exported(database, branches)
          yield* assertEqual(db, database)
          for (const height of [35, ...atEnd]) {
            assert.isTrue(said.some((line) => line.includes(`block ${height + 1} came behind`)), said.join("\n"))
          }
          assert.isNull(running.unsafePoll())
        })
      ),
    TIMEOUT
  )

  it.live(
    "waits while the disk of the server is full",
    (context) =>
      withBlocks(({ branches, database, db, reorganize, source }) =>
        Effect.gen(function*() {
          const disk = join(server().directory, "disk")
          mkdirSync(disk)
          try {
            execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], { stdio: "ignore" })
          } catch {
            return context.skip("no file system can be mounted here")
          }
          yield* Effect.addFinalizer(() =>
            Effect.sync(() => void execFileSync("umount", ["-l", disk], { stdio: "ignore" }))
          )
          chmodSync(disk, 0o777)
          mkdirSync(join(disk, "space"))
          execFileSync("chown", ["postgres", join(disk, "space")])
          yield* rowsIn("postgres", `CREATE TABLESPACE small LOCATION '${join(disk, "space")}'`)
          const said: Array<string> = []
          const running = yield* exporting(source, database, { said })
          yield* exported(database, branches)
          yield* rowsIn(database, "ALTER TABLE svcd.name_operations SET TABLESPACE small")
          // Fills what is left.
          const full = join(disk, "full")
          execFileSync("sh", ["-c", `dd if=/dev/zero of=${full} bs=4096 2>/dev/null; true`])
          yield* reorganize(30, 50)
          yield* eventually("an attempt without space", () => said.some((line) => line.includes("(53100)")))
          rmSync(full)
          yield* exported(database, branches)
          yield* assertEqual(db, database)
          assert.isTrue(Exit.isSuccess(yield* Effect.exit(Fiber.interrupt(running))))
        })
      ),
    TIMEOUT
  )
})
