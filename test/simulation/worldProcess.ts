import { readFileSync, writeFileSync } from "node:fs"
import type { Plan } from "./plan.ts"
import { type Outcome, runPlan } from "./runWorld.ts"
import { eventLine } from "./trace.ts"
import { castOf } from "./worlds.ts"

// Runs plans, one after another. Each message is the file of an `OneRun`, and is answered with whether the next may come.

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
  /** Milliseconds of processor time, with the start of the process if it is the first run. */
  readonly processor: number
  /** Bytes of memory of the process at most. */
  readonly memory: number
}

/** Bytes of memory after which another process goes on: what was collected leaves gaps. */
const MOST_MEMORY = 600e6

let used = 0

const show = (event: Parameters<typeof eventLine>[0]): void => void process.stdout.write(`${eventLine(event)}\n`)

const run = async (file: string): Promise<boolean> => {
  const { answer, place, plan, template, trace }: OneRun = JSON.parse(readFileSync(file, "utf8"))
  const began = performance.now()
  const outcome = await runPlan(plan, castOf(plan.world), { place, template, show: trace ? show : undefined })
  const real = performance.now() - began
  const { system, user } = process.cpuUsage()
  const processor = (system + user) / 1000 - used
  used += processor
  const memory = 1_024 * process.resourceUsage().maxRSS
  const result: OneResult = { ...outcome, real, processor, memory }
  writeFileSync(answer, JSON.stringify(result))
  // What a failed world has left would meet the next one.
  return outcome.failure === undefined && memory < MOST_MEMORY
}

process.on("message", (file: string) => void run(file).then((goesOn) => process.send?.(goesOn)))
// What waits in a world that nobody asks about any more does not keep the process.
process.on("disconnect", () => process.exit())
