import * as Effect from "effect/Effect"
import type { StoredCoinStats } from "../../../src/chain/indexes/CoinStatsIndex.ts"
import { Indexes } from "../../../src/chain/indexes/Indexes.ts"
import type { Cursor } from "../../../src/chain/write/Follower.ts"
import { type Bytes, equal } from "../../../src/protocol/bytes.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, seen, serviceOf, settledTip } from "./chains.ts"
import type { ModelState } from "./ReplayModel.ts"

/** What was issued and not destroyed is in coins, those of names among them. */
export const supplyFault = ({ coins, money: { destroyed, issued } }: ModelState): string | undefined => {
  let held = 0
  for (const { value } of coins.values()) held += value
  return held === issued - destroyed
    ? undefined
    : `all coins are worth ${held}, of ${issued} issued and ${destroyed} destroyed`
}

type Stats = Pick<StoredCoinStats, "coins" | "genesis" | "names" | "subsidy">

/** What the statistics of a block have wrong (`-coinstatsindex`). */
export const statsFault = (
  { coins, genesis, names, subsidy }: Stats,
  { money: { destroyed, issued } }: Pick<ModelState, "money">
): string | undefined => {
  if (subsidy - genesis !== BigInt(issued)) return `its statistics have ${subsidy - genesis} issued, not ${issued}`
  return coins + names === issued - destroyed
    ? undefined
    : `its statistics have coins of ${coins + names}, of ${issued} issued and ${destroyed} destroyed`
}

class Supplies {
  compared = 0
  private readonly world: World
  /** The last compared tips, and those whose statistics were, by node. */
  private readonly looked = new Map<string, Bytes>()
  private readonly counted = new Map<string, Bytes>()

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    const tip = settledTip(node)
    if (tip === undefined) return undefined
    return this.supply(node, tip) ?? this.statistics(node, tip)
  }

  private supply({ name }: WorldNode, { hash }: Cursor): string | undefined {
    if (isAt(this.looked, name, hash)) return undefined
    this.looked.set(name, hash)
    return comparedAt(this.world, hash, ({ state }) => {
      this.compared++
      return supplyFault(state)
    })
  }

  /** The index follows the chain, and may be behind. */
  private statistics(node: WorldNode, { hash, height }: Cursor): string | undefined {
    const index = serviceOf(node, Indexes)?.coinStats
    if (index === undefined || isAt(this.counted, node.name, hash)) return undefined
    const stats = seen(node, index.stats({ height, hash }))
    if (stats === undefined) return undefined
    this.counted.set(node.name, hash)
    return comparedAt(this.world, hash, ({ state }) => statsFault(stats, state))
  }

  /** A node that counts coins whose statistics were never compared. */
  get uncounted(): string | undefined {
    const counts = (node: WorldNode): boolean => node.plan.options.coinStatsIndex === true
    const name = this.world.whole.find((node) => counts(node) && !this.counted.has(node.name))?.name
    return name === undefined ? undefined : `no statistics of ${name} were compared`
  }
}

const isAt = (places: ReadonlyMap<string, Bytes>, node: string, hash: Bytes): boolean => {
  const place = places.get(node)
  return place !== undefined && equal(place, hash)
}

export const moneyHolds: Property = {
  name: "money is conserved",
  check: (world) => {
    const supplies = new Supplies(world)
    return {
      every: 1_000,
      during: () => firstFault(world.whole, (node) => supplies.check(node)),
      atEnd: () => Effect.sync(() => supplies.uncounted),
      compared: () => supplies.compared
    }
  }
}
