import * as Effect from "effect/Effect"
import type { Property, World, WorldNode } from "../World.ts"

/** Fibers of a node without peers, and for each of its connections, at most. */
const AT_REST = 60
const FOR_EACH = 6

const leftOver = (world: World, node: WorldNode): string | undefined => {
  const [count, connections] = [node.fibers(), world.network.openAt(node.plan.host)]
  return count <= AT_REST + FOR_EACH * connections
    ? undefined
    : `${node.name} has ${count} fibers with ${connections} connections`
}

/** Work ends when nobody waits for it: a fiber that never wakes is a leak. */
export const fibersHold: Property = {
  name: "fibers end",
  check: (world) => ({
    atEnd: () =>
      Effect.sync(() => {
        for (const node of world.nodes) {
          world.note("fibers", {
            node: node.name,
            count: node.fibers(),
            connections: world.network.openAt(node.plan.host)
          })
        }
        return world.nodes.map((node) => leftOver(world, node)).find((fault) => fault !== undefined)
      })
  })
}
