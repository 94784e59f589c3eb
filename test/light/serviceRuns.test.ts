import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { serviceRun } from "../support/lightServiceRun.ts"
import { makeWorld, type WorldKind } from "../support/lightWorld.ts"

/** `scripts/light/services.ts` does the same as often as you like. */
describe("hostile runs of a light client with its sync", () => {
  const kinds: ReadonlyArray<readonly [WorldKind, number]> = [["plain", 2], ["near", 1], ["uneven", 1]]
  for (const [kind, runs] of kinds) {
    it.live(
      `in a world that is ${kind} give no wrong answer, and all answers in the end`,
      () =>
        Effect.gen(function*() {
          const world = makeWorld(2, kind)
          let answers = 0
          for (let seed = 1; seed <= runs; seed++) answers += (yield* serviceRun(world, seed)).answers
          assert.isAbove(answers, 5 * runs)
        }),
      60_000
    )
  }
})
