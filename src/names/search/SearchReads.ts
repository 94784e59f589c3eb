import { type Bytes } from "../../protocol/bytes.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import type { SearchKey } from "../../values/searchable.ts"
import { type OperationRow, RECORD_COLUMNS } from "../NameEntry.ts"
import { endOfRange, rangeOf, textTable } from "./textRange.ts"

export type FoundRow = OperationRow & {
  readonly name: Buffer
  readonly nameId: number
  /** The value of the key by which the row was found; otherwise NULL. */
  readonly pair: string | null
}

export interface After<P> {
  readonly after: P
  readonly limit: number
}

export interface From {
  readonly from: Bytes
  readonly limit: number
}

const COLUMNS = `SELECT ${RECORD_COLUMNS}, n.name, n.id AS nameId`
const SELECT = `${COLUMNS}, NULL AS pair FROM`
const RECORD = "JOIN operations o ON o.id = n.operation"

/**
 * Reads of a search, directly on the driver. Each takes at most some milliseconds and sees the last commit. Methods
 * throw the driver's errors.
 */
export class SearchReads {
  readonly #database: Database
  readonly #progress: Statement<[], { readonly done: number; readonly all: number }>
  readonly #last: Statement<[], { readonly id: number | null }>
  readonly #exists: Statement<[string], { readonly one: number }>
  readonly #byPair: Statement<[string, string, number, number], FoundRow>
  readonly #byKey: Statement<[string, string, number, number], FoundRow>
  readonly #byOwner: Statement<[{ readonly owner: Bytes; readonly from: Bytes; readonly limit: number }], FoundRow>
  readonly #byOperation: Statement<[number, number], FoundRow>
  readonly #latest: Statement<[number, number], FoundRow>
  readonly #byName: Statement<[Bytes, number], FoundRow>
  /** By range, as a table may be dropped and made again. */
  readonly #byText = new Map<number, Statement<[string, number, number, number], FoundRow>>()

  constructor(database: Database) {
    this.#database = database
    this.#progress = database.prepare(
      `SELECT (SELECT operation FROM search) AS done, (SELECT max(operation) FROM names) AS "all"`
    )
    this.#last = database.prepare("SELECT max(id) AS id FROM names")
    this.#exists = database.prepare("SELECT 1 AS one FROM sqlite_master WHERE type = 'table' AND name = ?")
    this.#byPair = database.prepare(
      `${SELECT} name_keys k JOIN names n ON n.id = k.name_id ${RECORD}
       WHERE k.key = ? AND k.value = ? AND k.name_id > ? ORDER BY k.name_id LIMIT ?`
    )
    this.#byKey = database.prepare(
      `${COLUMNS}, k.value AS pair FROM name_keys k JOIN names n ON n.id = k.name_id ${RECORD}
       WHERE k.key = ? AND (k.value, k.name_id) > (?, ?) ORDER BY k.value, k.name_id LIMIT ?`
    )
    // IS, because a part of an empty script is NULL.
    this.#byOwner = database.prepare(
      `${SELECT} names n ${RECORD}
       WHERE substr(n.address, 4, 8) IS substr(@owner, 4, 8) AND n.address = @owner AND n.name >= @from
       ORDER BY n.name LIMIT @limit`
    )
    this.#byOperation = database.prepare(
      `${SELECT} names n ${RECORD} WHERE n.operation > ? ORDER BY n.operation LIMIT ?`
    )
    this.#latest = database.prepare(
      `${SELECT} names n ${RECORD} WHERE n.operation < ? ORDER BY n.operation DESC LIMIT ?`
    )
    this.#byName = database.prepare(`${SELECT} names n ${RECORD} WHERE n.name >= ? ORDER BY n.name LIMIT ?`)
  }

  /** The last operation in the indexes, and the last one of the names; -1 for none. */
  progress(): { readonly done: number; readonly all: number } {
    const row = this.#progress.get()
    return { done: row?.done ?? -1, all: row?.all ?? -1 }
  }

  /** Names whose text has all groups, from one range of ids, in order; `undefined` after the last range. */
  byText(groups: ReadonlyArray<string>, { after, limit }: After<number>): TextRows | undefined {
    const range = rangeOf(after + 1)
    const end = endOfRange(range)
    const last = this.#last.get()?.id ?? -1
    if (after >= last) return undefined
    if (this.#exists.get(textTable(range)) === undefined) {
      this.#byText.delete(range)
      return { rows: [], end }
    }
    let statement = this.#byText.get(range)
    if (statement === undefined) {
      const table = textTable(range)
      statement = this.#database.prepare(
        `${SELECT} ${table} t JOIN names n ON n.id = t.rowid ${RECORD}
         WHERE ${table} MATCH ? AND t.rowid > ? AND t.rowid <= ? ORDER BY t.rowid LIMIT ?`
      )
      this.#byText.set(range, statement)
    }
    const match = groups.map((group) => `"${group.replaceAll("\"", "\"\"")}"`).join(" AND ")
    return { rows: statement.all(match, after, end, limit), end }
  }

  byPair(
    { key, value }: { readonly key: SearchKey; readonly value: string },
    { after, limit }: After<number>
  ): ReadonlyArray<FoundRow> {
    return this.#byPair.all(key, value, after, limit)
  }

  /** Names with a key, ordered by its value and then by id. A name with several values comes several times. */
  byKey(
    key: SearchKey,
    { after, limit }: After<{ readonly value: string; readonly id: number }>
  ): ReadonlyArray<FoundRow> {
    return this.#byKey.all(key, after.value, after.id, limit)
  }

  byOwner(owner: Bytes, { from, limit }: From): ReadonlyArray<FoundRow> {
    return this.#byOwner.all({ owner, from, limit })
  }

  byOperation({ after, limit }: After<number>): ReadonlyArray<FoundRow> {
    return this.#byOperation.all(after, limit)
  }

  /** Names by their last operation, newest first. `after` is the number of the previous one. */
  latest({ after, limit }: After<number>): ReadonlyArray<FoundRow> {
    return this.#latest.all(after, limit)
  }

  byName({ from, limit }: From): ReadonlyArray<FoundRow> {
    return this.#byName.all(from, limit)
  }
}

export interface TextRows {
  readonly rows: ReadonlyArray<FoundRow>
  readonly end: number
}
