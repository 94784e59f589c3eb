import { existsSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { HOUR, type Plan, type WorldNumber } from "./plan.ts"
import { figures, type Result, runSeed, type Work } from "./runs.ts"
import { readSeeds } from "./seedFile.ts"
import { makeTemplate } from "./template.ts"
import { drawPlan } from "./worlds.ts"

const USAGE = `usage: npm run simulate -- [--world 1|2] --seed N [--trace] [--shrink]
       npm run simulate -- [--world 1|2] --runs N | --minutes M [--from N] [--step N] [--double] [--first]
       npm run simulate -- --seeds FILE [--runs N | --minutes M] …
       npm run simulate -- --plan sim-N.ndjson [--trace] [--shrink]
       npm run simulate -- --planted [--only NAME]… [--runs N] [--from N] [--world 1|2] [--hours H]

Runs worlds of whole nodes in virtual time, each from one number. A seed that fails prints its last events, and
writes its plan and events to sim-N.ndjson. --trace shows all events. --double runs each seed twice, and compares.
--first ends with the first seed that fails. --seeds runs those of a file before the others. --shrink leaves out steps
of a failing plan while it fails in the same way. --planted looks for bugs that it plants in copies of the build.
--hours ends the faults after so many virtual hours, not after six.`

/** Memory is the fastest disk. */
const PLACE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

/** Seeds for each planted bug, unless the caller says otherwise. */
const PLANTED_RUNS = 2_000

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    plan: { type: "string" },
    world: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    runs: { type: "string" },
    from: { type: "string", default: "1" },
    step: { type: "string", default: "1" },
    minutes: { type: "string" },
    hours: { type: "string" },
    template: { type: "string" },
    double: { type: "boolean", default: false },
    first: { type: "boolean", default: false }
  }
})

const numberOf = (text: string | undefined): number | undefined => text === undefined ? undefined : Number(text)

const WORLD: WorldNumber = values.world === "2" ? 2 : 1

/** The second line of what a failing run wrote. */
const readPlan = (file: string): Plan => JSON.parse(readFileSync(file, "utf8").split("\n")[1] ?? "")

/** The plan of a seed, or its first hours. */
const planOf = (seed: number, world: WorldNumber): Plan => {
  const plan = drawPlan(seed, world)
  const until = HOUR * (numberOf(values.hours) ?? Infinity)
  if (until >= plan.until) return plan
  return { ...plan, until, healing: until / 2, steps: plan.steps.filter(({ at }) => at < until) }
}

/** How many seeds in a row to run after those of a file. */
const mostRuns = (): number => numberOf(values.runs) ?? (values.minutes === undefined ? 0 : Infinity)

/** The plans that the arguments ask for, in their order. */
function* plans(): Generator<Plan> {
  if (values.plan !== undefined) yield readPlan(values.plan)
  if (values.seed !== undefined) yield planOf(Number(values.seed), WORLD)
  if (values.seeds !== undefined) {
    for (const { seed, world } of readSeeds(readFileSync(values.seeds, "utf8"))) yield planOf(seed, world)
  }
  for (let i = 0; i < mostRuns(); i++) yield planOf(Number(values.from) + i * Number(values.step), WORLD)
}

const templates = new Map<WorldNumber, Promise<string>>()

const templateOf = (world: WorldNumber): Promise<string> => {
  // Of another process, for the world that it chose.
  if (values.template !== undefined) return Promise.resolve(values.template)
  const known = templates.get(world) ?? makeTemplate(world, PLACE).then((template) => {
    process.on("exit", () => rmSync(template, { recursive: true, force: true }))
    return template
  })
  templates.set(world, known)
  return known
}

/** Runs plans until the time is over, and ends with `N passed, N failed`. */
const runAll = async (): Promise<void> => {
  const { double, first, shrink, trace } = values
  const work: Work = { place: PLACE, templateOf, trace, double, shrink, print }
  const until = performance.now() + 60_000 * (numberOf(values.minutes) ?? Infinity)
  const results: Array<Result> = []
  for (const plan of plans()) {
    if (performance.now() >= until) break
    const result = await runSeed(plan, work)
    results.push({ ...result, last: [] })
    if (first && result.failure !== undefined) break
  }
  const failed = results.filter(({ failure }) => failure !== undefined).length
  if (results.length > 0) print(figures(results))
  print(`${results.length - failed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

const planted = async (): Promise<void> => {
  // It loads the compiler, which a run of seeds does not need.
  const { findPlanted } = await import("./plantedRun.ts")
  const root = fileURLToPath(new URL("../../../", import.meta.url))
  const { from, hours, only } = values
  const runs = numberOf(values.runs) ?? PLANTED_RUNS
  const template = await templateOf(WORLD)
  const all = await findPlanted({ root, only, runs, from: Number(from), world: WORLD, hours, template, print })
  if (!all) process.exitCode = 1
}

if (values.planted) await planted()
else if (plans().next().done === true) {
  print(USAGE)
  process.exitCode = 2
} else await runAll()
