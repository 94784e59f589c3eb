import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runSeed } from "./runs.ts"
import { makeTemplate } from "./template.ts"
import { drawPlan, firstHours } from "./worlds.ts"

describe("a world", () => {
  const place = mkdtempSync(join(tmpdir(), "svcd-simulation-"))
  let template = ""

  beforeAll(async () => {
    template = await makeTemplate(1, place)
  })

  afterAll(() => rmSync(place, { recursive: true, force: true }))

  it("runs a seed twice in the same way, each time in a process of its own", async () => {
    const { failure, tasks } = await runSeed(firstHours(drawPlan(1, 1), 1 / 4), {
      place,
      templateOf: () => Promise.resolve(template),
      trace: false,
      double: true,
      shrink: false,
      file: join(place, "sim-1.ndjson"),
      print: () => {}
    })
    assert.isUndefined(failure)
    assert.isAbove(tasks, 1_000)
  })
})
