import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { LATEST_MIGRATION } from "../../src/names/migrations.ts"
import { TXID_PART } from "../../src/names/NameEntry.ts"
import { BY_TXID } from "../../src/names/PointReads.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { applyAll, blockAt, chainTo, effectOf, text, withDb, withNewDb } from "./blocks.ts"

const name = text("d/example")

describe("heightOfTransaction", () => {
  it.effect("finds transactions that changed a name, the last one for a repeated txid", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const twice = blockAt(2, [{ name }])
        yield* applyAll(db, [[blockAt(0), blockAt(1, [{ name }]), twice, { ...blockAt(3), effects: twice.effects }]])
        const { txid } = effectOf(1, { name }, 0).transaction
        assert.strictEqual(yield* db.heightOfTransaction(txid), 1)
        assert.strictEqual(yield* db.heightOfTransaction(twice.effects[0]?.transaction.txid ?? EMPTY), 3)
        const near = txid.slice()
        near[31] = (near[31] ?? 0) ^ 1
        assert.isUndefined(yield* db.heightOfTransaction(near))
      })
    ))

  // The index has parts of 2^14 blocks; a file that had operations before the parts has one index over all of them.
  it.effect.each(["parts", "all"])(
    "finds transactions of every part, with an index over %s",
    (over) =>
      Effect.scoped(Effect.gen(function*() {
        const filename = join(yield* temporaryDirectory, "names.db")
        const heights = [1, 16_383, 16_384, 20_000]
        const at = Object.fromEntries(heights.map((height) => [height, [{ name: text(`${height}`) }]]))
        yield* withDb(filename, (db) => applyAll(db, [chainTo(20_000, at)]))
        const database = new SQLite(filename)
        if (over === "all") {
          database.exec(`
          DROP INDEX operations_by_txid;
          CREATE INDEX operations_by_txid ON operations (substr(txid, 1, 8));
          DROP INDEX names_by_script;
          DROP INDEX names_without_script;
          ALTER TABLE names DROP COLUMN script;
          DELETE FROM effect_sql_migrations WHERE migration_id >= 6`)
        }
        database.close()
        // The sums are of the file before this change.
        if (over === "all") rmSync(`${filename}.sums`)
        yield* withDb(filename, (db) =>
          Effect.gen(function*() {
            for (const height of heights) {
              const { txid } = effectOf(height, { name: text(`${height}`) }, 0).transaction
              assert.strictEqual(yield* db.heightOfTransaction(txid), height)
            }
          }))
        const after = new SQLite(filename, { readonly: true })
        const index = after.prepare("SELECT sql FROM sqlite_schema WHERE name = 'operations_by_txid'").pluck().get()
        const plan = after.prepare<Array<unknown>, { readonly detail: string }>(`EXPLAIN QUERY PLAN ${BY_TXID}`)
          .all({ txid: EMPTY })
        const migrations = after.prepare("SELECT max(migration_id) FROM effect_sql_migrations").pluck().get()
        after.close()
        assert.strictEqual(String(index).includes(TXID_PART), over === "parts")
        // With both terms of the parts, or with the one of the index over all.
        const terms = over === "parts" ? "(<expr>=? AND <expr>=?)" : "(<expr>=?)"
        assert.include(plan.map(({ detail }) => detail), `SEARCH o USING INDEX operations_by_txid ${terms}`)
        assert.strictEqual(migrations, LATEST_MIGRATION)
      }))
  )
})
