import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ProofLevel } from "../light/proof.ts"
import { CopyRows } from "./CopyRows.ts"
import type { PostgresFailed } from "./failures.ts"
import type { BlockStep } from "./lines.ts"
import type { PgConnection } from "./PgConnection.ts"
import { BlockRows, type CurrentName, type RowWriter } from "./rows.ts"
import { channelOf, indexesOf, operationsByName } from "./schema.ts"

/** Each write is one transaction that moves the cursor with the rows. */

export interface DaemonState {
  readonly height: number
  readonly synced: boolean
  readonly proof: ProofLevel
}

export interface UndoneFrom {
  readonly height: number
  readonly cursor: string
}

interface CurrentQuery {
  readonly condition: string
  readonly params: ReadonlyArray<unknown>
  readonly limit?: string
}

/** Names whose rows are made at once when the first copy completes. */
const NAMES_AT_ONCE = 5_000

/** Days for which undone blocks are kept for readers with a cursor in one. */
const UNDONE_DAYS = 90

const Current = Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  script: Schema.String,
  txid: Schema.String,
  vout: Schema.Int,
  height: Schema.Int,
  number: Schema.Int
})

const Touched = Schema.Struct({ name: Schema.String })

const Place = Schema.Struct({ height: Schema.Int, hash: Schema.String, cursor: Schema.String })

export type StoredPlace = typeof Place.Type

export interface ExportStoreParts {
  readonly connection: PgConnection
  readonly schema: string
  readonly rows: RowWriter
  readonly committed: () => void
}

export class ExportStore {
  readonly #connection: PgConnection
  readonly #schema: string
  readonly #rows: RowWriter
  readonly #committed: () => void
  /** Keeps other fibers' statements out of a transaction. */
  readonly #alone = Effect.unsafeMakeSemaphore(1).withPermits(1)

  constructor({ committed, connection, rows, schema }: ExportStoreParts) {
    this.#connection = connection
    this.#schema = schema
    this.#rows = rows
    this.#committed = committed
  }

