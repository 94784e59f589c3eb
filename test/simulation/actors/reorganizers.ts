import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Random } from "../../../src/base/random.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainControl } from "../../../src/chain/ChainControl.ts"
import { type Drawing, type DrawnStep, MINUTE } from "../plan.ts"
import type { Actor, World, WorldNode } from "../World.ts"
import { allow, forbid } from "./Decisions.ts"
import { between, chance, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"
import { mineAt } from "./mining.ts"
import { sweep } from "./ownerActions.ts"
import { decisionsAt } from "./Told.ts"

/** Blocks. Only the last of them orphan rewards that were spent. */
const DEPTHS = { few: [1, 6], many: [7, 40], rewards: [101, 112] } as const

/** Chance that the old branch returns. */
const RETURNS = 0.25

/** Milliseconds before a reorganization of rewards in which owners spend the youngest of them. */
const JUST_SPENT = 20_000

/** How often a node is asked to allow what it refuses, once the faults end. */
const TRIES = 30

/** Takes back the last blocks at a node, and mines other ones there: more than these, or a few until the old ones return. */
export const overtake = (
  world: World,
  node: string,
  { blocks, depth }: { readonly depth: number; readonly blocks: number }
) =>
  Effect.acquireUseRelease(
    world.node(node).run(forbid(depth)),
    (first) =>
      Effect.forEach(
        Array.from({ length: first === undefined ? 0 : blocks }),
        () => mineAt(world, node, { way: "generate", delay: 0 }),
        { discard: true }
      ),
    (first) =>
      first === undefined
        ? Effect.void
        : Effect.ignore(
          decisionsAt(world, node).allowing(world.node(node).run(allow(first.hash)))
        )
  )

const drawn = (random: Random, at: number, whole: Drawing["whole"]): ReadonlyArray<DrawnStep> => {
  const node = oneOf(random, whole).name
  const kind = weighted(random, { few: 58, many: 28, rewards: 14 })
  const depth = between(random, DEPTHS[kind])
  const blocks = chance(random, RETURNS)
    ? between(random, [1, Math.min(depth, 3)]) - 1
    : depth + between(random, [1, 3])
  const taken = { at, action: "overtake", arguments: { node, depth, blocks } }
  if (kind !== "rewards") return [taken]
  const spent = whole.map(({ name }) => ({
    at: Math.max(0, at - between(random, [1, JUST_SPENT])),
    action: "spend",
    arguments: { node: name }
  }))
  return [...spent, taken]
}

/** A node that was killed meanwhile still refuses the branch of the others. It may be down now. */
const allowingAll = (world: World, node: WorldNode): Effect.Effect<void> =>
  decisionsAt(world, node.name).allowing(
    node.run(Effect.gen(function*() {
      const [chain, control] = [yield* Chain, yield* ChainControl]
      const invalid = yield* chain.bestInvalid
      if (invalid !== undefined) yield* control.reconsider(invalid.hash)
    }))
  ).pipe(Effect.retry({ times: TRIES, schedule: Schedule.spaced("10 seconds") }), Effect.ignore)

/**
 * Reorganizes the network on purpose: a node gives up 1 to 40 blocks, most often few, and sometimes more than a block reward
 * takes to mature, just after owners have spent the youngest rewards. It mines one to three more than these, or so few that
 * the old branch returns, and allows the old branch again. Must not leave a block invalid at a node that lives, nor ask for
 * more than it has.
 */
export const reorganizers: Actor = {
  name: "reorganizers",

  draw: ({ random, until, whole }) =>
    times(random, { mean: 12 * MINUTE, until }).flatMap((at) => drawn(random, at, whole)),

  act: (world) => ({
    overtake: ({ arguments: given }) =>
      overtake(world, textAt(given, "node"), { depth: numberAt(given, "depth"), blocks: numberAt(given, "blocks") }),
    spend: ({ arguments: given }) => sweep(world, textAt(given, "node"))
  }),

  heal: (world) => Effect.forEach(world.whole, (node) => Effect.forkDaemon(allowingAll(world, node)), { discard: true })
}
