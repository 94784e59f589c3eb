import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Layer, Logger } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as TxIndex from "../../src/chain/TxIndex.ts"
import type { Block } from "../../src/protocol/block.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { blocksOf, temporaryDirectory, type TestChain, withChain } from "../support/chain.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { checkAll, damageOf, doubted, flipIn, spoilPages, untilSound } from "../support/liveDamage.ts"

interface Stale {
  readonly branches: ReadonlyArray<{
    readonly forkHeight: number
    readonly hashes: ReadonlyArray<string>
    readonly overtakenAt: number
  }>
}

type Index = typeof TxIndex.TxIndex.Service

const blocks = blocksOf("regtest-names/blocks.dat")
const stale = blocksOf("regtest-names/stale.dat")
const branches = fixtureJson<Stale>("regtest-names/stale.json").branches

const layerIn = (directory: string) =>
  TxIndex.layer({ directory, pageSize: 4096 }).pipe(Layer.provide(DataHealth.layer))

/** A chain and an index that follows it, both in one directory. */
const withIndex = <A, E>(
  directory: string,
  use: (chain: TestChain, index: Index) => Effect.Effect<A, E>
) =>
  withChain(directory, (chain) =>
    Effect.gen(function*() {
      const index = yield* TxIndex.TxIndex
      assert.isDefined(index.follower)
      yield* chain.control.register(index.follower)
      return yield* use(chain, index)
    }).pipe(Effect.provide(layerIn(join(directory, "chainstate")))))

const hasExactly = (index: Index, list: ReadonlyArray<Block>) =>
  Effect.gen(function*() {
    for (const [height, { transactions }] of list.entries()) {
      for (const { txid } of transactions) assert.strictEqual(yield* index.heightOf(txid), height)
    }
  })

const submitAll = (chain: TestChain, list: ReadonlyArray<Block>) =>
  Effect.forEach(list, (block) => chain.sink.submit(block), { discard: true })

describe("TxIndex", () => {
  it.scopedLive("the index has the block of every transaction, genesis included, even after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const part = blocks.slice(0, 151)
      yield* withIndex(directory, (chain, index) =>
        Effect.gen(function*() {
          assert.isTrue(index.enabled)
          yield* submitAll(chain, part.slice(1))
          yield* hasExactly(index, part)
          const later = blocks[151]?.transactions[0]
          assert.isDefined(later)
          assert.isUndefined(yield* index.heightOf(later.txid))
        }))
      yield* withIndex(directory, (chain, index) =>
        Effect.gen(function*() {
          yield* hasExactly(index, part)
          yield* submitAll(chain, blocks.slice(151, 161))
          yield* hasExactly(index, blocks.slice(0, 161))
        }))
    }))

  it.scopedLive("the index catches up with an existing chain, and is rebuilt if its file is missing", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const part = blocks.slice(0, 61)
      yield* withChain(directory, (chain) => submitAll(chain, part.slice(1)))
      yield* withIndex(directory, (_, index) => hasExactly(index, part))
      rmSync(join(directory, "chainstate", "txindex.db"))
      yield* withIndex(directory, (_, index) => hasExactly(index, part))
    }))

  it.scopedLive("a reorg removes disconnected transactions, and moves those that return at another height", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const branch = branches.find(({ hashes }) => hashes.length >= 3)
      assert.isDefined(branch)
      const { forkHeight, hashes, overtakenAt } = branch
      const before = branches.slice(0, branches.indexOf(branch)).reduce((sum, one) => sum + one.hashes.length, 0)
      const side = stale.slice(before, before + hashes.length)
      yield* withIndex(directory, (chain, index) =>
        Effect.gen(function*() {
          yield* submitAll(chain, blocks.slice(1, forkHeight + 1))
          yield* submitAll(chain, side)
          yield* hasExactly(index, [...blocks.slice(0, forkHeight + 1), ...side])
          yield* submitAll(chain, blocks.slice(forkHeight + 1, overtakenAt + 1))
          const main = blocks.slice(0, overtakenAt + 1)
          yield* hasExactly(index, main)
          const kept = new Set(main.flatMap(({ transactions }) => transactions.map(({ txid }) => toHex(txid))))
          const gone = side.flatMap(({ transactions }) => transactions).filter(({ txid }) => !kept.has(toHex(txid)))
          assert.isAbove(gone.length, 2)
          for (const { txid } of gone) assert.isUndefined(yield* index.heightOf(txid))
        }))
    }))

  it.scopedLive("the index reports a file of another program or a newer version, with a remedy", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "txindex.db")
      const fails = Effect.flip(Effect.provide(TxIndex.TxIndex, layerIn(directory)))
      const make = (sql: string): void => {
        for (const end of ["", ".sums"]) rmSync(`${file}${end}`, { force: true })
        const database = new SQLite(file)
        database.exec(sql)
        database.close()
      }
      for (
        const damage of [
          () => make("CREATE TABLE something (x); PRAGMA user_version = 1"),
          () => make("PRAGMA user_version = 9")
        ]
      ) {
        damage()
        const failure = yield* fails
        assert.strictEqual(failure._tag, "StorageCorrupted")
        assert.include(failure.message, `${file} is corrupted: `)
        assert.include(failure.message, "delete the file and start again")
      }
    }))

  it.scopedLive("a file that is not a database is replaced by an empty index", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      writeFileSync(join(directory, "txindex.db"), Buffer.alloc(5000, 0x5a))
      const index = yield* Effect.provide(TxIndex.TxIndex, layerIn(directory))
      assert.isTrue(index.enabled)
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.scopedLive.each([
    { what: "a bit flips that SQLite reads without complaint, at the check", noticed: "check" as const },
    { what: "its pages cannot be read, at a question", noticed: "read" as const }
  ])("the index is rebuilt while the chain runs, when $what", ({ noticed }) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const some = blocks.slice(0, 120)
      yield* withIndex(directory, (chain) => submitAll(chain, some.slice(1)))
      const file = join(directory, "chainstate", "txindex.db")
      const { txid } = some[60]?.transactions[0] ?? assert.fail("no transaction")
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const index = yield* TxIndex.TxIndex
          if (index.follower === undefined) return assert.fail("the index is off")
          yield* chain.control.register(index.follower)
          if (noticed === "check") {
            flipIn(file, txid)
            yield* checkAll("txindex.db")
          } else {
            spoilPages(file)
            assert.strictEqual((yield* Effect.flip(index.heightOf(txid)))._tag, "StorageCorrupted")
          }
          assert.deepStrictEqual(yield* doubted, ["txindex.db"])
          assert.strictEqual(yield* damageOf("txindex.db"), 1)
          yield* untilSound
          yield* hasExactly(index, some)
          yield* checkAll("txindex.db")
          assert.deepStrictEqual(yield* doubted, [])
        }).pipe(Effect.provide(TxIndex.layer({ directory: join(directory, "chainstate"), pageSize: 4096 }))))
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.effect("a disabled index has no transactions", () =>
    Effect.gen(function*() {
      const index = yield* TxIndex.TxIndex
      assert.deepStrictEqual([index.enabled, index.follower], [false, undefined])
      assert.isUndefined(yield* index.heightOf(new Uint8Array(32)))
    }).pipe(Effect.provide(TxIndex.layerOff)))
})
