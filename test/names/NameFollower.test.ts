import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, FastCheck, Fiber } from "effect"
import { join } from "node:path"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import type { NameDb } from "../../src/names/NameDb.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { TsProcess } from "../support/tsProcess.ts"
import {
  applyAll,
  batches,
  blockAt,
  blocksWith,
  crashBlock,
  dump,
  hashAt,
  holdAll,
  type Operation,
  settled,
  text,
  withDb,
  withNewDb
} from "./blocks.ts"

type Db = typeof NameDb.Service

const name = text("d/example")

describe("apply", () => {
  it.effect("apply does nothing for an empty list of blocks", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* db.follower.apply([])
        assert.isUndefined(yield* db.cursor)
      })
    ))

  const dies = (db: Db, work: Effect.Effect<void, unknown>, message: RegExp) =>
    Effect.gen(function*() {
      const before = yield* db.cursor
      const exit = yield* Effect.exit(work)
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause), "it is our own fault")
      if (Exit.isFailure(exit)) assert.match(String(Cause.squash(exit.cause)), message)
      assert.deepStrictEqual(yield* db.cursor, before)
    })

  it.effect("apply dies on a gap or a repetition of blocks, and changes nothing", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* dies(db, db.follower.apply([blockAt(1, [{ name }])]), /block 1 is out of order, block 0 is expected/)
        yield* applyAll(db, [[blockAt(0), blockAt(1)]])
        yield* dies(db, db.follower.apply([blockAt(1, [{ name }])]), /block 1 is out of order, block 2 is expected/)
        yield* dies(
          db,
          db.follower.apply([blockAt(2), blockAt(4, [{ name }])]),
          /block 4 comes where block 3 should/
        )
        assert.strictEqual((yield* Effect.flip(db.resolve(name)))._tag, "NameNotFound")
        yield* applyAll(db, [[blockAt(2, [{ name }])]])
        assert.strictEqual((yield* db.resolve(name)).height, 2)
      })
    ))

  it.effect("an interrupted apply is rolled back", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const many = Array.from({ length: 2_000 }, (_, i) => ({ name: text(`d/${i}`) }))
        yield* applyAll(db, [[blockAt(0, [{ name }])]])
        yield* db.resolve(name)
        const applying = yield* Effect.fork(applyAll(db, [[blockAt(1, [{ name }, ...many])]]))
        yield* turnOfEventLoop
        yield* turnOfEventLoop
        yield* Fiber.interrupt(applying)
        assert.strictEqual((yield* db.cursor)?.height, 0)
        assert.strictEqual((yield* db.resolve(name)).height, 0)
        yield* applyAll(db, [[blockAt(1, [{ name }])]])
        assert.strictEqual((yield* db.resolve(name)).height, 1)
      })
    ))
})

