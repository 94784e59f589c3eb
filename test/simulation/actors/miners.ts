import * as Effect from "effect/Effect"
import { exponential } from "../../../src/base/random.ts"
import { MINUTE } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { between, chance, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"
import { mineAt, type MiningWay } from "./mining.ts"

/** Between two blocks of the whole network, on average: the seed decides how dense its world is. */
const SPACING = [MINUTE, 2 * MINUTE] as const

/** A miner returns its work this late at most, in milliseconds. */
const LATE = 20_000

const wayOf = (text: string): MiningWay => text === "aux" || text === "template" ? text : "generate"

/** Between two blocks after the faults: enough of them that registrations end, none in the last part. */
const CALM = 1.5 * MINUTE
const LAST_PART = 6 * MINUTE

/** Blocks in turn at each node, so that every branch is overtaken. They begin once the nodes have met again. */
const calmly = (world: World) =>
  Effect.gen(function*() {
    const { plan: { healing }, whole } = world
    for (let i = 0, left = healing; left > LAST_PART; i++, left -= CALM) {
      yield* Effect.sleep(CALM)
      const name = whole[i % whole.length]?.name
      if (name !== undefined) yield* Effect.ignore(mineAt(world, name, { way: "generate", delay: 0 }))
    }
  })

/**
 * Miners of unequal shares, each at a node of its own, find blocks at exponential times, half of them merged-mined and
 * sometimes several in a row. They take the transactions of their node's pool, and return work late: forks follow. They
 * must not know of each other, nor mine where their node did not ask for it.
 */
export const miners: Actor = {
  name: "miners",

  draw: ({ random, until, whole }) => {
    const shares = Object.fromEntries(whole.map(({ name }) => [name, 0.1 + exponential(random, 1)]))
    return times(random, { mean: between(random, SPACING), until }).map((at) => ({
      at,
      action: "mine",
      arguments: {
        node: weighted(random, shares),
        way: oneOf(random, ["generate", "generate", "aux", "template", "template", "template"]),
        delay: chance(random, 0.5) ? 0 : between(random, [1, LATE]),
        blocks: chance(random, 0.1) ? between(random, [2, 6]) : 1
      }
    }))
  },

  act: (world) => ({
    mine: ({ arguments: given }) =>
      mineAt(world, textAt(given, "node"), { way: wayOf(textAt(given, "way")), delay: numberAt(given, "delay") }).pipe(
        Effect.repeatN(numberAt(given, "blocks") - 1)
      )
  }),

  heal: (world) => Effect.asVoid(Effect.forkDaemon(calmly(world)))
}
