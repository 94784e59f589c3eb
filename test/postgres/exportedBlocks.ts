import { assert } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import type { ExportSource } from "../../src/postgres/exporter.ts"
import { EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { applyAll, batches, blockAt, type Operation, STRANGE_VALUES, text } from "../names/blocks.ts"
import type { Branches } from "../names/events/world.ts"
import { rand, world } from "../web/events/served.ts"
import { newDatabase, rowsIn, sourceAt } from "./exported.ts"

/** A daemon whose values are hard to store, and the comparison of its names.db with the tables of an export. */

type Db = Parameters<Branches["events"]>[0]

const operationsAt = (height: number, branch: number): ReadonlyArray<Operation> =>
  [0, 1, 2].map((i) => {
    const number = height * 7 + branch * 3 + i
    return {
      name: number % 11 === 0 ? Uint8Array.of(0xff, number % 5, 0) : text(`d/${number % 40}`),
      value: STRANGE_VALUES[number % STRANGE_VALUES.length] ?? EMPTY,
      owner: text(`o${number % 5}`),
      ...number % 3 === 0 ? { rand } : {}
    }
  })

const blocksOf = (branch: number, from: number, count: number): ReadonlyArray<ConnectedBlock> =>
  Array.from({ length: count }, (_, i) => ({
    ...blockAt(from + i, operationsAt(from + i, branch)),
    hash: hash256(text(`${branch} ${from + i}`))
  }))

const rowText = (parts: ReadonlyArray<unknown>): string => parts.join(" ")

/** The rows of names.db, as the tables have to have them. */
const stored = (db: Db) =>
  db.readLog((log) => {
    const range = { from: 0, to: Number.MAX_SAFE_INTEGER }
    const textOf = (
      { id, record }: ReturnType<typeof log.operations>[number] | ReturnType<typeof log.newest>[number]
    ) =>
      rowText([
        record.height,
        id % 2 ** 20,
        toHex(record.name),
        toHex(record.value),
        toHex(record.address),
        toHex(record.txid.slice().reverse()),
        record.vout
      ])
    return {
      operations: log.operations(range, { limit: Number.MAX_SAFE_INTEGER, before: true }).map(textOf),
      names: log.newest(range, Number.MAX_SAFE_INTEGER).map(textOf)
    }
  })

const COLUMNS =
  `height, number, encode(name, 'hex') AS name, encode(value, 'hex') AS value, encode(owner, 'hex') AS owner,
  encode(txid, 'hex') AS txid, vout`

const tables = (database: string) =>
  Effect.gen(function*() {
    const of = (table: string) =>
      Effect.map(
        rowsIn(database, `SELECT ${COLUMNS} FROM svcd.${table} ORDER BY height, number`),
        (rows) => rows.map((row) => rowText(Object.values(row)))
      )
    return { operations: yield* of("name_operations"), names: yield* of("names") }
  })

/** Asserts that the tables have the rows of names.db. */
export const assertEqual = (db: Db, database: string) =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* tables(database), yield* stored(db))
  })

/** A daemon with sixty blocks. */
export const withBlocks = (
  use: (parts: {
    readonly db: Db
    readonly branches: Branches
    readonly chain: ReadonlyArray<ConnectedBlock>
    readonly source: ExportSource
    readonly database: string
    /** Replaces blocks at the end by more. */
    readonly reorganize: (depth: number, branch: number) => Effect.Effect<void, unknown>
  }) => Effect.Effect<void, unknown, Scope.Scope>
) =>
  world([], ({ branches, db, port }) =>
    Effect.scoped(Effect.gen(function*() {
      let chain = blocksOf(0, 0, 60)
      branches.add(chain)
      branches.tip = chain.at(-1)
      yield* applyAll(db, batches(chain, 30))
      const reorganize = (depth: number, branch: number) =>
        Effect.gen(function*() {
          const kept = chain.slice(0, chain.length - depth)
          const fork = kept.at(-1)
          if (fork === undefined) return assert.fail("the chain is long enough")
          const fresh = blocksOf(branch, kept.length, depth + 1)
          branches.add(fresh, fork)
          branches.tip = fresh.at(-1)
          yield* db.follower.rewind(fork)
          yield* applyAll(db, batches(fresh, 20))
          chain = [...kept, ...fresh]
        })
      const database = yield* newDatabase
      yield* use({ db, branches, chain, database, reorganize, source: yield* sourceAt(port, branches) })
    })))
