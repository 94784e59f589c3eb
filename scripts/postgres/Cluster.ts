// A PostgreSQL server of its own, in a temporary directory, for tests, crash tests and benchmarks.

import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { undoAtEnd } from "../crash/leftovers.ts"
import { placeInMemory } from "../crash/workplace.ts"

const DEBIAN = "/usr/lib/postgresql"

/** The programs of the newest PostgreSQL that is installed; `undefined` if none is. */
const programsOf = (): string | undefined => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":")
  ]
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")))
}

interface Account {
  readonly uid: number
  readonly gid: number
}

/** The account that runs the server: it refuses root. `undefined` for the one of this process. */
const accountOf = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

/** Milliseconds that a server may take to start. */
const PATIENCE = 60_000

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Settings that make the server small and quick. No data has to survive the machine. */
const SETTINGS = {
  listen_addresses: "",
  fsync: "off",
  full_page_writes: "off",
  max_connections: "40",
  shared_buffers: "64MB",
  max_wal_size: "512MB"
}

export class Cluster {
  readonly directory: string
  private readonly programs: string
  private readonly account: Account | undefined
  private server: ChildProcess | undefined
  private readonly done: () => void
  private said = ""

  private constructor(programs: string) {
    this.programs = programs
    this.account = accountOf()
    this.directory = mkdtempSync(join(placeInMemory(), "svcd-pg-"))
    if (this.account !== undefined) chownSync(this.directory, this.account.uid, this.account.gid)
    this.done = undoAtEnd(() => {
      this.server?.kill("SIGQUIT")
      rmSync(this.directory, { recursive: true, force: true })
    })
  }

  static isInstalled(): boolean {
    return programsOf() !== undefined
  }

  /** A new server; `undefined` where PostgreSQL is not installed. */
  static async start(): Promise<Cluster | undefined> {
    const programs = programsOf()
    if (programs === undefined) return undefined
    const cluster = new Cluster(programs)
    const flags = ["-D", cluster.data, "-U", "svcd", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    execFileSync(join(programs, "initdb"), flags, { ...cluster.account, stdio: "ignore", cwd: cluster.directory })
    await cluster.run()
    return cluster
  }

  private get data(): string {
    return join(this.directory, "data")
  }

  /** The address of a database, over the socket of the server. */
  url(database: string, user = "svcd"): string {
    return `postgres:///${database}?host=${this.directory}&user=${user}`
  }

  private async run(): Promise<void> {
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const server = spawn(join(this.programs, "postgres"), ["-D", this.data, "-k", this.directory, ...settings], {
      ...this.account,
      cwd: this.directory,
      stdio: ["ignore", "ignore", "pipe"]
    })
    server.stderr.setEncoding("utf8").on("data", (text: string) => (this.said = (this.said + text).slice(-4_000)))
    this.server = server
    for (const until = performance.now() + PATIENCE;;) {
      try {
        return void await this.query("postgres", "SELECT 1")
      } catch (cause) {
        if (performance.now() > until || server.exitCode !== null) throw new Error(this.said, { cause })
        await pause(30)
      }
    }
  }

  /** Runs one statement, in a connection of its own. */
  async query(
    database: string,
    statement: string,
    params: ReadonlyArray<unknown> = []
  ): Promise<ReadonlyArray<Record<string, unknown>>> {
    const client = new Client({ connectionString: this.url(database) })
    client.on("error", () => {})
    await client.connect()
    try {
      return (await client.query(statement, [...params])).rows
    } finally {
      await client.end()
    }
  }

  /** Stops the server: cleanly, or as if it had crashed. */
  async stop(how: "fast" | "immediate" = "immediate"): Promise<void> {
    const { server } = this
    this.server = undefined
    if (server === undefined || server.exitCode !== null) return
    const over = new Promise<void>((resolve) => server.once("close", () => resolve()))
    server.kill(how === "fast" ? "SIGINT" : "SIGQUIT")
    await over
  }

  /** Starts the server again, with the recovery of a crash if it had one. */
  async resume(): Promise<void> {
    await this.run()
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.directory, { recursive: true, force: true })
    this.done()
  }
}
