import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WorldProcesses } from "./ownProcess.ts"
import { runSeed } from "./runs.ts"
import { makeTemplate } from "./template.ts"
import { drawPlan, firstHours } from "./worlds.ts"

describe("a world", () => {
  const place = mkdtempSync(join(tmpdir(), "svcd-simulation-"))
  const processes = new WorldProcesses()
  let template = ""

  beforeAll(async () => {
    template = await makeTemplate(1, place)
  })

  afterAll(() => {
    processes.close()
    rmSync(place, { recursive: true, force: true })
  })

  const run = (seed: number, double: boolean) =>
    runSeed(firstHours(drawPlan(seed, 1), 1 / 20), {
      place,
      templateOf: () => Promise.resolve(template),
      processes,
      trace: false,
      double,
      shrink: false,
      file: join(place, "sim-1.ndjson"),
      print: () => {}
    })

  it("runs a seed behind another one as in a process of its own", async () => {
    assert.isUndefined((await run(2, false)).failure)
    const { failure, tasks } = await run(1, true)
    assert.isUndefined(failure)
    assert.isAbove(tasks, 1_000)
  })
})
