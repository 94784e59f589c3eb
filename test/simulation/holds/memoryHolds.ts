import * as Effect from "effect/Effect"
import { Budget, BUDGET_KINDS } from "../../../src/base/MemoryBudget.ts"
import { PeerManager } from "../../../src/network/PeerManager.ts"
import type { Property, WorldNode } from "../World.ts"
import { firstFault, seen } from "./chains.ts"

/** Inbound and outbound connections of a node with the default options. */
const MOST_OUTBOUND = 11
const MOST_PEERS = 125

const fault = (node: WorldNode): string | undefined => {
  const count = seen(node, Effect.flatMap(PeerManager, (peers) => peers.count))
  const budget = seen(node, Budget)
  if (count === undefined || budget === undefined) return undefined
  const { inbound, outbound } = count
  if (inbound + outbound > MOST_PEERS) return `it has ${inbound + outbound} connections`
  if (outbound > MOST_OUTBOUND + node.plan.peers.length) return `it has ${outbound} outbound connections`
  if (inbound + outbound > 0) return undefined
  for (const kind of BUDGET_KINDS) {
    if (budget.held(kind) > 0) return `without peers, ${budget.held(kind)} bytes of ${kind} are held`
  }
  return undefined
}

export const memoryHolds: Property = {
  name: "memory of peers is given back",
  check: (world) => ({ every: 2_000, always: () => firstFault(world.nodes, fault) })
}
