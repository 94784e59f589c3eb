import { readFileSync, writeFileSync } from "node:fs"
import type { Plan } from "./plan.ts"
import { type Outcome, runPlan } from "./runWorld.ts"
import { eventLine } from "./trace.ts"
import { castOf } from "./worlds.ts"

// Runs one plan. Argument: the file of an `OneRun`.

export interface OneRun {
  readonly plan: Plan
  readonly place: string
  readonly template: string
  readonly trace: boolean
  /** The file to write the `OneResult` to. */
  readonly answer: string
}

export interface OneResult extends Outcome {
  /** Real milliseconds. */
  readonly real: number
  /** Bytes of memory at most. */
  readonly memory: number
}

const given: OneRun = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))
const { answer, place, plan, template, trace } = given
const began = performance.now()
const show = trace
  ? (event: Parameters<typeof eventLine>[0]) => void process.stdout.write(`${eventLine(event)}\n`)
  : undefined
const outcome = await runPlan(plan, castOf(plan.world), { place, template, show })
const memory = 1_024 * process.resourceUsage().maxRSS
const result: OneResult = { ...outcome, real: performance.now() - began, memory }
writeFileSync(answer, JSON.stringify(result))
// What a failed world has left does not keep the process.
process.exit()
