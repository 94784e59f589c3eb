import { existsSync } from "node:fs"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS } from "../storage/Database.ts"
import { StorageCorrupted } from "../storage/errors.ts"
import { type Inspected, newerThan } from "../storage/inspect.ts"
import type { PageGuard } from "../storage/PageGuard.ts"

// webhooks.db: each hook and its receiver's progress. Methods throw `StorageFailure`. Unlike the node's other databases
// it cannot be restored, and a commit is durable when it returns: a message must not be sent before its mark is on
// disk.

export const STORE_REMEDY =
  "Stop the node, move the file away and start again: webhooks of the configuration begin at " +
  "their from, those that were added over RPC are gone. Their receivers read what they missed from GET /events"

const MIGRATIONS = [
  `CREATE TABLE hooks (
     id TEXT PRIMARY KEY, source TEXT NOT NULL, url TEXT NOT NULL, secret TEXT, filter TEXT NOT NULL,
     state TEXT NOT NULL, position TEXT NOT NULL, sequence INTEGER NOT NULL,
     attempt_cursor TEXT, attempt_digest TEXT, attempt_undone INTEGER NOT NULL,
     failures INTEGER NOT NULL, failing_since INTEGER, next_attempt INTEGER NOT NULL,
     last_error TEXT, delivered INTEGER NOT NULL, delivered_at INTEGER
   ) STRICT;`,
  PAGES_HAVE_SUMS
]

export const inspectedHooks = (filename: string): Inspected => ({
  filename,
  what: "webhooks.db",
  remedy: STORE_REMEDY,
  newer: newerThan(MIGRATIONS.length, filename)
})

export const HOOK_SOURCES = ["configuration", "rpc"] as const
export type HookSource = (typeof HOOK_SOURCES)[number]

/**
 * What the node does with a hook: it sends (`active`), or waits for the operator because no message was accepted for 14
 * days (`dead`), the receiver answered 410 (`gone`), or the event log has no place for its cursor (`cursor`).
 */
export const STORED_STATES = ["active", "dead", "gone", "cursor"] as const
export type StoredHookState = (typeof STORED_STATES)[number]

/** A message that may have been received: it was sent, but no answer accepted it. */
export interface Attempt {
  /** The text of the cursor after it. */
  readonly cursor: string
  /** Digest of its body. */
  readonly digest: string
  readonly isUndone: boolean
}

/** A stored hook. Times are milliseconds since 1970. */
export interface HookRow {
  readonly id: string
  readonly source: HookSource
  readonly url: string
  /** Only for hooks added over RPC. The configuration file has the others. */
  readonly secret: string | undefined
  /** JSON. */
  readonly filter: string
  readonly state: StoredHookState
  /** The text of the cursor after the last accepted message, or after what the hook does not want. */
  readonly position: string
  /** The number of the last message. */
  readonly sequence: number
  readonly attempt: Attempt | undefined
  /** Failed attempts since the last accepted message. */
  readonly failures: number
  readonly failingSince: number | undefined
  readonly nextAttempt: number
  readonly lastError: string | undefined
  /** Accepted messages. */
  readonly delivered: number
  readonly deliveredAt: number | undefined
}

interface StoredRow {
  readonly id: string
  readonly source: string
  readonly url: string
  readonly secret: string | null
  readonly filter: string
  readonly state: string
  readonly position: string
  readonly sequence: number
  readonly attempt_cursor: string | null
  readonly attempt_digest: string | null
  readonly attempt_undone: number
  readonly failures: number
  readonly failing_since: number | null
  readonly next_attempt: number
  readonly last_error: string | null
  readonly delivered: number
  readonly delivered_at: number | null
}

const COLUMNS = "id, source, url, secret, filter, state, position, sequence, attempt_cursor, attempt_digest, " +
  "attempt_undone, failures, failing_since, next_attempt, last_error, delivered, delivered_at"

const prepare = (database: Database) => ({
  all: database.prepare<[], StoredRow>(`SELECT ${COLUMNS} FROM hooks ORDER BY rowid`),
  put: database.prepare<[StoredRow], never>(
    `INSERT INTO hooks (${COLUMNS}) VALUES (${COLUMNS.split(", ").map((column) => `$${column}`).join(", ")})
     ON CONFLICT (id) DO UPDATE SET ${
      COLUMNS.split(", ").slice(1).map((column) => `${column} = excluded.${column}`).join(", ")
    }`
  ),
  remove: database.prepare<[string], never>("DELETE FROM hooks WHERE id = ?")
})

const storedOf = (row: HookRow): StoredRow => ({
  id: row.id,
  source: row.source,
  url: row.url,
  secret: row.secret ?? null,
  filter: row.filter,
  state: row.state,
  position: row.position,
  sequence: row.sequence,
  attempt_cursor: row.attempt?.cursor ?? null,
  attempt_digest: row.attempt?.digest ?? null,
  attempt_undone: row.attempt?.isUndone === true ? 1 : 0,
  failures: row.failures,
  failing_since: row.failingSince ?? null,
  next_attempt: row.nextAttempt,
  last_error: row.lastError ?? null,
  delivered: row.delivered,
  delivered_at: row.deliveredAt ?? null
})

export class HookStore {
  readonly filename: string
  readonly guard: PageGuard
  private readonly statements: ReturnType<typeof prepare>

  constructor(filename: string, pageSize: number) {
    this.filename = filename
    const { database, guard } = openDatabase({ filename, pageSize, migrations: MIGRATIONS, remedy: STORE_REMEDY })
    this.guard = guard
    try {
      database.pragma("synchronous = FULL")
      this.statements = prepare(database)
    } catch (cause) {
      guard.close()
      throw this.corrupted(`it is not a file of webhooks (${cause instanceof Error ? cause.message : String(cause)})`)
    }
  }

  static exists(filename: string): boolean {
    return existsSync(filename)
  }

  close(): void {
    this.guard.close()
  }

  private corrupted(found: string): StorageCorrupted {
    return new StorageCorrupted({ file: this.filename, found, remedy: STORE_REMEDY })
  }

  private rowOf(row: StoredRow): HookRow {
    const source = HOOK_SOURCES.find((each) => each === row.source)
    const state = STORED_STATES.find((each) => each === row.state)
    if (source === undefined || state === undefined) throw this.corrupted(`hook ${row.id} has an unknown state`)
    const { attempt_cursor: cursor, attempt_digest: digest } = row
    return {
      id: row.id,
      source,
      url: row.url,
      secret: row.secret ?? undefined,
      filter: row.filter,
      state,
      position: row.position,
      sequence: row.sequence,
      attempt: cursor === null || digest === null ? undefined : { cursor, digest, isUndone: row.attempt_undone === 1 },
      failures: row.failures,
      failingSince: row.failing_since ?? undefined,
      nextAttempt: row.next_attempt,
      lastError: row.last_error ?? undefined,
      delivered: row.delivered,
      deliveredAt: row.delivered_at ?? undefined
    }
  }

  /** In the order of addition. */
  all(): ReadonlyArray<HookRow> {
    return guarded(
      { file: this.filename, doing: "reading", remedy: STORE_REMEDY },
      () => this.statements.all.all().map((row) => this.rowOf(row))
    )
  }

  private write(work: () => void): void {
    guarded({ file: this.filename, doing: "writing", remedy: STORE_REMEDY }, () => {
      work()
      this.guard.committed()
    })
  }

  put(row: HookRow): void {
    this.write(() => void this.statements.put.run(storedOf(row)))
  }

  remove(id: string): void {
    this.write(() => void this.statements.remove.run(id))
  }
}
