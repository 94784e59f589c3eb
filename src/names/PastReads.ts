import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { encodeText } from "../protocol/nameText.ts"
import type { Database, Statement } from "../storage/Database.ts"
import { importedKey } from "../values/searchable.ts"
import {
  firstOperationAt,
  heightOfOperation,
  IMPORT_KEY,
  type NameEntry,
  nameEntryOf,
  type OperationRow,
  plain,
  RECORD_COLUMNS
} from "./NameEntry.ts"

interface NamedId {
  readonly name: Buffer
}

/** A value, and the height of the operation that set it. */
export type DatedValue = Pick<NameEntry, "height" | "value">

/** A name now and at an earlier block, expired or not. */
export interface NameStates {
  readonly name: Bytes
  readonly now: DatedValue
  /** `undefined` for a name that did not exist. */
  readonly before: DatedValue | undefined
}

type StatesRow = readonly [name: Buffer, id: number, value: Buffer, beforeId: number | null, before: Buffer]

/** Two blocks of the best chain. */
export interface Span {
  readonly from: Height
  readonly to: Height
}

/** Names whose states one statement reads: that takes a quarter of the time of a statement for each. */
export const STATES = 64

const datedValue = (id: number, value: Buffer): DatedValue => ({ height: heightOfOperation(id), value: plain(value) })

/**
 * Reads of what names.db knows about its last blocks, directly on the driver, for the changes between two of them. Each
 * call sees the last commit. Methods throw the driver's errors.
 */
export class PastReads {
  readonly #block: Statement<[Height], { readonly hash: Buffer }>
  readonly #operations: Statement<[number, number, number], NamedId>
  readonly #recordBefore: Statement<[Bytes, number], OperationRow>
  readonly #states: Statement<[number, ...ReadonlyArray<Bytes | null>], StatesRow>
  readonly #importers: Statement<[string, number], NamedId>

  constructor(database: Database) {
    this.#block = database.prepare("SELECT hash FROM blocks WHERE height = ?")
    this.#operations = database.prepare(
      `SELECT name FROM names
       WHERE id IN (SELECT DISTINCT name_id FROM operations WHERE id >= ? AND id < ?) ORDER BY name LIMIT ?`
    )
    // As in `PointReads`: with `+`, SQLite does not plan the join again for each name.
    this.#recordBefore = database.prepare(
      `SELECT ${RECORD_COLUMNS} FROM names n JOIN operations o ON o.name_id = n.id
       WHERE n.name = +? AND o.id < +? ORDER BY o.id DESC LIMIT 1`
    )
    this.#states = database.prepare<[number, ...ReadonlyArray<Bytes | null>], StatesRow>(
      `SELECT n.name, o.id, o.value, p.id, p.value FROM names n JOIN operations o ON o.id = n.operation
       LEFT JOIN operations p ON p.id = (SELECT max(q.id) FROM operations q WHERE q.name_id = n.id AND q.id < ?)
       WHERE n.name IN (${Array.from({ length: STATES }, () => "?").join()})`
    ).raw(true)
    // CROSS JOIN keeps the order of the tables: no scan of all keys.
    this.#importers = database.prepare(
      `SELECT DISTINCT n.name FROM json_each(?) t CROSS JOIN name_keys k CROSS JOIN names n
       WHERE k.key = '${IMPORT_KEY}' AND k.value = t.value AND n.id = k.name_id LIMIT ?`
    )
  }

  /** The hash of one of the last 300 blocks, in wire order; `undefined` for any other height. */
  blockAt(height: Height): Bytes | undefined {
    const row = this.#block.get(height)
    return row === undefined ? undefined : plain(row.hash)
  }

  /** Names with operations behind the block `from`, up to `to`. */
  changed({ from, to }: Span, limit: number): ReadonlyArray<Bytes> {
    return this.#named({ from: from + 1, to }, limit)
  }

  /** Names that lived at the block `from`, and expired up to `to` unless they were renewed. */
  expired({ from, to }: Span, params: ConsensusParams, limit: number): ReadonlyArray<Bytes> {
    const oldest = Math.max(0, from - expirationDepth(from, params) + 1)
    const youngest = to - expirationDepth(to, params)
    return youngest < oldest ? [] : this.#named({ from: oldest, to: youngest }, limit)
  }

  /** Names with operations at these heights. */
  #named({ from, to }: Span, limit: number): ReadonlyArray<Bytes> {
    return this.#operations.all(firstOperationAt(from), firstOperationAt(to + 1), limit).map(({ name }) => plain(name))
  }

  /** The record of a name at a block, expired or not. */
  recordAt(name: Bytes, height: Height): NameEntry | undefined {
    const row = this.#recordBefore.get(name, firstOperationAt(height + 1))
    return row === undefined ? undefined : nameEntryOf(name, row)
  }

  /** What names say now and at a block, in no order. Only names with a record, of the first `STATES`. */
  states(names: ReadonlyArray<Bytes>, height: Height): ReadonlyArray<NameStates> {
    const asked = Array.from({ length: STATES }, (_, at) => names[at] ?? null)
    return this.#states.all(firstOperationAt(height + 1), ...asked).map(([name, id, value, beforeId, before]) => ({
      name: plain(name),
      now: datedValue(id, value),
      before: beforeId === null ? undefined : datedValue(beforeId, before)
    }))
  }

  /**
   * Names whose current values import one of these, and perhaps some that do not, if the indexes are complete
   * (`SearchReads.progress`).
   */
  importersOf(names: ReadonlyArray<Bytes>, limit: number): ReadonlyArray<Bytes> {
    const keys = names.flatMap((name) => {
      const text = encodeText(name, "utf8")
      return text === undefined ? [] : [importedKey(text)]
    })
    return this.#importers.all(JSON.stringify(keys), limit).map(({ name }) => plain(name))
  }
}
