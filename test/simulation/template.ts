import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync } from "node:fs"
import { join } from "node:path"
import { mineAt } from "./actors/mining.ts"
import { MINUTE, type Plan, type WorldNumber } from "./plan.ts"
import { runPlan } from "./runWorld.ts"
import type { Actor } from "./World.ts"
import { nodesOf } from "./worlds.ts"

/** Directories with which all seeds of a world begin: opening a new node costs more than the rest of its first hour. */

/** Blocks whose rewards can be spent, so that each wallet has coins; and those above them (COINBASE_MATURITY). */
const BLOCKS = 112

/** Virtual milliseconds between two of these blocks. */
const SPACING = 1_000

/** The clocks of this run are behind those of the seeds, so that its blocks are older. */
const AGE = 20 * MINUTE

const miner: Actor = {
  name: "miner",
  draw: () => [],
  act: (world) => ({
    mine: () =>
      Effect.forEach(Array.from({ length: BLOCKS }, (_, height) => height), (height) => {
        const { name } = world.nodes[height % world.nodes.length] ?? { name: "" }
        return Effect.zipRight(mineAt(world, name, { way: "generate", delay: 0 }), Effect.sleep(SPACING))
      }, { discard: true })
  })
}

/** Makes the directories of a world's nodes below `place`. Returns where they are. */
export const makeTemplate = async (world: WorldNumber, place: string): Promise<string> => {
  const until = MINUTE + BLOCKS * SPACING
  const plan: Plan = {
    seed: 0,
    world,
    nodes: nodesOf(world).map((node) => ({ ...node, offset: -AGE })),
    steps: [{ id: "miner", at: MINUTE / 2, actor: "miner", action: "mine", arguments: {} }],
    until,
    healing: MINUTE
  }
  const keep = mkdtempSync(join(place, "svcd-template-"))
  for (const { name } of plan.nodes) mkdirSync(join(keep, name))
  const { failure } = await runPlan(plan, { actors: [miner], properties: [] }, { place, keep })
  if (failure !== undefined) throw new Error(`the template of world ${world} failed: ${failure.reason}`)
  return keep
}
