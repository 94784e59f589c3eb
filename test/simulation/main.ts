import { existsSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { parseArgs } from "node:util"
import type { WorldNumber } from "./plan.ts"
import { type Outcome, runPlan } from "./runWorld.ts"
import { makeTemplate } from "./template.ts"
import { clockTime, eventLine, type TracedEvent } from "./trace.ts"
import { castOf, drawPlan } from "./worlds.ts"

const USAGE = `usage: npm run simulate -- [--world 1|2] --seed N [--trace]
       npm run simulate -- [--world 1|2] --runs N | --minutes M [--from N] [--double] [--jobs 2]

Runs worlds of whole nodes in virtual time, each from one number. A seed that fails prints its last events, and
writes its plan and events to sim-N.ndjson. --trace shows all events. --double runs each seed twice, and compares.`

/** Memory is the fastest disk. */
const PLACE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

interface Work {
  readonly world: WorldNumber
  readonly trace: boolean
  readonly double: boolean
  readonly template: string
}

interface Result extends Outcome {
  /** Real milliseconds. */
  readonly real: number
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const runOnce = async (seed: number, { template, trace, world }: Work): Promise<Result> => {
  const began = performance.now()
  const show = trace ? (event: TracedEvent) => print(eventLine(event)) : undefined
  const outcome = await runPlan(drawPlan(seed, world), castOf(world), { place: PLACE, template, show })
  return { ...outcome, real: performance.now() - began }
}

/** Shows a failure as its reader needs it: what happened before, then what went wrong. */
const report = (seed: number, { world }: Work, { failure, hash, last, virtual }: Result): void => {
  for (const event of last) print(eventLine(event))
  print(`seed ${seed} of world ${world} failed after ${clockTime(virtual * 1e6)}: ${failure?.what}`)
  print(failure?.reason ?? "")
  if (failure?.stack !== undefined) print(failure.stack)
  const lines = [{ seed, world, hash, virtual, failure }, drawPlan(seed, world), ...last]
  writeFileSync(`sim-${seed}.ndjson`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  print(`events and plan: sim-${seed}.ndjson; again: npm run simulate -- --world ${world} --seed ${seed} --trace`)
}

/** Runs a seed, twice if asked. Returns what it found. */
const runSeed = async (seed: number, work: Work): Promise<Result> => {
  const result = await runOnce(seed, work)
  if (!work.double || result.failure !== undefined) return result
  const { hash } = await runOnce(seed, work)
  if (hash === result.hash) return result
  return { ...result, failure: { what: "two runs differ", reason: `their hashes are ${result.hash} and ${hash}` } }
}

const figures = (results: ReadonlyArray<Result>): string => {
  const sum = (of: (result: Result) => number): number => results.reduce((total, result) => total + of(result), 0)
  const [real, virtual, tasks] = [sum((one) => one.real), sum((one) => one.virtual), sum((one) => one.tasks)]
  const failed = results.filter(({ failure }) => failure !== undefined).length
  return [
    `${results.length} seeds, ${failed} failed`,
    `${(real / results.length / 1000).toFixed(2)} s and ${Math.round(tasks / results.length)} tasks a seed`,
    `${(results.length * 60_000 / real).toFixed(1)} seeds/minute`,
    `${Math.round(virtual / real)} × real time`,
    `${Math.round(process.memoryUsage.rss() / 1e6)} MB`
  ].join(", ")
}

const numberOf = (text: string | undefined): number | undefined => text === undefined ? undefined : Number(text)

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      world: { type: "string", default: "1" },
      trace: { type: "boolean", default: false },
      runs: { type: "string" },
      from: { type: "string", default: "1" },
      step: { type: "string", default: "1" },
      minutes: { type: "string" },
      double: { type: "boolean", default: false },
      jobs: { type: "string", default: "1" }
    }
  })
  const world: WorldNumber = values.world === "2" ? 2 : 1
  const seed = numberOf(values.seed)
  const minutes = numberOf(values.minutes)
  const count = seed === undefined ? numberOf(values.runs) ?? (minutes === undefined ? undefined : Infinity) : 1
  if (count === undefined) {
    print(USAGE)
    process.exitCode = 2
    return
  }
  const template = await makeTemplate(world, PLACE)
  process.on("exit", () => rmSync(template, { recursive: true, force: true }))
  const work: Work = { world, trace: values.trace, double: values.double, template }
  const until = minutes === undefined ? Infinity : performance.now() + 60_000 * minutes
  const results: Array<Result> = []
  const first = seed ?? Number(values.from)
  for (let i = 0; i < count && performance.now() < until; i++) {
    const at = first + i * Number(values.step)
    const result = await runSeed(at, work)
    results.push({ ...result, last: [] })
    if (result.failure !== undefined) report(at, work, result)
    else print(`seed ${at} ${result.hash} ${result.tasks} tasks ${(result.real / 1000).toFixed(2)} s`)
  }
  print(figures(results))
  if (results.some(({ failure }) => failure !== undefined)) process.exitCode = 1
}

await main()