describe("rewind", () => {
  it.effect("rewind dies on a block above the cursor and on an empty file", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const up = Effect.exit(db.follower.rewind({ height: 1, hash: hashAt(1) }))
        assert.isTrue(Exit.isFailure(yield* up))
        yield* applyAll(db, [[blockAt(0)]])
        assert.isTrue(Exit.isFailure(yield* up))
        yield* applyAll(db, [[blockAt(1)]])
        assert.isTrue(Exit.isSuccess(yield* up))
      })
    ))

  const operation: FastCheck.Arbitrary<Operation> = FastCheck.record({
    name: FastCheck.constantFrom(...["d/a", "d/b", "d/c", "id/a", ""].map(text)),
    value: FastCheck.uint8Array({ maxLength: 4 }),
    owner: FastCheck.constantFrom(text("alice"), text("bob")),
    rand: FastCheck.uint8Array({ maxLength: 2 })
  }, { requiredKeys: ["name", "value", "owner"] })

  it.scoped.prop("rewind restores every byte, and the same blocks lead to the same state again", {
    chain: FastCheck.array(FastCheck.array(operation, { maxLength: 5 }), { minLength: 1, maxLength: 12 }),
    fork: FastCheck.nat(11),
    size: FastCheck.integer({ min: 1, max: 5 })
  }, ({ chain, fork, size }) =>
    Effect.gen(function*() {
      const blocks = blocksWith(chain)
      const to = Math.min(fork, blocks.length - 1)
      const filename = join(yield* temporaryDirectory, "names.db")
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          yield* applyAll(db, batches(blocks.slice(0, to + 1), size))
          const before = dump(filename)
          yield* applyAll(db, batches(blocks.slice(to + 1), size))
          const after = dump(filename)
          yield* db.follower.rewind({ height: to, hash: hashAt(to) })
          assert.deepStrictEqual(dump(filename), before)
          yield* applyAll(db, batches(blocks.slice(to + 1), size + 1))
          assert.deepStrictEqual(dump(filename), after)
        }))
    }), { fastCheck: { numRuns: 40 } })

  it.scoped.prop("blocks that are held lead to the same file as blocks that are applied, across reorgs too", {
    steps: FastCheck.array(
      FastCheck.oneof(
        { weight: 4, arbitrary: FastCheck.array(FastCheck.array(operation, { maxLength: 5 }), { maxLength: 4 }) },
        { weight: 1, arbitrary: FastCheck.record({ back: FastCheck.integer({ min: 1, max: 6 }) }) },
        { weight: 1, arbitrary: FastCheck.constant("apply" as const) },
        { weight: 1, arbitrary: FastCheck.constant("settle" as const) }
      ),
      { maxLength: 12 }
    )
  }, ({ steps }) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [straight, held] = [join(directory, "straight.db"), join(directory, "held.db")]
      const same = () => assert.deepStrictEqual(dump(held), dump(straight))
      yield* withDb(straight, (one) =>
        withDb(held, (other) =>
          Effect.gen(function*() {
            yield* applyAll(one, [[blockAt(0)]])
            yield* applyAll(other, [[blockAt(0)]])
            let [height, next] = [0, "hold"]
            for (const step of steps) {
              if (step === "apply") next = step
              else if (step === "settle") yield* settled(other)
              else if ("back" in step) {
                height = Math.max(0, height - step.back)
                const to = { height, hash: hashAt(height) }
                yield* one.follower.rewind(to)
                yield* other.follower.rewind(to)
                same()
              } else {
                const blocks = step.map((list, i) => blockAt(height + 1 + i, list))
                height += blocks.length
                yield* applyAll(one, batches(blocks, 1))
                yield* (next === "hold" ? holdAll : applyAll)(other, [blocks])
                if (next === "apply") same()
                next = "hold"
              }
            }
            yield* settled(other)
            same()
          })))
    }), { fastCheck: { numRuns: 40 } })

  it.scoped("a long rewind in pieces gives the same state", () =>
    Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "names.db")
      // 200 blocks of 40 operations. A piece has 2,000 operations.
      const blocks = Array.from({ length: 200 }, (_, height) => crashBlock(height))
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          yield* applyAll(db, batches(blocks.slice(0, 50), 10))
          const before = dump(filename)
          // 2,000, 4,000 and 6,000 operations, and one block more and less.
          for (const last of [99, 100, 98, 149, 199]) {
            yield* applyAll(db, batches(blocks.slice(50, last + 1), 64))
            yield* db.follower.rewind({ height: 49, hash: hashAt(49) })
            assert.deepStrictEqual(dump(filename), before, `from ${last}`)
          }
        }))
    }))
})

describe("readers while blocks come in", () => {
  it.effect("readers see the state before or after a batch, and never return to the earlier one", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const names = Array.from({ length: 1_500 }, (_, i) => text(`d/${i}`))
        const blockOf = (height: number) => blockAt(height, names.map((name) => ({ name })))
        yield* applyAll(db, [[blockOf(0)]])
        // Some names are in the cache, others are not.
        for (const name of names.slice(0, 750)) yield* db.resolve(name)
        const watched = [0, 1, 700, 751, 1_499].map((i) => names[i] ?? name)
        let rounds = 0
        for (const to of [1, 2, "back"] as const) {
          const change = to === "back"
            ? db.follower.rewind({ height: 0, hash: hashAt(0) })
            : db.follower.apply([blockOf(to)])
          const changing = yield* Effect.fork(change)
          const heights: Array<number> = []
          while ((yield* Fiber.poll(changing))._tag === "None") {
            for (const name of watched) heights.push((yield* db.resolve(name)).height)
            rounds++
            yield* turnOfEventLoop
          }
          yield* Fiber.join(changing)
          for (const name of watched) heights.push((yield* db.resolve(name)).height)
          const changes = heights.filter((height, i) => i > 0 && height !== heights[i - 1])
          assert.deepStrictEqual(changes, [to === "back" ? 0 : to], `towards ${to}`)
        }
        assert.isAtLeast(rounds, 10, "the reader ran while the batches were written")
      })
    ))
})

