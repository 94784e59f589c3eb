// Random hostile runs of a whole light client: sync, light node and client. Usage: node build/scripts/light/services.js [RUNS] [SEED]
// A wrong answer ends it; the message has the seed of the run, and `services.js 1 SEED` repeats it.

import { Effect } from "effect"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { serviceRun } from "../../test/support/lightServiceRun.ts"
import { kindOf, makeWorld } from "../../test/support/lightWorld.ts"

const [runs = 300, first = 1] = process.argv.slice(2).map(Number)

/** Runs in one world. */
const RUNS_A_WORLD = 20

/** In memory where the system has such a directory: a run syncs its file dozens of times. */
const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

const started = performance.now()
let [answers, restarts, notSynced, tips, slowest] = [0, 0, 0, 0, 0]
const worldOf = (number: number) => makeWorld(number, kindOf(number))
let world = worldOf(Math.floor(first / RUNS_A_WORLD))
for (let seed = first; seed < first + runs; seed++) {
  if (seed % RUNS_A_WORLD === 0) world = worldOf(seed / RUNS_A_WORLD)
  const from = performance.now()
  try {
    const figures = await Effect.runPromise(serviceRun(world, seed, parent))
    answers += figures.answers
    restarts += figures.restarts
    notSynced += figures.notSynced
    tips += figures.tips
  } catch (cause) {
    console.error(`seed ${seed}:`, cause)
    process.exit(1)
  }
  slowest = Math.max(slowest, performance.now() - from)
  if (seed % 50 === 0) console.error(`${seed - first + 1} runs, ${answers} answers`)
}
const seconds = (performance.now() - started) / 1000
console.log(JSON.stringify({
  runs,
  wrong: 0,
  answers,
  notSynced,
  restarts,
  tips,
  seconds,
  cpuSeconds: process.cpuUsage().user / 1e6,
  slowestMs: slowest
}))
