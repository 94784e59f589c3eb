import SQLite from "better-sqlite3"
import { Effect, Layer, TestClock } from "effect"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { NameEffect } from "../../src/consensus/view.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { type Bytes, EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { makeTransaction } from "../../src/protocol/transaction.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { temporaryNames } from "../support/chainLayer.ts"
import { eventually } from "../support/eventually.ts"

/** Blocks as a follower of the chain receives them. Only their changes of names are real. */

export const text = (characters: string): Uint8Array => new TextEncoder().encode(characters)

/** Values that are hard to write as text or as JSON, each in some way. */
export const STRANGE_VALUES: ReadonlyArray<Uint8Array> = [
  EMPTY,
  Uint8Array.of(0),
  Uint8Array.of(0xff, 0xfe, 0x00, 0x41),
  text("a\0b"),
  text("back\\slash \\N tab\t newline\n return\r quote' \""),
  text("\\."),
  new Uint8Array(1_023).fill(0x61),
  new Uint8Array(1_023).fill(0xc3),
  text("{\"a\":\"\\u0000\"}"),
  text("{\"a\":\"\\ud800\"}"),
  text("{\"\\udc00\":1}"),
  text("{\"a\":1e400000}"),
  text("{\"a\":1e-99999}"),
  text("{\"text\":\"alice1e9999\",\"n\":1.5e3}"),
  text("[".repeat(500) + "]".repeat(500)),
  text("{\"ip\":\"192.0.2.1\",\"email\":\"a\\u0000b@example.com\",\"map\":{\"\":{\"ip6\":\"2001:db8::1\"}}}"),
  text("{\"a\":1,\"a\":2}"),
  text("\ufeff{}"),
  text("\"\u{1f600}\"")
]

/** A test's description of an operation. An owner is a letter or two; `rand` makes it a registration. */
export interface Operation {
  readonly name: Bytes
  readonly value?: Bytes
  readonly owner?: Bytes
  readonly rand?: Bytes
  readonly amount?: number
}

const genesis = decodeBlock(regtest.genesisBlock)

/** A distinct txid for each operation. */
const transactionOf = (height: number, index: number) =>
  makeTransaction({
    version: 0x7100,
    inputs: [],
    outputs: [{ value: 0, script: text(`${index}`) }],
    lockTime: height
  })

export const effectOf = (height: number, operation: Operation, index: number): NameEffect => {
  const { amount = 1_000_000, name, owner = text("a"), rand, value = text(`${height}.${index}`) } = operation
  return {
    name,
    operation: rand === undefined
      ? { op: "name_update", name, value }
      : { op: "name_firstupdate", name, rand, value },
    height,
    transaction: transactionOf(height, index),
    vout: index % 3,
    value: amount,
    address: owner
  }
}

export const hashAt = (height: number): Uint8Array => hash256(text(`block ${height}`))

/** The block at a height, with these operations in this order. */
export const blockAt = (height: number, operations: ReadonlyArray<Operation> = []): ConnectedBlock => ({
  height,
  hash: hashAt(height),
  block: genesis,
  effects: operations.map((operation, index) => effectOf(height, operation, index))
})

/** Blocks from genesis on. */
export const blocksWith = (operations: ReadonlyArray<ReadonlyArray<Operation>>): ReadonlyArray<ConnectedBlock> =>
  operations.map((list, height) => blockAt(height, list))

/** An empty block at each height up to the last, except for the given blocks. */
export const chainTo = (last: number, at: Readonly<Record<number, ReadonlyArray<Operation>>>) =>
  blocksWith(Array.from({ length: last + 1 }, (_, height) => at[height] ?? []))

/** Cuts blocks into batches of at most `size`. */
export const batches = <A>(blocks: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(blocks.length / size) }, (_, i) => blocks.slice(i * size, (i + 1) * size))

type Db = typeof NameDb.NameDb.Service

/** Opens names.db at a path, works with it, and closes it. */
export const withDb = <A, E, R>(
  filename: string,
  use: (db: Db) => Effect.Effect<A, E, R>,
  options: Partial<NameDb.NameDbOptions> = {}
) =>
  Effect.provide(
    Effect.flatMap(NameDb.NameDb, use),
    NameDb.layer({ filename, pageSize: 4096, ...options }).pipe(Layer.provide(DataHealth.layer))
  )

/** Works with an empty database. */
export const withNewDb = <A, E, R>(use: (db: Db) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.flatMap(NameDb.NameDb, use), Layer.provide(temporaryNames, DataHealth.layer))

export const applyAll = (db: Db, all: ReadonlyArray<ReadonlyArray<ConnectedBlock>>) =>
  Effect.forEach(all, (blocks) => db.follower.apply(blocks), { discard: true })

/** Gives blocks that the follower may keep in memory. */
export const holdAll = (db: Db, all: ReadonlyArray<ReadonlyArray<ConnectedBlock>>) =>
  Effect.forEach(all, (blocks) => db.follower.bulk?.hold(blocks) ?? Effect.dieMessage("it holds nothing"), {
    discard: true
  })

/** Stores what the follower keeps in memory. */
export const settled = (db: Db) => db.follower.bulk?.settle ?? Effect.void

/** Waits until the search indexes are complete: they are built some time of the test clock after the last block. */
export const searchBuilt = (db: Db) =>
  eventually(
    "the indexes are complete",
    Effect.zipRight(
      TestClock.adjust("2 seconds"),
      Effect.map(
        db.find({ changedSince: 1 }, { clock: { tipHeight: 0, params: regtestParams }, limit: 1 }),
        ({ indexed }) => indexed === 1
      )
    )
  )

const shown = (cell: unknown): unknown => cell instanceof Uint8Array ? toHex(cell) : cell

/** Every row of every table as text. Fails if SQLite finds the file damaged. */
export const dump = (filename: string): Readonly<Record<string, ReadonlyArray<unknown>>> => {
  const database = new SQLite(filename, { readonly: true })
  try {
    const integrity = database.pragma("integrity_check", { simple: true })
    if (integrity !== "ok") throw new Error(`integrity check: ${String(integrity)}`)
    const rows = (table: string) =>
      database.prepare(`SELECT * FROM ${table} ORDER BY 1`).raw().all().map((row) =>
        Array.isArray(row) ? row.map(shown) : row
      )
    return { names: rows("names"), operations: rows("operations"), cursor: rows("cursor"), blocks: rows("blocks") }
  } finally {
    database.close()
  }
}

/**
 * A block for a process that is to be killed: 40 operations on 200 names, some names twice. Depends on the height only.
 */
export const crashBlock = (height: number): ConnectedBlock =>
  blockAt(
    height,
    Array.from({ length: 40 }, (_, i) => ({
      name: text(`d/${(height * 31 + i * i) % 200}`),
      value: new Uint8Array(300).fill(height % 251),
      owner: text(`${(height + i) % 17}`)
    }))
  )
