// Random hostile runs of the light chain. Usage: node build/scripts/light/hostile.js [RUNS] [SEED]
// A wrong answer ends it; the message has the seed of the run, and `hostile.js 1 SEED` repeats it.

import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { hostileRun } from "../../test/support/lightRun.ts"
import { kindOf, makeWorld } from "../../test/support/lightWorld.ts"

const [runs = 10_000, first = 1] = process.argv.slice(2).map(Number)

/** Runs in one world. */
const RUNS_A_WORLD = 100

/** In memory where the system has such a directory: a run syncs its file dozens of times. */
const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

const started = performance.now()
let [answers, restarts, complete, slowest] = [0, 0, 0, 0]
const worldOf = (number: number) => makeWorld(number, kindOf(number))
let world = worldOf(Math.floor(first / RUNS_A_WORLD))
for (let seed = first; seed < first + runs; seed++) {
  if (seed % RUNS_A_WORLD === 0) world = worldOf(seed / RUNS_A_WORLD)
  const from = performance.now()
  try {
    const figures = await hostileRun(world, seed, parent)
    answers += figures.answers
    restarts += figures.restarts
    complete += figures.complete
  } catch (cause) {
    console.error(`seed ${seed}:`, cause)
    process.exit(1)
  }
  slowest = Math.max(slowest, performance.now() - from)
  if (seed % 1_000 === 0) console.error(`${seed - first + 1} runs, ${answers} answers`)
}
const seconds = (performance.now() - started) / 1000
console.log(JSON.stringify({
  runs,
  wrong: 0,
  answers,
  restarts,
  completeSteps: complete,
  seconds,
  cpuSeconds: process.cpuUsage().user / 1e6,
  slowestMs: slowest
}))
