import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Plan, Step } from "./plan.ts"
import { shrink } from "./shrink.ts"

const step = (number: number): Step => ({
  id: `${number}`,
  at: number * 10,
  actor: `actor ${number % 5}`,
  action: `action ${number % 3}`,
  arguments: {}
})

const PLAN: Plan = {
  seed: 1,
  world: 1,
  nodes: [],
  steps: Array.from({ length: 200 }, (_, i) => step(i)),
  until: 5_000,
  healing: 100
}

const has = ({ steps }: Plan, ...ids: ReadonlyArray<string>) => ids.every((id) => steps.some((each) => each.id === id))

describe("shrink", () => {
  it.effect("leaves the steps that a failure needs, and ends the run after the last", () =>
    Effect.promise(async () => {
      const fails = async (plan: Plan) => has(plan, "17", "90", "153")
      const { plan, runs } = await shrink(PLAN, { fails, most: 1_000, failedAt: Infinity })
      assert.deepStrictEqual(plan.steps.map(({ id }) => id), ["17", "90", "153"])
      assert.strictEqual(plan.until, 1_530)
      assert.isBelow(runs, 120)
    }))

  it.effect("leaves out at once what comes after the failure", () =>
    Effect.promise(async () => {
      const plans: Array<Plan> = []
      const fails = async (plan: Plan) => {
        plans.push(plan)
        return has(plan, "17", "19") && plan.until > 195
      }
      const { plan, runs } = await shrink(PLAN, { fails, most: 1_000, failedAt: 195.5 })
      assert.strictEqual(plans[0]?.steps.length, 20)
      assert.deepStrictEqual([plan.steps.map(({ id }) => id), plan.until], [["17", "19"], 197])
      assert.isBelow(runs, 40)
    }))

  it.effect("keeps a plan that fails alone as a whole", () =>
    Effect.promise(async () => {
      const { plan } = await shrink(PLAN, { fails: async (plan) => plan === PLAN, most: 1_000, failedAt: 90 })
      assert.strictEqual(plan, PLAN)
    }))

  it.effect("stops after the most runs, with what failed last", () =>
    Effect.promise(async () => {
      const failing: Array<Plan> = []
      const { plan, runs } = await shrink(PLAN, {
        fails: async (plan) => has(plan, "17"),
        most: 5,
        failedAt: Infinity,
        shrank: (plan) => failing.push(plan)
      })
      assert.strictEqual(runs, 5)
      assert.strictEqual(plan, failing.at(-1) ?? PLAN)
      assert.isTrue(has(plan, "17"))
    }))
})
