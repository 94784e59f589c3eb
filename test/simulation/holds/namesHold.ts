import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { binaryString, type Bytes, equal } from "../../../src/protocol/bytes.ts"
import type { HeaderId } from "../../../src/protocol/keys.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, seen, serviceOf } from "./chains.ts"
import { readNames, readState } from "./nodeFiles.ts"
import type { ReplayModel } from "./ReplayModel.ts"
import { amountFault, claimsFault, coinsFault, namesFault, shownBlock } from "./storedFaults.ts"

/** What a property remembers of a node. */
interface Seen {
  readonly life: number
  readonly cursor: Bytes
  /** The tip, once names.db has reached it. */
  done: HeaderId | undefined
  /** The last blocks of chainstate.db, and those below them. */
  readonly stored: Set<string>
  best: string
}

/** The blocks below the model's block, as keys. */
const below = (model: ReplayModel): ReadonlyArray<string> => {
  const keys: Array<string> = []
  for (let { height } = model.state; height > 0; height--) {
    const block = model.at(height)
    if (block !== undefined) keys.push(binaryString(block.hash))
  }
  return keys
}

/** Whether a block is above the last one in chainstate.db, and was never stored there before. */
const isAhead = (model: ReplayModel, hash: Bytes, { best, stored }: Seen): boolean =>
  best !== binaryString(hash) && !stored.has(binaryString(hash)) && below(model).includes(best)

/** names.db, claims and coins of a node are those of its blocks, at each commit. */
class StoredNames {
  compared = 0
  private readonly world: World
  private readonly nodes = new Map<string, Seen>()

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    const tree = serviceOf(node, Chain)?.tree
    if (tree === undefined) return undefined
    const before = this.nodes.get(node.name)
    const isKnown = before?.life === node.life
    if (isKnown && before.done === tree.tip()) return undefined
    const cursor = seen(node, Effect.flatMap(NameDb, (names) => names.cursor))
    if (cursor === undefined) return undefined
    const done = equal(tree.hash(tree.tip()), cursor.hash) ? tree.tip() : undefined
    if (isKnown && equal(before.cursor, cursor.hash)) {
      before.done = done
      return undefined
    }
    const { best = "", stored = new Set<string>() } = before ?? {}
    const now: Seen = { life: node.life, cursor: cursor.hash, done, stored, best }
    this.nodes.set(node.name, now)
    return this.state(node, now) ?? this.names(node, now)
  }

  private state(node: WorldNode, now: Seen): string | undefined {
    const state = readState(node.directory)
    if (state === undefined || binaryString(state.best) === now.best) return undefined
    now.best = binaryString(state.best)
    return comparedAt(this.world, state.best, (model) => {
      this.compared++
      for (const key of below(model)) now.stored.add(key)
      const fault = claimsFault(state, model.state, { onlyLiving: node.plan.newcomer === true }) ??
        coinsFault(state, model.state) ?? amountFault(state, model.state)
      return fault === undefined ? undefined : `chainstate.db at block ${shownBlock(state.best)}: ${fault}`
    })
  }

  private names(node: WorldNode, now: Seen): string | undefined {
    const names = readNames(node.directory)
    if (names === undefined) return undefined
    return comparedAt(this.world, names.cursor.hash, (model) => {
      const place = `names.db at block ${shownBlock(names.cursor.hash)} of height ${names.cursor.height}`
      if (isAhead(model, names.cursor.hash, now)) {
        return `${place} is ahead of what the chain has stored`
      }
      const fault = namesFault(names, model.state)
      return fault === undefined ? undefined : `${place}: ${fault}`
    })
  }
}

export const namesHold: Property = {
  name: "names, claims and coins are those of the blocks",
  check: (world) => {
    const stored = new StoredNames(world)
    return { during: () => firstFault(world.whole, (node) => stored.check(node)), compared: () => stored.compared }
  }
}
