// Random hostile runs of the light chain. Usage: node build/scripts/light/hostile.js [RUNS] [SEED]

import { hostileRun } from "../../test/support/lightRun.ts"
import { randomRuns } from "./randomRuns.ts"

await randomRuns({ runs: 10_000, runsInWorld: 100, told: 1_000, run: hostileRun })
