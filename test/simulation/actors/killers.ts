import * as Effect from "effect/Effect"
import { MINUTE } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { between, booleanAt, chance, numberAt, oneOf, textAt, times } from "./drawing.ts"

/** Chance that a node that is killed loses power with its machine. */
const POWER_CUT = 0.4

/** The longest time that a node is down, in milliseconds. */
const DOWN = MINUTE

/** Starts a node that is down, after some milliseconds. */
export const again = (world: World, name: string, after: number) =>
  Effect.gen(function*() {
    yield* Effect.sleep(after)
    const node = world.node(name)
    if (node.state === "down") yield* node.start()
  })

/**
 * Kills nodes between any two tasks, often with their machine's power, or stops them as an operator does, and starts them
 * again after 0 to 60 seconds; sometimes the next kill comes while the node still opens its files. Must not leave a node down.
 */
export const killers: Actor = {
  name: "killers",

  draw: ({ nodes, random, until }) =>
    times(random, { first: MINUTE, mean: 12 * MINUTE, until }).flatMap((at) => {
      const node = oneOf(random, nodes).name
      const down = chance(random, 0.3) ? 0 : between(random, [1, DOWN])
      const action = chance(random, 0.75) ? "kill" : "stop"
      const [power, powerAgain] = [!chance(random, POWER_CUT), !chance(random, POWER_CUT)]
      const first = { at, action, arguments: { node, down, power } }
      if (!chance(random, 0.15)) return [first]
      const second = { node, down: 0, power: powerAgain }
      return [first, { at: at + down + between(random, [0, 2_000]), action: "kill", arguments: second }]
    }),

  act: (world) => ({
    kill: ({ arguments: given }) =>
      Effect.zipRight(
        world.node(textAt(given, "node")).kill(booleanAt(given, "power")),
        again(world, textAt(given, "node"), numberAt(given, "down"))
      ),
    stop: ({ arguments: given }) =>
      Effect.zipRight(
        world.node(textAt(given, "node")).stop,
        again(world, textAt(given, "node"), numberAt(given, "down"))
      )
  })
}
