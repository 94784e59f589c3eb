import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HOUR, type Plan } from "./plan.ts"
import { runPlan } from "./runWorld.ts"
import { makeTemplate } from "./template.ts"
import { castOf, drawPlan } from "./worlds.ts"

/** The first part of what a seed draws: a run of all of it takes longer than a test should. */
const planOf = (seed: number): Plan => {
  const until = HOUR / 2
  const plan = drawPlan(seed, 1)
  return { ...plan, until, healing: 0, steps: plan.steps.filter(({ at }) => at < until) }
}

describe("a world", () => {
  const place = mkdtempSync(join(tmpdir(), "svcd-simulation-"))
  let template = ""

  beforeAll(async () => {
    template = await makeTemplate(1, place)
  })

  afterAll(() => rmSync(place, { recursive: true, force: true }))

  it.each([1, 2])("runs seed %i twice in the same way", async (seed) => {
    // The order of events is the subject; what must hold needs a healed world.
    const cast = { ...castOf(1), properties: [] }
    const runs = []
    for (let run = 0; run < 2; run++) runs.push(await runPlan(planOf(seed), cast, { place, template }))
    const [first, second] = runs
    assert.isUndefined(first?.failure)
    assert.isAbove(first?.tasks ?? 0, 1_000)
    assert.strictEqual(first?.hash, second?.hash)
    assert.strictEqual(first?.tasks, second?.tasks)
  })
})
