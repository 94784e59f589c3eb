// Random hostile runs of a whole light client: sync, light node and client. Usage: node build/scripts/light/services.js [RUNS] [SEED]

import { Effect } from "effect"
import { serviceRun } from "../../test/support/lightServiceRun.ts"
import { randomRuns } from "./randomRuns.ts"

await randomRuns({
  runs: 300,
  runsInWorld: 20,
  told: 50,
  run: (world, seed, parent) => Effect.runPromise(serviceRun(world, seed, parent))
})
