import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { PROPERTIES } from "./holds/all.ts"
import type { WorldNumber } from "./plan.ts"
import { PLANTED, type PlantedBug } from "./planted.ts"
import { plant } from "./plantedBuild.ts"
import { type PlantedRow, withRows } from "./plantedTable.ts"
import { FAILURE_KINDS } from "./World.ts"

/** Counts the seeds until a property finds each planted bug. */

export interface PlantedOptions {
  /** The directory of the project, with a build. */
  readonly root: string
  /** Names of bugs; all if empty. */
  readonly only: ReadonlyArray<string>
  /** Most seeds of a bug, and the first one. */
  readonly runs: number
  readonly from: number
  /** The world of all bugs; that of each bug if omitted. */
  readonly world: WorldNumber | undefined
  /** Virtual hours with faults; those of the world if omitted. */
  readonly hours: number | undefined
  /** The directories with which the nodes of a world begin, made without a bug. */
  readonly templateOf: (world: WorldNumber) => Promise<string>
  /** Whether to keep the builds with bugs. */
  readonly keep: boolean
  /** Whether to write the results to docs/testing.md. */
  readonly write: boolean
  readonly print: (line: string) => void
}

interface Search {
  /** Seeds until the failure, the failing one included. */
  readonly seeds: number
  /** The seed that failed, if one did. */
  readonly seed: number | undefined
  /** What failed, or how the run ended without a failing seed; `undefined` if all passed. */
  readonly ended: string | undefined
  /** The file with the plan and the events of the seed that failed. */
  readonly file: string | undefined
}

/** What `runs.ts` prints of a seed that failed, and of one that passed. */
const FAILED = /^seed (\d+) of world \d+ failed after [\d:.]+: (.*)$/
const PASSED = /^seed (\d+) [0-9a-f]+ /

/** Failures that find a bug. Any other end says only that the run was disturbed. */
const FINDINGS = new Set([
  ...PROPERTIES.map(({ name }) => name),
  ...Object.keys(FAILURE_KINDS).filter((what) => FAILURE_KINDS[what] === true)
])

const isFinding = ({ ended, seed }: Search): boolean =>
  seed !== undefined && ended !== undefined && (FINDINGS.has(ended) || ended.startsWith("actor "))

const argumentsOf = async (bug: PlantedBug, options: PlantedOptions): Promise<ReadonlyArray<string>> => {
  const { hours, templateOf } = options
  const world = options.world ?? bug.world ?? 1
  const template = await templateOf(world)
  const given = ["--world", `${world}`, "--template", template]
  return hours === undefined ? given : [...given, "--hours", `${hours}`]
}

/** Runs seeds with the compiled simulation of a place, until one fails. Its files are left in `cwd`. */
const search = (place: string, given: ReadonlyArray<string>, cwd: string): Promise<Search> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(place, "main.js"), ...given], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"]
    })
    // It removes its files itself.
    const end = (): void => void child.kill()
    process.once("exit", end)
    let [seeds, errors] = [0, ""]
    let [ended, file]: [string | undefined, string | undefined] = [undefined, undefined]
    let seed: number | undefined
    createInterface(child.stdout).on("line", (line) => {
      const failed = FAILED.exec(line)
      if (failed !== null || PASSED.test(line)) seeds++
      if (failed === null || ended !== undefined) return
      seed = Number(failed[1])
      ended = failed[2]
      file = join(cwd, `sim-${seed}.ndjson`)
    })
    child.stderr.on("data", (text: Buffer) => {
      errors = `${errors}${text.toString("utf8")}`.slice(-2_000)
    })
    child.on("error", reject)
    child.on("close", (status) => {
      process.off("exit", end)
      if (ended === undefined && status !== 0) {
        ended = `the run ended with status ${status}: ${errors.split("\n", 1)[0]}`
      }
      resolve({ seeds, seed, ended, file })
    })
  })

interface BugSearch {
  readonly bug: PlantedBug
  readonly options: PlantedOptions
  /** Runs without a bug by their arguments: many bugs are found by the same seeds. */
  readonly controls: Map<string, Promise<Search>>
}

/** Runs seeds of a build with a bug until one fails that passes without the bug. Says which ones it left out. */
const searchBug = async (place: string, cwd: string, { bug, controls, options }: BugSearch): Promise<Search> => {
  const given = await argumentsOf(bug, options)
  const clean = join(options.root, "build", "test", "simulation")
  const controlOf = (seed: number): Promise<Search> => {
    const wanted = [...given, "--seed", `${seed}`]
    const key = wanted.join(" ")
    const control = controls.get(key) ?? search(clean, wanted, mkdtempSync(join(cwd, "control-")))
    controls.set(key, control)
    return control
  }
  let [seeds, from] = [0, options.from]
  for (;;) {
    const runs = options.from + options.runs - from
    const result = await search(place, [...given, "--runs", `${runs}`, "--from", `${from}`, "--first"], cwd)
    seeds += result.seeds
    if (result.seed === undefined) return { ...result, seeds }
    const control = await controlOf(result.seed)
    if (control.ended === undefined) return { ...result, seeds }
    options.print(`seed ${result.seed} is left out: it fails without the bug (${control.ended})`)
    seeds--
    from = result.seed + 1
    if (from >= options.from + options.runs) return { seeds, seed: undefined, ended: undefined, file: undefined }
  }
}

const endOf = (result: Search): string =>
  result.ended === undefined ? "not found" : isFinding(result) ? result.ended : `ended otherwise: ${result.ended}`

const row = ({ name, past }: PlantedBug, result: Search): string =>
  [name.padEnd(22), `${result.seeds}`.padStart(5), past === true ? "past" : "    ", endOf(result), result.file ?? ""]
    .join("  ").trimEnd()

const writeRows = (root: string, rows: ReadonlyArray<PlantedRow>): void => {
  const file = join(root, "docs", "testing.md")
  writeFileSync(file, withRows(readFileSync(file, "utf8"), { order: PLANTED.map(({ name }) => name), rows }))
}

/** Prints a line for each bug, then how many were found. Returns whether all were. */
export const findPlanted = async (options: PlantedOptions): Promise<boolean> => {
  const { keep, only, print, root } = options
  const bugs = PLANTED.filter(({ name }) => only.length === 0 || only.includes(name))
  const unknown = only.filter((name) => !PLANTED.some((bug) => bug.name === name))
  if (unknown.length > 0) throw new Error(`no planted bug has the name ${unknown.join(", ")}`)
  const found: Array<PlantedBug> = []
  const rows: Array<PlantedRow> = []
  const controls: BugSearch["controls"] = new Map()
  for (const bug of bugs) {
    const place = plant(root, bug)
    const cwd = mkdtempSync(join(tmpdir(), `svcd-planted-${bug.name}-`))
    const result = await searchBug(place, cwd, { bug, controls, options })
    if (!keep) rmSync(join(root, "build", "planted", bug.name), { recursive: true, force: true })
    if (result.file === undefined) rmSync(cwd, { recursive: true })
    print(row(bug, result))
    if (isFinding(result)) found.push(bug)
    const { past = false } = bug
    rows.push({ name: bug.name, past, seeds: result.seeds, found: isFinding(result) ? result.ended : undefined })
    if (options.write) writeRows(root, rows)
  }
  const old = bugs.filter(({ past }) => past === true)
  const oldFound = found.filter(({ past }) => past === true)
  print(
    `${found.length} of ${bugs.length} planted bugs found, ${oldFound.length} of ${old.length} that were fixed before`
  )
  return found.length === bugs.length
}
