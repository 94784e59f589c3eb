import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Chain } from "../../../src/chain/Chain.ts"
import { completeNames } from "../../../src/names/completeNames.ts"
import { NameDb, type NameEntry } from "../../../src/names/NameDb.ts"
import { type Bytes, equal } from "../../../src/protocol/bytes.ts"
import { nameKey } from "../../../src/protocol/keys.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, seen, settledTip } from "./chains.ts"
import { isExpiredAt, type ModelOperation, type ModelState } from "./ReplayModel.ts"

/**
 * Blocks arrive after their headers: a node may deny a name while so many known blocks are on their way, for so many
 * seconds after the time in the first of their headers (`SyncStatus`).
 */
const ON_THEIR_WAY = { blocks: 2, seconds: 600 }

/** A name that nobody registers. */
const NEVER = new TextEncoder().encode("d/never-registered")

const isRecord = (found: NameEntry, said: ModelOperation): boolean =>
  found.height === said.height && found.vout === said.vout && equal(found.txid, said.txid) &&
  equal(found.value, said.value) && equal(found.address, said.address)

/** The base of the snapshot that the names of a node begin with. */
const beginningOf = (node: WorldNode): number | undefined =>
  seen(node, Effect.flatMap(NameDb, ({ beginning }) => beginning))

/** Names that begin with coins lack those that had expired: a block ends the coins of names for the one after it. */
const isForgotten = (node: WorldNode, said: ModelOperation, height: number): boolean =>
  beginningOf(node) !== undefined && isExpiredAt(said.height, height + 1)

/** The record that a node answers with, from its cache or names.db. */
const recordFault = (node: WorldNode, name: Bytes, { height, names }: ModelState): string | undefined => {
  const exit = node.look(Effect.flatMap(NameDb, (db) => db.resolve(name)))
  if (exit === undefined) return undefined
  const said = names.get(nameKey(name))
  const found = Exit.isSuccess(exit) ? exit.value : undefined
  if (found === undefined) {
    return said === undefined || isForgotten(node, said, height) ? undefined : `it does not find ${nameField(name)}`
  }
  return said !== undefined && isRecord(found, said)
    ? undefined
    : `it has ${nameField(name)} as of height ${found.height}, not of ${said?.height ?? "no block"}`
}

/** A denial is true at the tip, and comes only from a node that lacks no known block but those on their way. */
const denialFault = (node: WorldNode, name: Bytes, { height, names }: ModelState): string | undefined => {
  const known = seen(node, Effect.flatMap(completeNames(), (complete) => complete.known(name)))
  if (known === undefined) return undefined
  const said = names.get(nameKey(name))
  const lives = said !== undefined && !isExpiredAt(said.height, height)
  if (known.type === "unknown" && lives && isForgotten(node, said, height) && beginningOf(node) === height) {
    return undefined
  }
  // In a long series of blocks, the chain moves before its followers learn of it, and a name may live at a block between.
  if (known.type === "active" && seen(node, Effect.flatMap(Chain, (chain) => chain.tip))?.height !== height) {
    return undefined
  }
  if ((known.type === "active") !== lives) return `it says that ${nameField(name)} is ${known.type} at height ${height}`
  if (known.type === "active") return undefined
  const missing = seen(node, Effect.flatMap(Chain, (chain) => chain.progress))?.missing
  if (missing === undefined) return undefined
  const age = node.time() / 1000 - missing.since
  return missing.count <= ON_THEIR_WAY.blocks && age <= ON_THEIR_WAY.seconds
    ? undefined
    : `it says that ${nameField(name)} is ${known.type}, while it lacks ${missing.count} blocks that it knows of`
}

class Answers {
  private readonly world: World
  compared = 0
  private turn = 0

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    const tip = settledTip(node)
    const cursor = seen(node, Effect.flatMap(NameDb, (names) => names.cursor))
    if (tip === undefined || cursor === undefined || !equal(tip.hash, cursor.hash)) return undefined
    return comparedAt(this.world, tip.hash, (model) => {
      this.compared++
      const { names } = model.state
      const all = [...names.values()]
      const name = all[this.turn++ % (all.length + 1)]?.name ?? NEVER
      return recordFault(node, name, model.state) ?? denialFault(node, name, model.state)
    })
  }
}

export const answersHold: Property = {
  name: "answers are true, and denials complete",
  check: (world) => {
    const answers = new Answers(world)
    return {
      every: 1_000,
      during: () => firstFault(world.whole, (node) => answers.check(node)),
      compared: () => answers.compared
    }
  }
}
