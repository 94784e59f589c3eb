/**
 * The tables of an export, in their own PostgreSQL schema (docs/postgres.md). Hashes are in display order, so that
 * `encode(hash, 'hex')` is the usual text. A released version never changes: a change is a new migration.
 */

export const versionTable = (schema: string): string =>
  `CREATE TABLE ${schema}.version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version integer NOT NULL)`

export const DEFAULT_SCHEMA = "svcd"

/** Where `NOTIFY` reports changed names of a schema. */
export const channelOf = (schema: string): string => `${schema}_block`

/** Needs no quotes unless reserved, and leaves room for the channel name. */
export const isSchemaName = (text: string): boolean => /^[a-z_][a-z0-9_]{0,47}$/.test(text) && !text.startsWith("pg_")

/** Secondary indexes follow after the first copy. */
const FIRST = (schema: string): ReadonlyArray<string> => [
  `CREATE TYPE ${schema}.operation AS ENUM ('registered', 'updated', 'renewed', 'transferred', 'cleared')`,
  `CREATE TABLE ${schema}.blocks (
    height integer PRIMARY KEY,
    hash bytea NOT NULL,
    time timestamptz NOT NULL,
    operations integer NOT NULL,
    cursor text NOT NULL
  )`,
  `CREATE TABLE ${schema}.name_operations (
    height integer NOT NULL,
    number integer NOT NULL,
    type ${schema}.operation NOT NULL,
    name bytea NOT NULL,
    value bytea NOT NULL,
    owner bytea NOT NULL,
    address text,
    txid bytea NOT NULL,
    vout integer NOT NULL,
    PRIMARY KEY (height, number)
  )`,
  `CREATE TABLE ${schema}.names (
    name bytea PRIMARY KEY,
    name_text text,
    namespace text,
    height integer NOT NULL,
    number integer NOT NULL,
    expires_at integer NOT NULL,
    value bytea NOT NULL,
    value_text text,
    json jsonb,
    owner bytea NOT NULL,
    address text,
    txid bytea NOT NULL,
    vout integer NOT NULL,
    search text NOT NULL
  )`,
  `CREATE TABLE ${schema}.name_keys (
    name bytea NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (key, value, name)
  )`,
  `CREATE TABLE ${schema}.undone_blocks (
    hash bytea PRIMARY KEY,
    height integer NOT NULL,
    parent bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE ${schema}.undone_names (
    hash bytea NOT NULL REFERENCES ${schema}.undone_blocks ON DELETE CASCADE,
    number integer NOT NULL,
    name bytea NOT NULL,
    owner bytea NOT NULL,
    PRIMARY KEY (hash, number)
  )`,
  `CREATE TABLE ${schema}.cursor (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    network text NOT NULL,
    height integer NOT NULL,
    cursor text NOT NULL,
    beginning integer NOT NULL,
    complete boolean NOT NULL,
    daemon_height integer NOT NULL,
    synced boolean NOT NULL,
    proof text NOT NULL,
    checked_at timestamptz NOT NULL
  )`,
  `CREATE VIEW ${schema}.living_names AS
    SELECT n.*, n.expires_at - c.height AS expires_in
    FROM ${schema}.names n CROSS JOIN ${schema}.cursor c WHERE n.expires_at > c.height`
]

/** From the preceding version. */
export type Migration = (schema: string) => ReadonlyArray<string>

/** One per version, the first from nothing. */
export const MIGRATIONS: ReadonlyArray<Migration> = [FIRST]

export const SCHEMA_VERSION = MIGRATIONS.length

/** Created when the first copy is complete. */
export const indexesOf = (schema: string): ReadonlyArray<string> => [
  `CREATE INDEX IF NOT EXISTS names_by_operation ON ${schema}.names (height, number)`,
  `CREATE INDEX IF NOT EXISTS names_by_length ON ${schema}.names (length(name), name)`,
  `CREATE INDEX IF NOT EXISTS names_by_owner ON ${schema}.names (owner) WHERE length(owner) <= 1024`,
  `CREATE INDEX IF NOT EXISTS names_by_address ON ${schema}.names (address)`,
  `CREATE INDEX IF NOT EXISTS names_by_expiry ON ${schema}.names (expires_at)`,
  `CREATE INDEX IF NOT EXISTS names_by_json ON ${schema}.names USING gin (json jsonb_path_ops)`,
  `CREATE INDEX IF NOT EXISTS name_keys_by_name ON ${schema}.name_keys (name)`,
  `CREATE INDEX IF NOT EXISTS name_operations_by_txid ON ${schema}.name_operations (txid)`,
  `CREATE INDEX IF NOT EXISTS name_operations_by_address ON ${schema}.name_operations (address)`,
  `CREATE UNIQUE INDEX IF NOT EXISTS blocks_by_hash ON ${schema}.blocks (hash)`
]

/** Serves the last operation on each name, even while blocks are undone. */
export const operationsByName = (schema: string): string =>
  "CREATE INDEX IF NOT EXISTS name_operations_by_name " +
  `ON ${schema}.name_operations (name, height DESC, number DESC)`

/** With the schema of the extension pg_trgm, which a server may lack. */
export const textIndex = ({ extension, schema }: { readonly schema: string; readonly extension: string }): string =>
  `CREATE INDEX IF NOT EXISTS names_by_text ON ${schema}.names USING gin (search ${extension}.gin_trgm_ops)`
