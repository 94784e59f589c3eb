import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { WorldNumber } from "./plan.ts"
import { PLANTED, type PlantedBug } from "./planted.ts"
import { plant } from "./plantedBuild.ts"

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
  readonly print: (line: string) => void
}

interface Search {
  /** Seeds until the failure, the failing one included. */
  readonly seeds: number
  /** The property that failed; `undefined` if none did. */
  readonly found: string | undefined
  /** The file with the plan and the events of the seed that failed. */
  readonly file: string | undefined
}

/** What `runs.ts` prints of a seed that failed, and of one that passed. */
const FAILED = /^seed (\d+) of world \d+ failed after [\d:.]+: (.*)$/
const PASSED = /^seed (\d+) [0-9a-f]+ /

const argumentsOf = async (bug: PlantedBug, options: PlantedOptions): Promise<ReadonlyArray<string>> => {
  const { from, hours, runs, templateOf } = options
  const world = options.world ?? bug.world ?? 1
  const template = await templateOf(world)
  const given = ["--world", `${world}`, "--runs", `${runs}`, "--from", `${from}`, "--first", "--template", template]
  return hours === undefined ? given : [...given, "--hours", `${hours}`]
}

/** Runs seeds with the compiled simulation of a place, until one fails. Its files are left in `cwd`. */
const search = (place: string, given: ReadonlyArray<string>, cwd: string): Promise<Search> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(place, "main.js"), ...given], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [seeds, found, errors] = [0, undefined as string | undefined, ""]
    let file: string | undefined
    createInterface(child.stdout).on("line", (line) => {
      const failed = FAILED.exec(line)
      if (failed !== null || PASSED.test(line)) seeds++
      if (failed !== null) file ??= join(cwd, `sim-${failed[1]}.ndjson`)
      found ??= failed?.[2]
    })
    child.stderr.on("data", (text: Buffer) => {
      errors = `${errors}${text.toString("utf8")}`.slice(-2_000)
    })
    child.on("error", reject)
    child.on("close", (status) => {
      if (found === undefined && status !== 0) {
        found = `the run ended with status ${status}: ${errors.split("\n", 1)[0]}`
      }
      resolve({ seeds, found, file })
    })
  })

const row = ({ name, past }: PlantedBug, { file = "", found, seeds }: Search): string =>
  [name.padEnd(22), `${seeds}`.padStart(5), past === true ? "past" : "    ", found ?? "not found", file].join("  ")
    .trimEnd()

/** Prints a line for each bug, then how many were found. Returns whether all were. */
export const findPlanted = async (options: PlantedOptions): Promise<boolean> => {
  const { keep, only, print, root } = options
  const bugs = PLANTED.filter(({ name }) => only.length === 0 || only.includes(name))
  const unknown = only.filter((name) => !PLANTED.some((bug) => bug.name === name))
  if (unknown.length > 0) throw new Error(`no planted bug has the name ${unknown.join(", ")}`)
  const found: Array<PlantedBug> = []
  for (const bug of bugs) {
    const place = plant(root, bug)
    const cwd = mkdtempSync(join(tmpdir(), `svcd-planted-${bug.name}-`))
    const result = await search(place, await argumentsOf(bug, options), cwd)
    if (!keep) rmSync(join(root, "build", "planted", bug.name), { recursive: true, force: true })
    if (result.file === undefined) rmSync(cwd, { recursive: true })
    print(row(bug, result))
    if (result.found !== undefined) found.push(bug)
  }
  const old = bugs.filter(({ past }) => past === true)
  const oldFound = found.filter(({ past }) => past === true)
  print(
    `${found.length} of ${bugs.length} planted bugs found, ${oldFound.length} of ${old.length} that were fixed before`
  )
  return found.length === bugs.length
}
