import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turns.ts"
import { query } from "./NamesFile.ts"

/** Statements over many rows of names.db, inside a transaction of the writer. */

/** Rows per statement. Few sizes give few texts, which the driver keeps prepared. */
const CHUNK_SIZES = [256, 16, 1]

const chunksOf = function*<A>(rows: ReadonlyArray<A>): Iterable<ReadonlyArray<A>> {
  let at = 0
  for (const size of CHUNK_SIZES) {
    for (; rows.length - at >= size; at += size) yield rows.slice(at, at + size)
  }
}

/** A statement over rows. Its text depends only on `head` and `tail`, of which there are few. */
export interface MultiRow<A> {
  readonly head: string
  readonly tail: string
  readonly columns: number
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
  readonly use?: (returned: Row) => void
}

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
