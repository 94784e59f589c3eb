import SQLite from "better-sqlite3"
import { join } from "node:path"
import { storedKeys } from "../../src/postgres/rows.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { Cluster } from "../postgres/Cluster.ts"
import { CopyProcess } from "./CopyProcess.ts"
import type { DaemonProcess } from "./DaemonProcess.ts"
import { reorganize, spawnDaemon } from "./events.ts"
import { inDirectories } from "./inDirectories.ts"
import { FIRST_BLOCKS } from "./Load.ts"
import { Random } from "./random.ts"
import { type Options, Tally } from "./report.ts"
import { pause } from "./rpc.ts"
import { someWork } from "./someWork.ts"
import { freePort, ROOT } from "./workplace.ts"

/** Rounds on one data directory: the database is the same one in all of them. */
const ROUNDS_EACH = 50

/** The most answers of a round before the kill, and the milliseconds after them. */
const WORK = { answers: 25, delay: 40 }

/** How often a round begins with a long reorganization, and its longest. */
const LONG_REORG = 0.2
const LONGEST_REORG = 288

/** How often both sides are killed, and how often PostgreSQL crashes besides. */
const BOTH = 0.15
const SERVER = 0.15

/** Milliseconds that the tables may need to be equal. */
const PATIENCE = 120_000

/** Rounds between two lines of progress. */
const ROUNDS_TOLD = 5

const EXPORTER = join(ROOT, "build/bin/svcd-export.js")

interface StoredOperation {
  readonly id: number
  readonly name: Buffer
  readonly value: Buffer
  readonly address: Buffer
  readonly txid: Buffer
  readonly vout: number
}

const reversedHex = (bytes: Uint8Array): string => toHex(new Uint8Array(bytes).reverse())

const operationText = (row: StoredOperation): string => {
  const [height, number] = [Math.floor(row.id / 2 ** 20), row.id % 2 ** 20]
  const [name, value, script] = [row.name, row.value, row.address].map((bytes) => toHex(new Uint8Array(bytes)))
  return [height, number, name, value, script, reversedHex(row.txid), row.vout].join(" ")
}

const OPERATIONS = `SELECT o.id, n.name, o.value, o.address, o.txid, o.vout
  FROM operations o JOIN names n ON n.id = o.name_id`

/** What the tables have to be, from names.db: a text for each row. */
const expectedRows = (directory: string) => {
  const database = new SQLite(join(directory, "names.db"), { readonly: true })
  try {
    return database.transaction(() => {
      const all = database.prepare<[], StoredOperation>(`${OPERATIONS} ORDER BY o.id`).all()
      const current = database.prepare<[], StoredOperation>(
        `${OPERATIONS} WHERE n.operation = o.id ORDER BY n.name`
      ).all()
      const cursor = database.prepare<[], { readonly height: number; readonly hash: Buffer }>(
        "SELECT height, hash FROM cursor"
      ).get()
      const hex = (bytes: Buffer): string => toHex(new Uint8Array(bytes))
      return {
        tip: cursor === undefined ? "none" : `${cursor.height} ${reversedHex(cursor.hash)}`,
        operations: all.map(operationText),
        names: current.map(operationText),
        keys: current.flatMap(({ name, value }) =>
          storedKeys(new Uint8Array(value)).map((pair) => `${hex(name)}\t${pair.key}\t${pair.value}`)
        ).sort()
      }
    })()
  } finally {
    database.close()
  }
}

const ROW = `concat_ws(' ', height, number, encode(name, 'hex'), encode(value, 'hex'), encode(owner, 'hex'),
  encode(txid, 'hex'), vout)`

const exportedRows = async (cluster: Cluster, database: string) => {
  const texts = async (statement: string): Promise<ReadonlyArray<string>> =>
    (await cluster.query(database, statement)).map(({ row }) => String(row))
  // The columns are joined by spaces, and an empty value is kept between two of them.
  const [tip = "none"] = await texts(
    "SELECT b.height || ' ' || encode(b.hash, 'hex') AS row FROM svcd.blocks b JOIN svcd.cursor c ON c.height = b.height"
  )
  return {
    tip,
    operations: await texts(`SELECT ${ROW} AS row FROM svcd.name_operations ORDER BY height, number`),
    names: await texts(`SELECT ${ROW} AS row FROM svcd.names ORDER BY name`),
    keys: (await texts(
      "SELECT encode(name, 'hex') || E'\\t' || key || E'\\t' || value AS row FROM svcd.name_keys"
    )).toSorted()
  }
}

interface Rows {
  /** Height and hash of the last block. */
  readonly tip: string
  readonly operations: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
}

