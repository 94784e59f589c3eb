import * as Effect from "effect/Effect"
import { MINUTE } from "../plan.ts"
import type { DiskFault } from "../virtual/SimDisk.ts"
import type { Actor, World, WorldNode } from "../World.ts"
import { between, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"

const faultOf = (text: string): DiskFault => text === "full" || text === "broken" ? text : "slow"

/** What an operator does once the disk works again: starts a node that ended because of it. */
const repaired = (world: World, node: WorldNode) =>
  Effect.suspend(() => {
    world.disk.forgive(node.name)
    return node.state === "down" || node.state === "lost" ? node.start() : Effect.void
  })

/**
 * Disks that are full or slow for a while, or fail once. A node may end because of a full or broken disk; it starts again
 * when the disk works. Must not change what is stored: a write either succeeds or fails.
 */
export const disks: Actor = {
  name: "disks",

  draw: ({ nodes, random, until }) =>
    times(random, { first: 2 * MINUTE, mean: 20 * MINUTE, until }).map((at) => ({
      at,
      action: "fault",
      arguments: {
        node: oneOf(random, nodes).name,
        fault: weighted(random, { slow: 4, full: 2, broken: 1 }),
        lasting: between(random, [1_000, 5 * MINUTE])
      }
    })),

  act: (world) => ({
    fault: ({ arguments: given }) => {
      const node = world.node(textAt(given, "node"))
      return Effect.acquireUseRelease(
        Effect.sync(() => world.disk.begin(node.name, faultOf(textAt(given, "fault")))),
        () => Effect.sleep(numberAt(given, "lasting")),
        (end) => Effect.sync(end)
      ).pipe(Effect.zipRight(repaired(world, node)))
    }
  }),

  heal: (world) =>
    Effect.suspend(() => {
      world.disk.heal()
      return Effect.forEach(world.nodes, (node) => Effect.ignore(repaired(world, node)), { discard: true })
    })
}
