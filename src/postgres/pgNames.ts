import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { valueText } from "../client/record.ts"
import type { FixedPart } from "../client/records.ts"
import { prefixEnd } from "../names/nameChanges.ts"
import { type NameEntry, OPERATIONS_PER_BLOCK } from "../names/NameEntry.ts"
import type { NameQuery } from "../names/search/nameQuery.ts"
import { type Bytes, reversed, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { foldedText, searchValue } from "../values/searchable.ts"
import { replacedText } from "./rows.ts"

/** Each read is one statement, so that names and the block up to which they are known belong together. */

/** Rows of an export as readers get them, and what they mean. */

/** Where the tables are: the one row of `cursor`, with its age by the clock of the server. */
export interface StateRow {
  readonly at: number
  readonly complete: boolean
  readonly synced: boolean
  readonly proof: string
  readonly daemon_height: number
  /** Seconds since the exporter looked at its daemon. */
  readonly age: number
}

export const stateOf = (schema: string): string =>
  `SELECT height AS at, complete, synced, proof, daemon_height,
    extract(epoch FROM now() - checked_at)::float8 AS age FROM ${schema}.cursor`

/** A row of `names`. All are null where a state came without a name. */
export interface NameRow {
  readonly name: Buffer | null
  readonly value: Buffer
  readonly owner: Buffer
  readonly address: string | null
  readonly txid: Buffer
  readonly vout: number
  readonly height: number
}

export type FoundNameRow = NameRow & { readonly name: Buffer }

const hasName = <A extends NameRow>(row: A): row is A & FoundNameRow => row.name !== null

export const NAME_COLUMNS = "n.name, n.value, n.owner, n.address, n.txid, n.vout, n.height"

/** A row of `name_operations` as a record of its name. */
export interface OperationLogRow extends FoundNameRow {
  readonly number: number
  /** Whether it registered the name. */
  readonly first: boolean
}

export const bytesOf = (buffer: Buffer): Bytes => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)

/** `undefined` if the name is not UTF-8. */
export const fixedPartOf = ({ address, height, name, txid, value }: FoundNameRow): FixedPart | undefined => {
  const text = encodeText(bytesOf(name), "utf8")
  if (text === undefined) return undefined
  return { name: text, ...valueText(bytesOf(value)), address: address ?? "", txid: toHex(bytesOf(txid)), height }
}

/** The record as names.db has it, but for the locked amount, which is not exported. */
export const nameEntryIn = (row: FoundNameRow & { readonly first?: boolean }): NameEntry => ({
  name: bytesOf(row.name),
  value: bytesOf(row.value),
  height: row.height,
  txid: reversed(bytesOf(row.txid)),
  vout: row.vout,
  address: bytesOf(row.owner),
  op: row.first === true ? "name_firstupdate" : "name_update",
  amount: 0
})

/** The number of an operation, in the order of the chain: as in names.db. */
export const idOf = ({ height, number }: { readonly height: number; readonly number: number }): number =>
  height * OPERATIONS_PER_BLOCK + number

/** Rows of one statement. The caller knows their form: it wrote the statement. */
// positional: a statement, then its parameters, as the client has it
export const rowsOf = <A extends object>(
  sql: SqlClient,
  statement: string,
  params: ReadonlyArray<unknown> = []
): Effect.Effect<ReadonlyArray<A>, SqlError> => sql.unsafe<A>(statement, [...params])

export interface FoundRows {
  readonly state: StateRow
  readonly names: ReadonlyArray<FoundNameRow>
}

/** In list order: by length, then by bytes. */
export interface ListedNames {
  readonly prefix: Bytes
  readonly after: Bytes | undefined
  readonly limit: number
}

export interface SearchedNames {
  readonly query: NameQuery
  readonly after: Bytes
  readonly limit: number
}

/** Parameters of a statement, in order of use. */
class Params {
  readonly values: Array<unknown> = []

