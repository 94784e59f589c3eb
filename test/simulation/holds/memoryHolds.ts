import * as Effect from "effect/Effect"
import { Budget, BUDGET_KINDS } from "../../../src/base/MemoryBudget.ts"
import { PeerManager } from "../../../src/network/PeerManager.ts"
import { MINUTE } from "../plan.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { firstFault, seen } from "./chains.ts"

/** Inbound and outbound connections of a node with the default options. */
const MOST_OUTBOUND = 11
const MOST_PEERS = 125

const tooMany = (node: WorldNode): string | undefined => {
  const count = seen(node, Effect.flatMap(PeerManager, (peers) => peers.count))
  if (count === undefined) return undefined
  const { inbound, outbound } = count
  if (inbound + outbound > MOST_PEERS) return `it has ${inbound + outbound} connections`
  return outbound > MOST_OUTBOUND + node.plan.peers.length ? `it has ${outbound} outbound connections` : undefined
}

/** Memory held although the host has no connection. One before its handshake is not a peer yet, but holds memory. */
const leftOver = (world: World, node: WorldNode): string | undefined => {
  const budget = seen(node, Budget)
  if (budget === undefined || world.network.openAt(node.plan.host) > 0) return undefined
  const kind = BUDGET_KINDS.find((each) => budget.held(each) > 0)
  return kind === undefined ? undefined : `without connections, ${budget.held(kind)} bytes of ${kind} are held`
}

/** Virtual milliseconds in which both sides of all connections learn that they are over. */
const ENDING = MINUTE

/** Breaks all connections: what a peer that left long ago still holds is seen then, as nobody else holds anything. */
const isolated = (world: World): Effect.Effect<string | undefined> =>
  Effect.gen(function*() {
    const join = world.network.cut({ from: undefined, to: undefined })
    for (const { plan: { host } } of world.nodes) world.network.reset(host)
    yield* Effect.sleep(ENDING)
    const fault = firstFault(world.nodes, (node) => leftOver(world, node))
    join()
    return fault
  })

export const memoryHolds: Property = {
  name: "connections and their memory have bounds",
  check: (world) => {
    /** Nodes that held memory at the last look. A connection that has just closed still ends then. */
    let before = new Set<string>()
    return {
      every: 2_000,
      during: () => {
        const now = world.nodes.flatMap((node) => {
          const left = leftOver(world, node)
          return left === undefined ? [] : [{ left, key: `${node.name} ${node.life}` }]
        })
        const lasting = now.find(({ key }) => before.has(key))
        before = new Set(now.map(({ key }) => key))
        return lasting === undefined ? firstFault(world.nodes, tooMany) : `${lasting.key}: ${lasting.left}`
      },
      atEnd: () => isolated(world)
    }
  }
}
