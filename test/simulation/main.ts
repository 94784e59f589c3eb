import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type CommandLine, readCommandLine, USAGE } from "./commandLine.ts"
import { ownPlace, WorldProcesses } from "./ownProcess.ts"
import type { Plan, WorldNumber } from "./plan.ts"
import { figures, type Result, runSeed, type Work } from "./runs.ts"
import { readSeeds } from "./seedFile.ts"
import { makeTemplate } from "./template.ts"
import { drawPlan, firstHours } from "./worlds.ts"

/** Seeds for each planted bug, unless the caller says otherwise. */
const PLANTED_RUNS = 2_000

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Says what is wrong with the arguments, and ends. */
const given = ((): CommandLine => {
  try {
    return readCommandLine(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
    process.exit(2)
  }
})()

const place = ownPlace()

/** The second line of what a failing run wrote. */
const readPlan = (file: string): Plan => JSON.parse(readFileSync(file, "utf8").split("\n")[1] ?? "")

/** The plan of a seed, or its first hours. */
const planOf = (seed: number, world: WorldNumber): Plan => firstHours(drawPlan(seed, world), given.hours ?? Infinity)

/** How many seeds in a row to run after those of a file. */
const mostRuns = (): number => given.runs ?? (given.minutes === undefined ? 0 : Infinity)

/** The plans that the arguments ask for, in their order. */
function* plans(): Generator<Plan> {
  const { from, plan, seed, seeds, step, world = 1 } = given
  if (plan !== undefined) yield readPlan(plan)
  if (seed !== undefined) yield planOf(seed, world)
  if (seeds !== undefined) {
    for (const known of readSeeds(readFileSync(seeds, "utf8"))) yield planOf(known.seed, known.world)
  }
  for (let i = 0; i < mostRuns(); i++) yield planOf(from + i * step, world)
}

const templates = new Map<WorldNumber, Promise<string>>()

const templateOf = (world: WorldNumber): Promise<string> => {
  // Of another process, for the world that it chose.
  if (given.template !== undefined) return Promise.resolve(given.template)
  const known = templates.get(world) ?? makeTemplate(world, place)
  templates.set(world, known)
  return known
}

/** Runs plans until the time is over, and ends with `N passed, N failed`. */
const runAll = async (): Promise<void> => {
  const { double, first, plan: file, shrink, trace } = given
  const processes = new WorldProcesses()
  const work: Work = { place, templateOf, processes, trace, double, shrink, file, print }
  const until = performance.now() + 60_000 * (given.minutes ?? Infinity)
  const results: Array<Result> = []
  const all = plans()
  let isOver = false
  const take = async (): Promise<void> => {
    for (let next = all.next(); next.done !== true; next = all.next()) {
      if (isOver || performance.now() >= until) return
      const result = await runSeed(next.value, work)
      results.push({ ...result, last: [] })
      if (first && result.failure !== undefined) isOver = true
    }
  }
  await Promise.all(Array.from({ length: given.jobs }, take)).finally(() => processes.close())
  const failed = results.filter(({ failure }) => failure !== undefined).length
  if (results.length > 0) print(figures(results))
  print(`${results.length - failed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

const planted = async (): Promise<void> => {
  // It loads the compiler, which a run of seeds does not need.
  const { findPlanted } = await import("./plantedRun.ts")
  const root = fileURLToPath(new URL("../../../", import.meta.url))
  const all = await findPlanted({ ...given, root, runs: given.runs ?? PLANTED_RUNS, templateOf, print })
  if (!all) process.exitCode = 1
}

const asksForNothing = given.plan === undefined && given.seed === undefined && given.seeds === undefined &&
  mostRuns() === 0

if (given.planted) await planted()
else if (asksForNothing) {
  print(USAGE)
  process.exitCode = 2
} else await runAll()
