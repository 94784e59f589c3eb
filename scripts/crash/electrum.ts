import SQLite from "better-sqlite3"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { inDirectories, type Part } from "./inDirectories.ts"
import { undoAtEnd } from "./leftovers.ts"
import { Random } from "./random.ts"
import { type Options, Tally } from "./report.ts"
import { ROOT } from "./workplace.ts"

/** The program that builds the index, and the chain from which it does so. */
const BUILDER = join(ROOT, "build/scripts/crash/electrumBuild.js")
const BLOCKS = join(ROOT, "test/fixtures/regtest-names/blocks.dat.gz")

/** Rounds on one data directory: a kill, and what it leaves for the next build. */
const ROUNDS_EACH = 100
const AT_ONCE = 2

/**
 * How often a kill comes before the index is open, and the share of a whole build within which the others come: a build
 * takes some five kills to its end, so that they come at all heights and few builds are complete.
 */
const AT_START = 0.05
const LATEST = 0.4

const FILE = "electrum.db"
const ENDS = ["", "-wal", "-shm"]

/** A build in a process of its own. */
class Builder {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  #said = ""

  constructor(directory: string) {
    this.#child = spawn(process.execPath, [BUILDER, directory], { stdio: ["ignore", "pipe", "pipe"] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.#said += text))
    }
    const done = undoAtEnd(() => void this.#child.kill("SIGKILL"))
    this.#exit = once(this.#child, "close").finally(done)
  }

  get said(): string {
    return this.#said
  }

  /** Waits until it says a word or ends. */
  async says(word: string): Promise<boolean> {
    while (!this.#said.includes(word) && this.#child.exitCode === null) {
      await Promise.race([this.#exit, once(this.#child.stdout ?? this.#child, "data")])
    }
    return this.#said.includes(word)
  }

  /** Kills it within so many milliseconds, unless it ends before. */
  async killWithin(milliseconds: number): Promise<void> {
    const timer = setTimeout(() => void this.#child.kill("SIGKILL"), milliseconds)
    await this.#exit
    clearTimeout(timer)
  }
}

interface Stored {
  /** -1 for an empty index. */
  readonly height: number
  /** `PREFIX:HEIGHT`, up to the height. */
  readonly rows: ReadonlySet<string>
}

/** What an index has up to its cursor. Reads a copy, as a connection may change the files. */
const storedIn = (directory: string, copy: string): Stored => {
  mkdirSync(copy, { recursive: true })
  for (const end of ENDS) {
    const file = join(directory, "chainstate", `${FILE}${end}`)
    rmSync(join(copy, `${FILE}${end}`), { force: true })
    if (existsSync(file)) cpSync(file, join(copy, `${FILE}${end}`))
  }
  if (!existsSync(join(copy, FILE))) return { height: -1, rows: new Set() }
  const database = new SQLite(join(copy, FILE))
  try {
    if (Number(database.pragma("user_version", { simple: true })) === 0) return { height: -1, rows: new Set() }
    const height = Number(database.prepare("SELECT max(height) FROM cursor").pluck().get() ?? -1)
    const rows = database.prepare<[number], string>(
      "SELECT DISTINCT prefix || ':' || height FROM places JOIN parts USING (part) WHERE height <= ?"
    ).pluck().all(height)
    return { height, rows: new Set(rows) }
  } finally {
    database.close()
  }
}

/** What is wrong with an index, compared with that of a build without a kill. */
const trouble = ({ height, rows }: Stored, whole: Stored, isComplete: boolean): string | undefined => {
  if (isComplete && height !== whole.height) return `complete at height ${height}`
  const wanted = [...whole.rows].filter((row) => Number(row.slice(row.indexOf(":") + 1)) <= height)
  const missing = wanted.filter((row) => !rows.has(row))
  return missing.length === 0 && rows.size === wanted.length
    ? undefined
    : `at height ${height}: ${missing.length} of ${wanted.length} rows are missing, ${rows.size} are there`
}

const removeIndex = (directory: string): void => {
  for (const end of [...ENDS, ".sums"]) rmSync(join(directory, "chainstate", `${FILE}${end}`), { force: true })
}

/** A build to its end. Returns the milliseconds that it took. */
const buildToEnd = async (directory: string): Promise<number> => {
  const builder = new Builder(directory)
  if (!await builder.says("building")) throw new Error(`the index is not built: ${builder.said}`)
  const started = performance.now()
  if (!await builder.says("complete")) throw new Error(`the index is not built: ${builder.said}`)
  const took = performance.now() - started
  await builder.killWithin(60_000)
  return took
}

/** Rounds on one data directory: builds that are killed, each of which continues what the one before left. */
const runPart = async ({ beside, directory, rounds }: Part, seed: number, tally: Tally): Promise<void> => {
  for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))
  writeFileSync(join(directory, "blocks.dat"), gunzipSync(readFileSync(BLOCKS)))
  // Of the fastest whole build so far: kills that come later kill nothing.
  let length = await buildToEnd(directory)
  const whole = storedIn(directory, beside)
  removeIndex(directory)
  let fromStart = true
  for (const round of rounds) {
    const random = Random.of(seed, round)
    const builder = new Builder(directory)
    if (!random.chance(AT_START)) await builder.says("building")
    const begun = performance.now()
    await builder.killWithin(random.below(Math.ceil(length * LATEST)) + 1)
    const isComplete = builder.said.includes("complete")
    const stored = storedIn(directory, beside)
    const wrong = trouble(stored, whole, isComplete)
    if (wrong !== undefined) tally.fail({ round, what: "index", detail: `${wrong} ${builder.said}` })
    else if (!isComplete && builder.said.replace("building\n", "") !== "") {
      tally.fail({ round, what: "died", detail: builder.said })
    }
    tally.count(
      isComplete ? "complete" : stored.height < 0 ? "killed before the first rows" : "killed while it was built"
    )
    // The rest of a build says nothing about the length of a whole one.
    if (isComplete && fromStart) length = Math.min(length, performance.now() - begun)
    fromStart = isComplete
    if (isComplete) removeIndex(directory)
  }
  await buildToEnd(directory)
  const wrong = trouble(storedIn(directory, beside), whole, true)
  if (wrong === undefined) tally.count("directories whose last build is whole")
  else tally.fail({ round: rounds.at(-1) ?? 0, what: "index", detail: `${wrong}, in the end` })
  rmSync(beside, { recursive: true, force: true })
}

/** Kills the build of the index of scripts: each time, it must have all rows up to its cursor. */
export const runElectrum = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("electrum", seed)
  await inDirectories({ count, only }, { roundsEach: ROUNDS_EACH, atOnce: AT_ONCE }, async (part) => {
    await runPart(part, seed, tally)
    tell(tally.line())
  })
  return tally
}
