import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainControl } from "../../../src/chain/ChainControl.ts"
import { MINUTE } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { between, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"
import { mineAt } from "./mining.ts"

/** Blocks. Only the last of them orphan rewards that were spent. */
const DEPTHS = { few: [1, 6], many: [7, 40], rewards: [101, 112] } as const

/** Takes back the last blocks at a node, and mines a longer branch there. */
const overtake = (world: World, node: string, { ahead, depth }: { readonly depth: number; readonly ahead: number }) =>
  Effect.gen(function*() {
    const first = yield* world.node(node).run(Effect.gen(function*() {
      const chain = yield* Chain
      const { height } = yield* chain.tip
      const header = yield* chain.headerAt(height - depth + 1)
      if (header === undefined || height < depth) return undefined
      yield* (yield* ChainControl).invalidate(header.hash)
      return header.hash
    }))
    if (first === undefined) return
    const withdrawn = world.node(node).run(Effect.flatMap(ChainControl, ({ reconsider }) => reconsider(first)))
    yield* mineAt(world, node, { way: "generate", delay: 0 }).pipe(
      Effect.repeatN(depth + ahead - 1),
      Effect.ensuring(Effect.ignore(withdrawn))
    )
  })

/**
 * Reorganizes the network on purpose: a node gives up 1 to 40 blocks, most often few, and sometimes more than a block reward
 * takes to mature, mines one to three more than these, and allows the old branch again. Must not leave a block invalid at a node that lives, nor ask for more than it has.
 */
export const reorganizers: Actor = {
  name: "reorganizers",

  draw: ({ random, until, whole }) =>
    times(random, { mean: 12 * MINUTE, until }).map((at) => ({
      at,
      action: "overtake",
      arguments: {
        node: oneOf(random, whole).name,
        depth: between(random, DEPTHS[weighted(random, { few: 62, many: 30, rewards: 8 })]),
        ahead: between(random, [1, 3])
      }
    })),

  act: (world) => ({
    overtake: ({ arguments: given }) =>
      overtake(world, textAt(given, "node"), { depth: numberAt(given, "depth"), ahead: numberAt(given, "ahead") })
  }),

  heal: (world) =>
    Effect.forEach(world.whole, (node) =>
      Effect.ignore(node.run(Effect.gen(function*() {
        const [chain, control] = [yield* Chain, yield* ChainControl]
        const invalid = yield* chain.bestInvalid
        // A node that was killed meanwhile still refuses the branch of the others.
        if (invalid !== undefined) yield* control.reconsider(invalid.hash)
      }))), { discard: true })
}
