import * as Data from "effect/Data"
import { codeOf, reasonOf } from "../base/errorCode.ts"

export class PostgresFailed extends Data.TaggedError("PostgresFailed")<{
  /** `host:port/database`. */
  readonly server: string
  /** SQLSTATE, or the system's error code. */
  readonly code: string
  readonly reason: string
  /** Whether a retry may help, as when the server restarts, is full, or is busy. */
  readonly mayPass: boolean
}> {
  override get message(): string {
    return `PostgreSQL at ${this.server}: ${this.reason}`
  }
}

/** The database is unusable as it is: a newer schema, another network, another exporter. */
export class ExportRefused extends Data.TaggedError("ExportRefused")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** The daemon's events skipped blocks. Reading again from the cursor of the tables may still return the blocks. */
export class BlocksMissing extends Data.TaggedError("BlocksMissing")<{
  readonly last: number
  readonly next: number
}> {
  override get message(): string {
    return `the daemon's events left out a block: block ${this.next} came behind block ${this.last}`
  }
}

/** The daemon has fewer blocks than the tables and is syncing, possibly toward the same blocks. */
export class DaemonBehind extends Data.TaggedError("DaemonBehind")<{
  readonly daemon: number
  readonly tables: number
}> {
  override get message(): string {
    return `the daemon syncs at block ${this.daemon}, and does not know block ${this.tables}, the last one of the tables, yet. ` +
      "If the daemon was replaced by one with another chain, drop the schema to export everything again"
  }
}

/** SQLSTATE codes of failures that only the operator can fix, with the remedy. */
const LASTING: ReadonlyMap<string, string> = new Map([
  ["3D000", "make the database first: createdb -E UTF8 -T template0 NAME"],
  ["28P01", "check user and password: PGPASSWORD, ~/.pgpass or the URL"],
  ["28000", "check user, password and pg_hba.conf"],
  ["42501", "the user needs CREATE on the database, or has to own the schema"]
])

/** SQLSTATE codes of temporary failures, with the cause or the remedy. */
const PASSING: ReadonlyMap<string, string> = new Map([
  ["25006", "the server is read-only: give the address of the primary, and check default_transaction_read_only"],
  ["57014", "a statement was cancelled: statement_timeout may be too short for this user"],
  ["55P03", "a lock was not free in time"],
  ["53100", "the disk of the server is full"],
  ["53300", "the server has no connection left"],
  ["57P01", "the server shuts down"],
  ["57P02", "the server restarts after a crash"],
  ["57P03", "the server starts or shuts down"]
])

const PASSING_CLASSES: ReadonlySet<string> = new Set(["08", "40", "53", "57", "58"])

/** The driver's own connection errors have only a message. */
const SYSTEM_CODE = /^E[A-Z_]+$/
const CONNECTION_ENDED =
  /^(?:Connection terminated|timeout exp|Client was closed|Client has encountered a connection error)/

/** Unlike system codes such as EPIPE, no SQLSTATE begins with E. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/

const innermost = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error

/** The text contains no secret, because the server never repeats a password. */
export const postgresFailed = (server: string, given: unknown): PostgresFailed => {
  const error = innermost(given)
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  if (!SQLSTATE.test(code)) {
    const mayPass = SYSTEM_CODE.test(code) || CONNECTION_ENDED.test(message)
    return new PostgresFailed({ server, code, reason: reasonOf(code), mayPass })
  }
  const help = LASTING.get(code) ?? PASSING.get(code)
  return new PostgresFailed({
    server,
    code,
    reason: `${message} (${code})${help === undefined ? "" : `; ${help}`}`,
    mayPass: PASSING.has(code) || PASSING_CLASSES.has(code.slice(0, 2))
  })
}
