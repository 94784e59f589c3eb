import { afterAll, beforeAll } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { Cluster } from "../../scripts/postgres/Cluster.ts"
import { eventsOf } from "../../src/client/daemonEvents.ts"
import * as DaemonRpc from "../../src/client/DaemonRpc.ts"
import { type ExportPauses, type ExportSource, runExport } from "../../src/postgres/exporter.ts"
import type { DaemonState } from "../../src/postgres/ExportStore.ts"
import { EXPORT_QUERY } from "../../src/postgres/lines.ts"
import type { PgTarget } from "../../src/postgres/PgConnection.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import type { Branches } from "../names/events/world.ts"
import { eventually } from "../support/eventually.ts"

/** Exports of names.db into databases of a server of the test file. */

/** Whether PostgreSQL is installed. Else the tests are skipped, and say so. */
export const hasServer = Cluster.isInstalled()

export const NOT_INSTALLED = "PostgreSQL is not installed: apt-get install postgresql"

let running: Cluster | undefined

/** Gives the tests of a group a server of their own. Test files may share this module, so no file can leave it one. */
export const withServer = (): void => {
  beforeAll(async () => {
    running = await Cluster.start()
  })
  afterAll(async () => {
    await running?.remove()
    running = undefined
  })
}

/** The server of the group. */
export const server = (): Cluster => {
  if (running === undefined) throw new Error(NOT_INSTALLED)
  return running
}

let databases = 0

/** An empty database. */
export const newDatabase = Effect.promise(async () => {
  const name = `names_${process.pid}_${databases++}`
  await server().query("postgres", `CREATE DATABASE ${name}`)
  return name
})

export const targetIn = (database: string): PgTarget => ({
  url: Redacted.make(server().url(database)),
  shown: `test/${database}`
})

/** A daemon of branches: its events over HTTP, and what it says of its chain. */
export const sourceAt = (port: number, branches: Branches) =>
  Effect.map(
    DaemonRpc.make({
      host: "127.0.0.1",
      port,
      secure: false,
      basePath: "",
      credentials: undefined,
      cookieFile: undefined,
      wallet: undefined,
      timeout: 10_000
    }),
    (rpc): ExportSource => {
      const state = Effect.sync((): DaemonState => ({
        height: branches.tip?.height ?? -1,
        synced: true,
        proof: "full"
      }))
      return {
        network: "regtest",
        state,
        hashAt: (height) =>
          Effect.sync(() => {
            const { tip, tree } = branches
            if (tip === undefined || height > tip.height) return undefined
            return displayHash(tree.hash(tree.ancestor(tree.find(tip.hash), height)))
          }),
        lines: (from) => eventsOf({ rpc, query: EXPORT_QUERY, from })
      }
    }
  )

interface ExportingOptions {
  /** The reasons why the export waits are added to it. */
  readonly said?: Array<string>
  readonly pauses?: ExportPauses
}

/** Runs an export until the scope closes. */
export const exporting = (
  source: ExportSource,
  database: string,
  { pauses = { first: 50, longest: 250 }, said = [] }: ExportingOptions = {}
) =>
  runExport({ source, target: targetIn(database), schema: "svcd", pauses }).pipe(
    Effect.provide(Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void said.push(JSON.stringify(message)))
    )),
    Effect.forkScoped
  )

export const rowsIn = (database: string, statement: string) => Effect.promise(() => server().query(database, statement))

/** Waits until the tables are at the tip of the branches, with the first copy complete. */
export const exported = (database: string, branches: Branches) =>
  eventually(
    "the export at the tip",
    Effect.promise(async () => {
      const [row] = await server().query(
        database,
        `SELECT encode(b.hash, 'hex') AS hash FROM svcd.cursor c JOIN svcd.blocks b ON b.height = c.height WHERE c.complete`
      ).catch((): ReadonlyArray<Record<string, unknown>> => [])
      return row?.["hash"] === displayHash(branches.tip?.hash ?? new Uint8Array())
    })
  )
