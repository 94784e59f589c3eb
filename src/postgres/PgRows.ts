import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type * as Effect from "effect/Effect"
import { valueText } from "../client/record.ts"
import type { FixedPart } from "../client/records.ts"
import { type NameEntry, OPERATIONS_PER_BLOCK } from "../names/NameEntry.ts"
import { type Bytes, reversed, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"

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

export const hasName = <A extends NameRow>(row: A): row is A & FoundNameRow => row.name !== null

export const NAME_COLUMNS = "n.name, n.value, n.owner, n.address, n.txid, n.vout, n.height"

/** A row of `name_operations` as a record of its name. */
export interface OperationLogRow extends FoundNameRow {
  readonly number: number
  /** Whether it registered the name. */
  readonly first: boolean
}

/** The driver's buffer as plain bytes. */
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
