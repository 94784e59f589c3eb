import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { quantityOf } from "../../src/base/quantities.ts"
import type { WorldProcesses } from "./ownProcess.ts"
import { HOUR, type Plan, type WorldNumber } from "./plan.ts"
import { shrink } from "./shrink.ts"
import { clockTime, eventLine } from "./trace.ts"
import type { OneResult, OneRun } from "./worldProcess.ts"
import { drawPlan, firstHours } from "./worlds.ts"

/** Runs of plans, with what is printed about them. */

export interface Work {
  /** The directory for the files of all nodes. */
  readonly place: string
  /** The directories with which the nodes of a world begin. */
  readonly templateOf: (world: WorldNumber) => Promise<string>
  readonly processes: WorldProcesses
  readonly trace: boolean
  readonly double: boolean
  readonly shrink: boolean
  /** The file of the plan; that of its seed if omitted. */
  readonly file: string | undefined
  readonly print: (line: string) => void
}

export type Result = OneResult

/** Runs of the shrinker at most. */
const MOST_SHRINKING = 300

interface Running extends Pick<Work, "place" | "processes" | "templateOf" | "trace"> {
  /** Whether to use a process that has run no other plan. */
  readonly isNew: boolean
}

const runOnce = async (plan: Plan, { isNew, place, processes, templateOf, trace }: Running): Promise<Result> => {
  const template = await templateOf(plan.world)
  const directory = mkdtempSync(join(place, "svcd-run-"))
  try {
    const [run, answer] = [join(directory, "run"), join(directory, "answer")]
    const given: OneRun = { plan, place, template, trace, answer }
    writeFileSync(run, JSON.stringify(given))
    const ended = await processes.run(run, isNew)
    if (existsSync(answer)) return JSON.parse(readFileSync(answer, "utf8"))
    const failure = { what: "process ended", reason: `a run ended with ${ended}` }
    return { failure, hash: "", tasks: 0, virtual: 0, last: [], real: 0, processor: 0, memory: 0 }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What runs a plan again without its file; `undefined` if the seed draws another plan. */
export const commandOf = (plan: Plan): string | undefined => {
  const { seed, until, world } = plan
  const all = drawPlan(seed, world)
  const hours = until / HOUR
  if (JSON.stringify(firstHours(all, hours)) !== JSON.stringify(plan)) return undefined
  const cut = until < all.until ? ` --hours ${hours}` : ""
  return `npm run simulate -- --world ${world} --seed ${seed}${cut} --trace`
}

interface Reporting {
  readonly file: string
  readonly print: Work["print"]
}

/** Shows a failure as its reader needs it: what happened before, then what went wrong. Writes it to a file. */
const report = (plan: Plan, { failure, hash, last, virtual }: Result, { file, print }: Reporting): void => {
  const { seed, world } = plan
  for (const event of last) print(eventLine(event))
  print(`seed ${seed} of world ${world} failed after ${clockTime(virtual * 1e6)}: ${failure?.what}`)
  print(failure?.reason ?? "")
  if (failure?.stack !== undefined) print(failure.stack)
  const lines = [{ seed, world, hash, virtual, failure }, plan, ...last]
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  print(`events and plan: ${file}; again: npm run simulate -- --plan ${file} --trace`)
  const command = commandOf(plan)
  if (command !== undefined) print(`or, without the file: ${command}`)
}

const fileOf = (plan: Plan, { file = `sim-${plan.seed}.ndjson` }: Work): string => file

/** Looks for a smaller plan that fails in the same way, and writes it beside the failing one. */
const shrunk = async (plan: Plan, { failure: first, virtual: failedAt }: Result, work: Work): Promise<void> => {
  const quiet: Running = { ...work, trace: false, isNew: false }
  const results = new Map<Plan, Result>()
  const { plan: least, runs } = await shrink(plan, {
    most: MOST_SHRINKING,
    failedAt,
    fails: async (smaller) => {
      const result = await runOnce(smaller, quiet)
      if (result.failure?.what !== first?.what) return false
      results.set(smaller, result)
      return true
    },
    shrank: ({ steps }) => work.print(`still fails with ${quantityOf(steps.length, "step")}`)
  })
  const result = results.get(least)
  const file = fileOf(plan, work).replace(/(?:\.ndjson)?$/, ".small.ndjson")
  if (result !== undefined) report(least, result, { file, print: work.print })
  for (const { action, actor, arguments: given, at } of least.steps) {
    work.print(`${clockTime(at * 1e6)} ${actor} ${action} ${JSON.stringify(given)}`)
  }
  work.print(
    `left: ${least.steps.length} of ${quantityOf(plan.steps.length, "step")}, after ${quantityOf(runs, "run")}`
  )
}

/** Runs a plan; if asked, a second time in a process of its own, where nothing of others can be left. Prints and writes what it found. */
export const runSeed = async (plan: Plan, work: Work): Promise<Result> => {
  let result = await runOnce(plan, { ...work, isNew: false })
  if (work.double && result.failure === undefined) {
    const { hash } = await runOnce(plan, { ...work, isNew: true })
    const reason = `their hashes are ${result.hash} and ${hash}`
    if (hash !== result.hash) result = { ...result, failure: { what: "two runs differ", reason } }
  }
  if (result.failure === undefined) {
    work.print(`seed ${plan.seed} ${result.hash} ${result.tasks} tasks ${(result.processor / 1000).toFixed(2)} s`)
    return result
  }
  report(plan, result, { file: fileOf(plan, work), print: work.print })
  if (work.shrink) await shrunk(plan, result, work)
  return result
}

/** What many runs took, in a line. */
export const figures = (results: ReadonlyArray<Result>): string => {
  const sum = (of: (result: Result) => number): number => results.reduce((total, result) => total + of(result), 0)
  const [real, virtual, tasks] = [sum((one) => one.real), sum((one) => one.virtual), sum((one) => one.tasks)]
  const processor = sum((one) => one.processor)
  return [
    quantityOf(results.length, "seed"),
    `${(processor / results.length / 1000).toFixed(2)} s of processor time and ${
      Math.round(tasks / results.length)
    } tasks a seed`,
    `${(results.length * 60_000 / real).toFixed(1)} seeds/minute`,
    `${Math.round(virtual / real)} × real time`,
    `${Math.round(Math.max(...results.map(({ memory }) => memory)) / 1e6)} MB at most`
  ].join(", ")
}
