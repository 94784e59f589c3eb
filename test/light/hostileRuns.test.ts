import { assert, describe, it } from "@effect/vitest"
import { hostileRun } from "../support/lightRun.ts"
import { makeWorld, type WorldKind } from "../support/lightWorld.ts"

describe("hostile runs", () => {
  const kinds: ReadonlyArray<readonly [WorldKind, number]> = [["plain", 6], ["near", 3], ["uneven", 4]]
  it.each(kinds)("in a world that is %s give no wrong answer, and all answers in the end", async (kind, runs) => {
    const world = makeWorld(1, kind)
    let answers = 0
    for (let seed = 1; seed <= runs; seed++) answers += (await hostileRun(world, seed)).answers
    assert.isAbove(answers, 50 * runs)
  }, 60_000)
})
