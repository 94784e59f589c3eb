import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { repeated, rowWriter } from "../../storage/rowWriter.ts"
import type { ConnectedBlock, Cursor, Follower } from "../write/Follower.ts"
import { type HashRow, HashRows, prefixOf } from "./hashRows.ts"
import { type IndexDefinition, type IndexPlace, openIndex } from "./IndexStore.ts"
import { LastTouched, type TouchedScripts } from "./LastTouched.ts"

/** Heights up to the last block of the index. */
export interface HeightsFound {
  /** Ascending. Other blocks at these heights, and blocks without what was asked for, may be among them. */
  readonly heights: ReadonlyArray<Height>
  /** The last block of the index; `undefined` for an empty one. */
  readonly at: Cursor | undefined
}

export interface HeightsWanted {
  /** A script hash or a txid, as bytes. */
  readonly hash: Bytes
  /** Only blocks above this height. */
  readonly above?: Height
  /** Maximum heights. If there are more, these are any of them. */
  readonly limit: number
}

/**
 * The blocks in which a script or a transaction occurs (`-electrumindex`): those that fund or spend outputs of a
 * script, by its hash, and those of transactions, by their txid.
 */
export interface ScriptIndex {
  readonly follower: Follower
  readonly heights: (wanted: HeightsWanted) => Effect.Effect<HeightsFound, StorageFailure>
  readonly at: Effect.Effect<Cursor | undefined, StorageFailure>
  /** Calls the listener after each change of the index, until the scope ends. */
  readonly listen: (listener: (touched: TouchedScripts) => void) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * A B-tree with keys in random order writes a page for each row. So rows are stored by the part, one after the other:
 * each is written in order, and readers look into all of them. Rows of blocks that left the chain stay.
 */
const TABLES = `CREATE TABLE places (
  part INTEGER NOT NULL,
  prefix INTEGER NOT NULL,
  height INTEGER NOT NULL,
  PRIMARY KEY (part, prefix, height)
) WITHOUT ROWID, STRICT;
CREATE TABLE parts (part INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;`

export interface PartSizes {
  /** Rows of a part: 8 bytes each while they are in memory. */
  readonly partRows: number
  /** Rows written in one turn of the event loop. */
  readonly rowsATurn: number
}

/** The main chain has some twenty parts. */
const SIZES: PartSizes = { partRows: 2_000_000, rowsATurn: 4_096 }

interface PlaceRow extends HashRow {
  readonly part: number
}

interface Part {
  readonly part: number
  readonly count: number
}

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    heights: statement<[number, Height, Height, number], { readonly height: Height }>(
      `SELECT DISTINCT places.height FROM parts CROSS JOIN places
       ON places.part = parts.part AND places.prefix = ? AND places.height > ? AND places.height <= ? LIMIT ?`
    ),
    cursor: statement<[], { readonly height: Height; readonly hash: Buffer }>("SELECT height, hash FROM cursor"),
    insert: rowWriter<PlaceRow>(
      database,
      (rows) => `INSERT OR IGNORE INTO places (part, prefix, height) VALUES ${repeated("(?, ?, ?)", rows)}`,
      ({ height, part, prefix }, cells) => cells.push(part, prefix, height)
    ),
    lastPart: statement<[], Part>("SELECT part, count FROM parts ORDER BY part DESC LIMIT 1"),
    putPart: statement<[number, number], never>("INSERT OR REPLACE INTO parts (part, count) VALUES (?, ?)")
  }
}

type Statements = ReturnType<typeof prepare>

/** The part for so many more rows, with its count after them. */
const partFor = (store: Statements, more: number, { partRows }: PartSizes): Part => {
  const { count, part } = store.lastPart.get() ?? { part: 0, count: 0 }
  return count + more > partRows && count > 0 ? { part: part + 1, count: more } : { part, count: count + more }
}

const insertInto = (store: Statements, part: number, rows: ReadonlyArray<HashRow>): void =>
  store.insert(rows.map(({ height, prefix }) => ({ part, prefix, height })))

const add = (store: Statements, blocks: ReadonlyArray<ConnectedBlock>, sizes: PartSizes): void => {
  const rows = new HashRows(blocks)
  const { count, part } = partFor(store, rows.count, sizes)
  for (const list of rows.inOrder(sizes.rowsATurn)) insertInto(store, part, list)
  store.putPart.run(part, count)
}

const NAME = "electrumindex"

const definition = (sizes: PartSizes): IndexDefinition<Statements> => ({
  name: NAME,
  file: "electrum.db",
  what: "an index of scripts",
  tables: TABLES,
  prepare,
  needsCoins: true,
  apply: (store, blocks) => add(store, blocks, sizes),
  // Rows of other blocks cost their readers a look.
  rewind: () => {}
})

export const openScriptIndex = (place: IndexPlace, sizes: PartSizes = SIZES) =>
  Effect.map(openIndex(definition(sizes), place), ({ follower, read, write }): ScriptIndex => {
    const held = new HashRows()
    const listeners = new Set<(touched: TouchedScripts) => void>()
    const last = new LastTouched()

    /** Without listeners, nobody asks later what a block had touched. */
    const tell = (touched: () => TouchedScripts): Effect.Effect<void> =>
      Effect.sync(() => {
        if (listeners.size === 0) return last.clear()
        const found = touched()
        for (const listener of listeners) listener(found)
      })

    const tellAll = tell(() => {
      last.clear()
      return "all"
    })

    /** Stores the rows in slices, and only then moves the cursor: after a crash, blocks are added once more. */
    const store = (end: Cursor): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        const { count, part } = yield* read((statements) => partFor(statements, held.count, sizes))
        for (const rows of held.inOrder(sizes.rowsATurn)) {
          yield* write(undefined, (statements) => insertInto(statements, part, rows))
          yield* turnOfEventLoop
        }
        yield* write(end, (statements) => statements.putPart.run(part, count))
        held.clear()
        yield* tellAll
      })

    const settle = Effect.suspend(() => {
      const { count, last: end } = held
      return end === undefined ? Effect.void : store(end).pipe(
        Effect.uninterruptible,
        Effect.withSpan("svcd.index.settle", { attributes: { index: NAME, rows: count } })
      )
    })

    const hold = (blocks: ReadonlyArray<ConnectedBlock>): Effect.Effect<void, StorageFailure> =>
      Effect.suspend(() => {
        held.add(blocks)
        return held.count < sizes.partRows ? Effect.void : settle
      })

    return {
      follower: {
        ...follower,
        apply: (blocks) =>
          settle.pipe(Effect.zipRight(follower.apply(blocks)), Effect.zipRight(tell(() => last.add(blocks)))),
        rewind: (to) =>
          settle.pipe(
            Effect.zipRight(follower.rewind(to)),
            Effect.zipRight(tell(() => last.removeAbove(to.height)))
          ),
        bulk: { hold, settle },
        repair: {
          ...follower.repair,
          begin: Effect.suspend(() => {
            held.clear()
            last.clear()
            return follower.repair.begin
          })
        }
      },
      heights: ({ above = -1, hash, limit }) =>
        read((statements) => {
          const at = statements.cursor.get()
          const found = at === undefined ? [] : statements.heights.all(prefixOf(hash), above, at.height, limit)
          return { at, heights: found.map(({ height }) => height).toSorted((a, b) => a - b) }
        }),
      at: read((statements) => statements.cursor.get()),
      listen: (listener) =>
        Effect.acquireRelease(
          Effect.sync(() => void listeners.add(listener)),
          () => Effect.sync(() => void listeners.delete(listener))
        )
    }
  })