  /** Returns the placeholder. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Special in LIKE patterns. */
const PATTERN = /[\\%_]/g

const conditionsOf = ({ after, query }: SearchedNames, schema: string, params: Params): ReadonlyArray<string> => {
  const { changedSince, expiresWithin, includeExpired = false, key, owner, prefix, text, value } = query
  const found: Array<string> = []
  if (after.length > 0) found.push(`n.name > ${params.add(Buffer.from(after))}`)
  if (includeExpired === "only") found.push("n.expires_at <= c.at")
  if (includeExpired === false || expiresWithin !== undefined) found.push("n.expires_at > c.at")
  if (expiresWithin !== undefined) found.push(`n.expires_at <= c.at + ${params.add(expiresWithin)}::int8`)
  if (changedSince !== undefined) found.push(`n.height >= ${params.add(changedSince)}`)
  if (owner !== undefined) found.push(`n.owner = ${params.add(Buffer.from(owner))} AND length(n.owner) <= 1024`)
  if (prefix !== undefined) found.push(...prefixConditions(prefix, params))
  if (text !== undefined) {
    const pattern = replacedText(foldedText(text)).replaceAll(PATTERN, "\\$&")
    found.push(`n.search LIKE ${params.add(`%${pattern}%`)}`)
  }
  if (key !== undefined) {
    const wanted = value === undefined ? undefined : replacedText(searchValue({ key, value }))
    const pair = wanted === undefined ? "" : ` AND k.value = ${params.add(wanted)}`
    found.push(`n.name IN (SELECT k.name FROM ${schema}.name_keys k WHERE k.key = ${params.add(key)}${pair})`)
  }
  return found
}

const prefixConditions = (prefix: Bytes, params: Params): ReadonlyArray<string> => {
  const end = prefixEnd(prefix)
  const from = prefix.length === 0 ? [] : [`n.name >= ${params.add(Buffer.from(prefix))}`]
  return end === undefined ? from : [...from, `n.name < ${params.add(Buffer.from(end))}`]
}

export class PgNames {
  readonly #sql: SqlClient
  readonly #schema: string

  constructor(sql: SqlClient, schema: string) {
    this.#sql = sql
    this.#schema = schema
  }

  get state(): Effect.Effect<StateRow | undefined, SqlError> {
    return Effect.map(rowsOf<StateRow>(this.#sql, stateOf(this.#schema)), ([state]) => state)
  }

  /** `undefined` without a state: the tables are empty. */
  #read({ names, order, params }: {
    readonly names: string
    readonly order: string
    readonly params: ReadonlyArray<unknown>
  }): Effect.Effect<FoundRows | undefined, SqlError> {
    const statement = `SELECT c.*, n.* FROM (${
      stateOf(this.#schema)
    }) c LEFT JOIN LATERAL (${names}) n ON true ORDER BY ${order}`
    return Effect.map(
      rowsOf<StateRow & NameRow>(this.#sql, statement, params),
      (rows) => rows[0] === undefined ? undefined : { state: rows[0], names: rows.filter(hasName) }
    )
  }

  resolve(names: ReadonlyArray<Bytes>): Effect.Effect<FoundRows | undefined, SqlError> {
    const [first] = names
    const [condition, given] = names.length === 1 && first !== undefined
      ? ["n.name = $1", Buffer.from(first)]
      : ["n.name = ANY($1)", names.map((name) => Buffer.from(name))]
    return this.#read({
      names: `SELECT ${NAME_COLUMNS} FROM ${this.#schema}.names n WHERE ${condition}`,
      order: "n.name",
      params: [given]
    })
  }

  list({ after, limit, prefix }: ListedNames): Effect.Effect<FoundRows | undefined, SqlError> {
    const params = new Params()
    const conditions = ["n.expires_at > c.at", ...prefixConditions(prefix, params)]
    if (after !== undefined) {
      conditions.push(`(length(n.name), n.name) > (${after.length}, ${params.add(Buffer.from(after))})`)
    }
    return this.#read({
      names: `SELECT ${NAME_COLUMNS} FROM ${this.#schema}.names n WHERE ${conditions.join(" AND ")}
        ORDER BY length(n.name), n.name LIMIT ${params.add(limit)}`,
      order: "length(n.name), n.name",
      params: params.values
    })
  }

  /** Candidates in byte order; the caller compares each once more. */
  find(searched: SearchedNames): Effect.Effect<FoundRows | undefined, SqlError> {
    const params = new Params()
    const conditions = conditionsOf(searched, this.#schema, params)
    return this.#read({
      names: `SELECT ${NAME_COLUMNS} FROM ${this.#schema}.names n
        WHERE ${conditions.length === 0 ? "true" : conditions.join(" AND ")}
        ORDER BY n.name LIMIT ${params.add(searched.limit)}`,
      order: "n.name",
      params: params.values
    })
  }
}
