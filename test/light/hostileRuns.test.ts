import { assert, describe, it } from "@effect/vitest"
import { hostileRun } from "../support/lightRun.ts"
import { makeWorld } from "../support/lightWorld.ts"

const RUNS = 8

describe("hostile runs", () => {
  it("give no wrong answer, and all answers in the end", async () => {
    const world = makeWorld(0)
    let answers = 0
    for (let seed = 1; seed <= RUNS; seed++) answers += (await hostileRun(world, seed)).answers
    assert.isAbove(answers, 100 * RUNS)
  }, 60_000)
})
