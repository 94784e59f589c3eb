import { assert, describe, it } from "@effect/vitest"
import { type Drawing, MINUTE } from "../plan.ts"
import { streamOf } from "../seed.ts"
import type { Actor } from "../World.ts"
import { keepsAll, nodesOf } from "../worlds.ts"
import { askers } from "./askers.ts"
import { disks } from "./disks.ts"
import { killers } from "./killers.ts"
import { liars } from "./liars.ts"
import { miners } from "./miners.ts"
import { newcomers } from "./newcomers.ts"
import { operators } from "./operators.ts"
import { owners } from "./owners.ts"
import { receivers } from "./receivers.ts"
import { reorganizers } from "./reorganizers.ts"
import { replicas } from "./replicas.ts"
import { resolvers } from "./resolvers.ts"
import { subscribers } from "./subscribers.ts"
import { weather } from "./weather.ts"

/** A light node and a newcomer are among them. */
const nodes = nodesOf(2)

const drawn = ({ draw, name }: Actor, seed: number) => {
  const drawing: Drawing = {
    seed,
    world: 2,
    nodes,
    whole: nodes.filter(keepsAll),
    until: 45 * MINUTE,
    random: streamOf(seed, `act:${name}`)
  }
  return draw(drawing)
}

describe("actors", () => {
  it.each([
    askers,
    disks,
    killers,
    liars,
    miners,
    newcomers,
    operators,
    owners,
    reorganizers,
    replicas,
    receivers,
    resolvers,
    subscribers,
    weather
  ])(
    "$name draw the same steps from the same seed",
    (actor) => {
      let drew = 0
      for (let seed = 0; seed < 50; seed++) {
        const steps = drawn(actor, seed)
        assert.deepStrictEqual(steps, drawn(actor, seed))
        assert.deepStrictEqual(JSON.parse(JSON.stringify(steps)), steps)
        for (const { at } of steps) assert.isAtLeast(at, 0)
        drew += steps.length
      }
      assert.isAbove(drew, 50)
    }
  )

  it("miners find some thirty blocks in a run", () => {
    const counts = Array.from({ length: 50 }, (_, seed) => drawn(miners, seed).length)
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    assert.isAtLeast(mean, 25)
    assert.isAtMost(mean, 45)
  })

  it("weather disturbs every link in some world", () => {
    const actions = new Set(
      Array.from({ length: 20 }, (_, seed) => drawn(weather, seed)).flat().map((step) => step.action)
    )
    assert.deepStrictEqual([...actions].sort(), ["clog", "mute", "partition", "reset", "slow", "tear"])
  })
})