  /** Within the transaction of the rows. */
  #moveTo({ cursor, height }: UndoneFrom, beginning: number | undefined): Effect.Effect<void, PostgresFailed> {
    return this.#connection.set(
      `UPDATE ${this.#schema}.cursor SET height = $1, cursor = $2, beginning = greatest(beginning, $3),
        daemon_height = greatest(daemon_height, $1), checked_at = now()`,
      [height, cursor, beginning ?? -1]
    )
  }

  #notify(height: number, hash: string): Effect.Effect<void, PostgresFailed> {
    return this.#connection.set("SELECT pg_notify($1, $2)", [channelOf(this.#schema), `${height} ${hash}`])
  }

  #copyBlocks({ blocks, operations }: BlockRows): Effect.Effect<void, PostgresFailed> {
    return Effect.zipRight(
      this.#connection.copy({ table: `${this.#schema}.blocks`, rows: blocks }),
      this.#connection.copy({ table: `${this.#schema}.name_operations`, rows: operations })
    )
  }

  #copyNames(names: Iterable<CurrentName>): Effect.Effect<void, PostgresFailed> {
    const [rows, keys] = [new CopyRows(), new CopyRows()]
    for (const name of names) {
      this.#rows.name(rows, name)
      this.#rows.keys(keys, name)
    }
    return Effect.zipRight(
      this.#connection.copy({ table: `${this.#schema}.names`, rows }),
      this.#connection.copy({ table: `${this.#schema}.name_keys`, rows: keys })
    )
  }

  #dropNames(names: ReadonlyArray<string>): Effect.Effect<void, PostgresFailed> {
    const these = "name IN (SELECT decode(hex, 'hex') FROM unnest($1::text[]) hex)"
    return Effect.zipRight(
      this.#connection.set(`DELETE FROM ${this.#schema}.names WHERE ${these}`, [names]),
      this.#connection.set(`DELETE FROM ${this.#schema}.name_keys WHERE ${these}`, [names])
    )
  }

  #current({ condition, limit, params }: CurrentQuery): Effect.Effect<ReadonlyArray<CurrentName>, PostgresFailed> {
    return this.#connection.rows(
      Current,
      `SELECT DISTINCT ON (o.name) encode(o.name, 'hex') AS name, encode(value, 'hex') AS value,
          encode(owner, 'hex') AS script, encode(txid, 'hex') AS txid, vout, height, number
        FROM ${this.#schema}.name_operations o WHERE ${condition}
        ORDER BY o.name, height DESC, number DESC ${limit ?? ""}`,
      params
    )
  }

  #transaction<A>(work: Effect.Effect<A, PostgresFailed>): Effect.Effect<A, PostgresFailed> {
    return Effect.tap(this.#alone(this.#connection.transaction(work)), () => this.#committed())
  }

  newRows(): BlockRows {
    return new BlockRows(this.#rows)
  }

  /** During the first copy: operations only. */
  append(rows: BlockRows): Effect.Effect<void, PostgresFailed> {
    const { beginning, last } = rows
    if (last === undefined) return Effect.void
    return this.#transaction(Effect.zipRight(this.#copyBlocks(rows), this.#moveTo(last, beginning)))
  }

  /** Adds names, their keys, and the indexes. */
  complete(): Effect.Effect<void, PostgresFailed> {
    const [connection, schema] = [this.#connection, this.#schema]
    return this.#transaction(Effect.gen(this, function*() {
      // This reads and sorts everything once: limits meant for clients' statements do not fit.
      yield* connection.run(
        "SET LOCAL statement_timeout = 0",
        "SET LOCAL maintenance_work_mem = '256MB'",
        operationsByName(schema),
        `ANALYZE ${schema}.name_operations`
      )
      for (let last: string | undefined;;) {
        const found = yield* this.#current({
          condition: last === undefined ? "true" : "name > decode($1, 'hex')",
          params: last === undefined ? [] : [last],
          limit: `LIMIT ${NAMES_AT_ONCE}`
        })
        yield* this.#copyNames(found)
        last = found.at(-1)?.name
        if (found.length < NAMES_AT_ONCE) break
      }
      yield* connection.run(...indexesOf(schema), `ANALYZE ${schema}.names`)
      yield* connection.run(`UPDATE ${schema}.cursor SET complete = true`)
      yield* this.#notify(-1, "")
    }))
  }

  connect(step: BlockStep): Effect.Effect<void, PostgresFailed> {
    const { beginning, block } = step
    const { hash, height, operations } = block
    const rows = this.newRows()
    rows.add(step)
    return this.#transaction(Effect.gen(this, function*() {
      yield* this.#copyBlocks(rows)
      if (operations.length > 0) {
        // The last operation of the block on each name.
        const names = new Map(operations.map((operation) => [operation.name, { ...operation, height }]))
        yield* this.#dropNames([...names.keys()])
        yield* this.#copyNames(names.values())
      }
      yield* this.#moveTo(block, beginning)
      yield* this.#notify(height, hash)
    }))
  }

  /** Undoes blocks from a height on, keeping their changes for readers. */
  undo({ cursor, height }: UndoneFrom): Effect.Effect<void, PostgresFailed> {
    const [connection, schema] = [this.#connection, this.#schema]
    return this.#transaction(Effect.gen(this, function*() {
      yield* connection.set(
        `INSERT INTO ${schema}.undone_blocks (hash, height, parent)
          SELECT b.hash, b.height, coalesce(p.hash, '') FROM ${schema}.blocks b
          LEFT JOIN ${schema}.blocks p ON p.height = b.height - 1 WHERE b.height >= $1
          ON CONFLICT (hash) DO UPDATE SET at = now()`,
        [height]
      )
      yield* connection.set(
        `INSERT INTO ${schema}.undone_names (hash, number, name, owner)
          SELECT b.hash, o.number, o.name, o.owner FROM ${schema}.name_operations o
          JOIN ${schema}.blocks b ON b.height = o.height WHERE o.height >= $1 ON CONFLICT DO NOTHING`,
        [height]
      )
      yield* connection.run(
        `DELETE FROM ${schema}.undone_blocks WHERE at < now() - interval '${UNDONE_DAYS} days'`
      )
      const touched = yield* connection.rows(
        Touched,
        `DELETE FROM ${schema}.name_operations WHERE height >= $1 RETURNING encode(name, 'hex') AS name`,
        [height]
      )
      yield* connection.set(`DELETE FROM ${schema}.blocks WHERE height >= $1`, [height])
      // During the first copy there are no names yet, and these tables are empty.
      const [state] = yield* connection.rows(
        Schema.Struct({ complete: Schema.Boolean }),
        `SELECT complete FROM ${schema}.cursor`
      )
      if (state?.complete === true && touched.length > 0) {
        const names = [...new Set(touched.map(({ name }) => name))]
        yield* this.#dropNames(names)
        const condition = "name IN (SELECT decode(hex, 'hex') FROM unnest($1::text[]) hex)"
        yield* this.#copyNames(yield* this.#current({ condition, params: [names] }))
      }
      yield* this.#moveTo({ height: height - 1, cursor }, undefined)
      yield* this.#notify(height - 1, "")
    }))
  }

  /** Readers trust the completeness of names only while this is recent. */
  checked({ height, proof, synced }: DaemonState): Effect.Effect<void, PostgresFailed> {
    return this.#alone(this.#connection.set(
      `UPDATE ${this.#schema}.cursor SET daemon_height = $1, synced = $2, proof = $3, checked_at = now()`,
      [height, synced, proof]
    ))
  }

  /** The last block up to a height, where the daemon may still agree. */
  placeBelow(height: number): Effect.Effect<StoredPlace | undefined, PostgresFailed> {
    return Effect.map(
      this.#connection.rows(
        Place,
        `SELECT height, encode(hash, 'hex') AS hash, cursor FROM ${this.#schema}.blocks
          WHERE height <= $1 ORDER BY height DESC LIMIT 1`,
        [height]
      ),
      ([place]) => place
    )
  }
}