/** The first difference; `undefined` if there is none. */
const differenceOf = (expected: Rows, got: Rows): string | undefined => {
  if (expected.tip !== got.tip) return `names.db is at ${expected.tip}, the tables are at ${got.tip}`
  for (const table of ["operations", "names", "keys"] as const) {
    const [one, other] = [expected[table], got[table]]
    const at = one.findIndex((row, i) => row !== other[i])
    if (at >= 0) {
      return `${table}: names.db has ${one[at]}, and the tables have ${other[at] ?? "nothing"} (at ${got.tip})`
    }
    if (one.length !== other.length) return `${table}: the tables have ${other.length} rows in place of ${one.length}`
  }
  return undefined
}

interface Place {
  readonly directory: string
  readonly port: number
  readonly cluster: Cluster
  readonly database: string
}

/** Waits until the tables have caught up; returns what is different then. */
const lasting = async ({ cluster, database, directory }: Place): Promise<string | undefined> => {
  for (const until = performance.now() + PATIENCE;;) {
    let found: string | undefined
    try {
      found = differenceOf(expectedRows(directory), await exportedRows(cluster, database))
    } catch (cause) {
      found = String(cause)
    }
    if (found === undefined || performance.now() > until) return found
    await pause(100)
  }
}

interface Run {
  readonly place: Place
  readonly seed: number
  readonly rounds: ReadonlyArray<number>
  readonly tally: Tally
  readonly tell: Options["tell"]
}

const runDirectory = async ({ place, rounds, seed, tally, tell }: Run): Promise<void> => {
  const { cluster, database, directory, port } = place
  const flags = ["-network", "regtest", "-datadir", directory, "-rpcaddr", `127.0.0.1:${port}`]
  const exporter = (): CopyProcess => new CopyProcess("svcd-export", EXPORTER, cluster.url(database), ...flags)
  let daemon: DaemonProcess = await spawnDaemon(place)
  const address = String(await daemon.rpc.call("getnewaddress"))
  await daemon.rpc.call("generatetoaddress", FIRST_BLOCKS, address)
  let copy = exporter()
  for (const round of rounds) {
    const random = Random.of(seed, round)
    if (random.chance(LONG_REORG)) {
      await lasting(place)
      const most = Math.min(LONGEST_REORG, Number(await daemon.rpc.call("getblockcount")) - 1)
      await reorganize(daemon.rpc, 1 + random.below(most))
      tally.count("long reorganizations")
    }
    const { done } = await someWork({ directory, rpc: daemon.rpc, tag: `p${round}` }, random, WORK)
    const [both, killsDaemon, crashes] = [random.chance(BOTH), random.chance(0.4), random.chance(SERVER)]
    if (crashes) {
      await cluster.stop()
      tally.count("crashes of PostgreSQL")
    }
    if (both || killsDaemon) {
      await daemon.kill()
      tally.count("kills of the daemon")
    }
    if (both || !killsDaemon) {
      await copy.kill()
      tally.count("kills of svcd-export")
    }
    await done
    if (crashes) await cluster.resume()
    const { trouble } = copy
    if (trouble !== undefined && killsDaemon && !both) tally.fail({ round, what: "ended", detail: trouble })
    if (both || !killsDaemon || trouble !== undefined) copy = exporter()
    if (both || killsDaemon) daemon = await spawnDaemon(place)
    const different = await lasting(place)
    if (different !== undefined) {
      tally.fail({ round, what: "different", detail: `${different} ${copy.words.slice(-800)}` })
    }
    tally.count(different === undefined ? "equal" : "different")
    if (round % ROUNDS_TOLD === ROUNDS_TOLD - 1) tell(tally.line())
  }
  await copy.kill()
  if (!await daemon.stop()) tally.fail({ round: rounds.at(-1) ?? 0, what: "hung", detail: daemon.words.slice(-1500) })
}

/** Kills a daemon, svcd-export and PostgreSQL; the tables have to be equal to names.db each time. */
export const runPostgres = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("a copy in PostgreSQL", seed)
  const cluster = await Cluster.start()
  if (cluster === undefined) {
    tally.skip("PostgreSQL is not installed")
    return tally
  }
  try {
    await inDirectories({ count, only }, { roundsEach: ROUNDS_EACH }, async ({ directory, rounds }) => {
      const database = `names_${rounds[0]}`
      await cluster.query("postgres", `CREATE DATABASE ${database}`)
      await runDirectory({ place: { directory, port: await freePort(), cluster, database }, seed, rounds, tally, tell })
    })
  } finally {
    await cluster.remove()
  }
  return tally
}
