import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync } from "node:fs"
import { join } from "node:path"
import { mineAt } from "./actors/mining.ts"
import { ownerActions } from "./actors/ownerActions.ts"
import { nameOf, NAMES } from "./actors/owners.ts"
import { settledTip } from "./holds/chains.ts"
import { runProgram } from "./ownProcess.ts"
import { MINUTE, type Plan, type WorldNumber } from "./plan.ts"
import { runPlan } from "./runWorld.ts"
import type { Actor, Property, World } from "./World.ts"
import { nodesOf } from "./worlds.ts"

/**
 * Directories with which all seeds of a world begin: opening a new node costs more than the rest of its first hour. Each
 * wallet has coins and names of different ages, so that names expire from the first blocks on.
 */

/** Blocks at which rewards can be spent (COINBASE_MATURITY), and all blocks. */
const RICH = 106
const BLOCKS = 150

/** Blocks between two registrations, which begin at `RICH`, and when names are set a second time, the older ones first. */
const APART = 3
const SECOND = 138

/** Virtual milliseconds between two blocks, before there are transactions and after. */
const [EMPTY, FULL] = [1_000, 15_000]

/** The clocks of this run are behind those of the seeds, so that its blocks are older. */
const AGE = 30 * MINUTE

/** Owners register all names in turn, a third of them for good, then set some of them again. */
const wishesAt = (world: World, height: number): Effect.Effect<unknown, unknown> => {
  const act = ownerActions(world)
  const owner = (index: number): string => world.whole[index % world.whole.length]?.name ?? ""
  const wish = (action: string, index: number, facts: { readonly value: string; readonly renew?: boolean }) => {
    const given = { node: owner(index), name: nameOf(index), ...facts }
    return act[action]?.({ arguments: given, random: () => 0 }) ?? Effect.void
  }
  const index = (height - RICH) / APART
  if (Number.isInteger(index) && index >= 0 && index < NAMES) {
    return wish("register", index, { value: "first", renew: index % 3 === 0 })
  }
  return height >= SECOND && height < SECOND + 3 ? wish("update", height - SECOND, { value: "second" }) : Effect.void
}

const builder: Actor = {
  name: "builder",
  draw: () => [],
  act: (world) => ({
    build: () =>
      Effect.forEach(Array.from({ length: BLOCKS }, (_, before) => before + 1), (height) =>
        Effect.gen(function*() {
          const { name } = world.whole[height % world.whole.length] ?? { name: "" }
          yield* mineAt(world, name, { way: "generate", delay: 0 })
          yield* Effect.sleep(height < RICH ? EMPTY : FULL / 2)
          yield* wishesAt(world, height)
          if (height >= RICH) yield* Effect.sleep(FULL / 2)
        }).pipe(Effect.orDie), { discard: true })
  })
}

const isComplete: Property = {
  name: "the template is complete",
  check: (world) => ({
    atEnd: () =>
      Effect.sync(() => {
        const heights = world.whole.map((node) => settledTip(node)?.height)
        return heights.every((height) => height === BLOCKS) ? undefined : `the nodes are at ${heights.join(", ")}`
      })
  })
}

export interface NewTemplate {
  readonly world: WorldNumber
  /** Where nodes may write meanwhile. */
  readonly place: string
  /** Gets a directory for each node. */
  readonly directory: string
}

/** Makes the directories of a world's nodes. */
export const fillTemplate = async ({ directory, place, world }: NewTemplate): Promise<void> => {
  const begin = MINUTE / 2
  const until = begin + MINUTE + RICH * EMPTY + (BLOCKS - RICH) * FULL
  const plan: Plan = {
    seed: 0,
    world,
    nodes: nodesOf(world).filter(({ newcomer }) => newcomer !== true).map((node) => ({ ...node, offset: -AGE })),
    steps: [{ id: "builder", at: begin, actor: "builder", action: "build", arguments: {} }],
    until,
    healing: MINUTE
  }
  for (const { name } of plan.nodes) mkdirSync(join(directory, name))
  const cast = { actors: [builder], properties: [isComplete] }
  const { failure } = await runPlan(plan, cast, { place, keep: directory })
  if (failure !== undefined) throw new Error(`the template of world ${world} failed: ${failure.reason}`)
}

/** The same in a process of its own. Returns where the directories are, below `place`. */
export const makeTemplate = async (world: WorldNumber, place: string): Promise<string> => {
  const directory = mkdtempSync(join(place, "svcd-template-"))
  const status = await runProgram("oneTemplate", `${world}`, place, directory)
  if (!status.startsWith("0: ")) throw new Error(`no template of world ${world}: it ended with ${status}`)
  return directory
}
