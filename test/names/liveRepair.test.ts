import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Stream } from "effect"
import { join } from "node:path"
import { healthAnswer } from "../../src/http/health.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import * as Names from "../../src/names/NameDb.ts"
import { DataHealth } from "../../src/storage/DataHealth.ts"
import { blocksOf, temporaryDirectory, type TestChain, withChain } from "../support/chain.ts"
import { HEALTHY } from "../support/healthy.ts"
import { checkAll, damageOf, doubted, flipIn, spoilPages, untilSound } from "../support/liveDamage.ts"

const blocks = blocksOf("regtest-names/blocks.dat").slice(0, 401)

/** A node with chain and names in a directory. */
const withNames = <A, E>(
  directory: string,
  use: (db: typeof NameDb.Service, chain: TestChain) => Effect.Effect<A, E, DataHealth>
) =>
  withChain(directory, (chain) =>
    Effect.gen(function*() {
      const db = yield* NameDb
      yield* chain.control.register(db.follower)
      return yield* use(db, chain)
    }).pipe(
      Effect.provide(Names.layer({ filename: join(directory, "names.db"), pageSize: 4096, cacheEntries: 0 }))
    )).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))

/** All answers about all names, one per line. */
const answers = (db: typeof NameDb.Service) =>
  Effect.gen(function*() {
    const records = [...yield* Stream.runCollect(db.scan({}))]
    const histories = yield* Effect.forEach(records, ({ name }) => db.history(name))
    return [yield* db.cursor, ...records, ...histories].map((answer) => JSON.stringify(answer))
  })

/** Reports the first difference, not both complete lists. */
const assertSame = (answers: ReadonlyArray<string>, before: ReadonlyArray<string>): void => {
  assert.strictEqual(answers.length, before.length)
  assert.strictEqual(answers.find((answer, i) => answer !== before[i]), undefined)
}

const filled = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const before = yield* withNames(
    directory,
    (db, chain) => Effect.zipRight(chain.sink.deliver(blocks.slice(1), false), answers(db))
  )
  assert.isAbove(before.length, 40)
  return { directory, before, file: join(directory, "names.db") }
})

const ready = Effect.gen(function*() {
  const { doubts, notices } = yield* DataHealth
  return healthAnswer("ready", { ...HEALTHY, doubts: yield* doubts, notices: yield* notices }).status
})

describe("names.db that is damaged while the node runs", () => {
  it.scopedLive(
    "damage is noticed by a read, is in doubt, and names.db is rebuilt with the same answers",
    () =>
      Effect.gen(function*() {
        const { before, directory, file } = yield* filled
        yield* withNames(directory, (db) =>
          Effect.gen(function*() {
            assert.strictEqual(yield* ready, 200)
            spoilPages(file)
            const failure = yield* Effect.flip(answers(db))
            assert.strictEqual(failure._tag, "StorageCorrupted")
            assert.deepStrictEqual(yield* doubted, ["names.db"])
            assert.strictEqual(yield* ready, 503)
            yield* untilSound
            assert.strictEqual(yield* ready, 200)
            assertSame(yield* answers(db), before)
            assert.strictEqual(yield* damageOf("names.db"), 1)
            yield* checkAll("names.db")
            assert.deepStrictEqual(yield* doubted, [])
          }))
        assertSame(yield* withNames(directory, answers), before)
      }),
    60_000
  )

  it.scopedLive(
    "a flipped bit that SQLite does not notice is found by the check, and names.db is rebuilt",
    () =>
      Effect.gen(function*() {
        const { before, directory, file } = yield* filled
        yield* withNames(directory, (db) =>
          Effect.gen(function*() {
            const records = [...yield* Stream.runCollect(db.scan({}))]
            const found = records.find(({ value }) => value.length > 12) ?? assert.fail("no value")
            flipIn(file, found.value)
            yield* checkAll("names.db")
            assert.deepStrictEqual(yield* doubted, ["names.db"])
            assert.strictEqual(yield* ready, 503)
            yield* untilSound
            assertSame(yield* answers(db), before)
          }))
      }),
    60_000
  )
})
