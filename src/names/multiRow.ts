import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import { query } from "./NamesFile.ts"

/** Statements over many rows of names.db. They run inside a transaction of the writer. */

/** Rows per statement. Few sizes give few texts, and the driver keeps them prepared. */
const CHUNK_SIZES = [256, 16, 1]

/** Splits a list into pieces of the chunk sizes. */
const chunksOf = function*<A>(rows: ReadonlyArray<A>): Iterable<ReadonlyArray<A>> {
  let at = 0
  for (const size of CHUNK_SIZES) {
    for (; rows.length - at >= size; at += size) yield rows.slice(at, at + size)
  }
}

/** A statement over rows. Its text depends on `head` and `tail` alone: there are few of them. */
export interface MultiRow<A> {
  readonly head: string
  readonly tail: string
  readonly columns: number
  /** Adds the values of a row. */
  readonly cells: (row: A, into: Array<unknown>) => void
}

const texts = new Map<string, string>()

const textOf = ({ columns, head, tail }: MultiRow<never>, rows: number): string => {
  const key = `${rows} ${head}`
  let text = texts.get(key)
  if (text === undefined) {
    const row = `(${Array.from({ length: columns }, () => "?").join(", ")})`
    text = `${head} VALUES ${Array.from({ length: rows }, () => row).join(", ")} ${tail}`
    texts.set(key, text)
  }
  return text
}

export interface RowWrites<A, Row> {
  readonly statement: MultiRow<A>
  readonly rows: ReadonlyArray<A>
  /** Receives the rows that the statement returns. */
  readonly use?: (returned: Row) => void
}

/** Runs a statement over all rows. */
export const runRows = <A, Row>(
  connection: Connection,
  { rows, statement, use }: RowWrites<A, Row>
): Effect.Effect<void, SqlError> =>
  Effect.forEach(chunksOf(rows), (chunk) => {
    const params: Array<unknown> = []
    for (const row of chunk) statement.cells(row, params)
    const returned = query<Row>(connection, textOf(statement, chunk.length), params)
    const used = Effect.map(returned, (rows) => use === undefined ? undefined : rows.forEach(use))
    return chunk.length === CHUNK_SIZES[0] ? Effect.zipLeft(used, turnOfEventLoop) : used
  }, { discard: true })
