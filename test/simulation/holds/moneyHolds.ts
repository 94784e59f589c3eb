import * as Effect from "effect/Effect"
import { Indexes } from "../../../src/chain/indexes/Indexes.ts"
import { type Bytes, equal } from "../../../src/protocol/bytes.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, seen, settledTip } from "./chains.ts"
import type { ModelState } from "./ReplayModel.ts"

/** What was issued and not destroyed is in coins, those of names among them. */
export const supplyFault = ({ coins, money: { destroyed, issued } }: ModelState): string | undefined => {
  let held = 0
  for (const { value } of coins.values()) held += value
  return held === issued - destroyed
    ? undefined
    : `all coins are worth ${held}, of ${issued} issued and ${destroyed} destroyed`
}

/** What the index of statistics says of a block (`-coinstatsindex`), if the node has it. */
const statsFault = (
  node: WorldNode,
  { hash, height, money: { destroyed, issued } }: ModelState
): string | undefined => {
  const stats = seen(
    node,
    Effect.flatMap(Indexes, ({ coinStats }) => coinStats?.stats({ height, hash }) ?? Effect.succeed(undefined))
  )
  if (stats === undefined) return undefined
  const { coins, genesis, names, subsidy } = stats
  if (subsidy - genesis !== BigInt(issued)) return `its statistics have ${subsidy - genesis} issued, not ${issued}`
  return coins + names === issued - destroyed
    ? undefined
    : `its statistics have coins of ${coins + names}, of ${issued} issued and ${destroyed} destroyed`
}

class Supplies {
  compared = 0
  private readonly world: World
  private readonly looked = new Map<string, Bytes>()

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    const tip = settledTip(node)
    const looked = this.looked.get(node.name)
    if (tip === undefined || looked !== undefined && equal(looked, tip.hash)) return undefined
    this.looked.set(node.name, tip.hash)
    return comparedAt(this.world, tip.hash, ({ state }) => {
      this.compared++
      return supplyFault(state) ?? statsFault(node, state)
    })
  }
}

export const moneyHolds: Property = {
  name: "money is conserved",
  check: (world) => {
    const supplies = new Supplies(world)
    return {
      every: 1_000,
      during: () => firstFault(world.whole, (node) => supplies.check(node)),
      compared: () => supplies.compared
    }
  }
}