describe("hold", () => {
  it.scoped("held blocks are not answered, are gone with the process, and are stored together", () =>
    Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "names.db")
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          yield* applyAll(db, [[blockAt(0)]])
          yield* holdAll(db, [[blockAt(1, [{ name }])], [blockAt(2), blockAt(3)]])
          assert.strictEqual((yield* db.cursor)?.height, 0)
          assert.strictEqual((yield* Effect.flip(db.resolve(name)))._tag, "NameNotFound")
        }))
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* db.cursor)?.height, 0)
          yield* holdAll(db, [[blockAt(1, [{ name }])], [blockAt(2)]])
          yield* settled(db)
          assert.strictEqual((yield* db.cursor)?.height, 2)
          assert.strictEqual((yield* db.resolve(name)).height, 1)
          yield* settled(db)
          assert.strictEqual((yield* db.cursor)?.height, 2)
        }))
    }))

  it.effect("hold dies on a gap, and keeps what it has", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        yield* holdAll(db, [[blockAt(0)], [blockAt(1)]])
        const exit = yield* Effect.exit(holdAll(db, [[blockAt(3)]]))
        assert.match(Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "", /block 3 comes where block 2 should/)
        yield* holdAll(db, [[blockAt(2)]])
        yield* settled(db)
        assert.strictEqual((yield* db.cursor)?.height, 2)
      })
    ))

  it.effect("hold stores by itself what has become too much for memory", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const large = { name, value: new Uint8Array(3 * 1024 * 1024) }
        yield* holdAll(db, [[blockAt(0, [large])], [blockAt(1, [large])]])
        assert.isUndefined(yield* db.cursor)
        yield* holdAll(db, [[blockAt(2, [large])]])
        assert.strictEqual((yield* db.cursor)?.height, 2)
        const many = Array.from({ length: 4_096 }, (_, i) => blockAt(3 + i))
        yield* holdAll(db, [many.slice(0, 4_095)])
        assert.strictEqual((yield* db.cursor)?.height, 2)
        yield* holdAll(db, [many.slice(4_095)])
        assert.strictEqual((yield* db.cursor)?.height, 4_098)
      })
    ))
})

describe("a killed process", () => {
  const CHILD = new URL("applyForever.ts", import.meta.url)

  it.scopedLive("a killed process leaves the file in the state after a whole batch", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const filename = join(directory, "names.db")
      let last = -1
      // The first batch of a process, and a later one.
      for (const batch of [1, 6]) {
        const child = new TsProcess(CHILD, [filename])
        yield* eventually(`batch ${batch}`, () => child.stdout.split("at ").length > batch)
        child.child.kill("SIGKILL")
        assert.strictEqual(yield* Effect.promise(() => child.ended), "SIGKILL")
        const cursor = yield* withDb(filename, (db) => db.cursor)
        const height = cursor?.height ?? -1
        const said = Number(/at (\d+)\n[^\n]*$/.exec(child.stdout)?.[1])
        assert.isAtLeast(height, said, "what it said is committed")
        assert.isAbove(height, last)
        last = height
        const straight = join(directory, `straight${batch}.db`)
        const blocks = Array.from({ length: height + 1 }, (_, at) => crashBlock(at))
        yield* withDb(straight, (db) => applyAll(db, batches(blocks, 50)))
        assert.deepStrictEqual(dump(filename), dump(straight))
      }
    }))
})
