import * as Effect from "effect/Effect"
import { copyFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import type { Random } from "../../../src/base/random.ts"
import { type Arguments, MINUTE, type NodePlan } from "../plan.ts"
import type { Act, Actor, World } from "../World.ts"
import { allow, forbid } from "./Decisions.ts"
import { between, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"
import { decisionsAt, toldIn } from "./Told.ts"

/** What an operator may change from start to start, besides what the plan says of the node. */
const RESTARTS: Readonly<Record<string, NodePlan["options"]>> = {
  checked: { checkBlocks: 0, checkLevel: 4 },
  reindexed: { reindex: true },
  rebuilt: { reindexChainstate: true },
  quiet: { blocksOnly: true },
  indexed: { txIndex: true, blockFilterIndex: "1", coinStatsIndex: true },
  plain: {}
}

/** Where an operator keeps a copy of the wallet; it survives kills with the directory of the node. */
const COPY = "wallet-copy.json"

const restart = (world: World, name: string, options: NodePlan["options"]) =>
  Effect.gen(function*() {
    const node = world.node(name)
    yield* node.stop
    if (node.state === "down") yield* node.start(options)
  })

/** Forbids a block for a while, in which the node may start again with other options. */
const refuse = (world: World, name: string, { arguments: given }: Act) => {
  const node = world.node(name)
  return Effect.acquireUseRelease(
    decisionsAt(world, name).refusing(node.run(forbid(numberAt(given, "depth")))),
    (block) =>
      Effect.gen(function*() {
        if (block === undefined) return
        const options = RESTARTS[textAt(given, "as")]
        if (options !== undefined) yield* restart(world, name, options)
        yield* Effect.sleep(numberAt(given, "lasting"))
      }),
    (block) =>
      block === undefined
        ? Effect.void
        : Effect.ignore(
          decisionsAt(world, name).allowing(node.run(allow(block.hash)))
        )
  )
}

const pathsOf = (world: World, node: string) => {
  const { directory } = world.node(node)
  return { wallet: join(directory, "wallet.json"), copy: join(directory, COPY) }
}

const backup = (world: World, node: string) =>
  Effect.sync(() => {
    const { copy, wallet } = pathsOf(world, node)
    if (existsSync(wallet)) copyFileSync(wallet, copy)
  })

/** Puts the copy of the wallet in place of a later one, while the node is down. */
const restore = (world: World, name: string) =>
  Effect.gen(function*() {
    const node = world.node(name)
    yield* node.stop
    if (node.state !== "down") return
    const { copy, wallet } = pathsOf(world, name)
    if (existsSync(copy)) {
      copyFileSync(copy, wallet)
      toldIn(world).restored.set(name, world.now())
      world.note("wallet restored", { node: name })
    }
    yield* node.start()
  })

const WEIGHTS = { refuse: 3, restart: 3, backup: 2, restore: 1 } as const

const WISHED: Readonly<Record<keyof typeof WEIGHTS, (random: Random) => Arguments>> = {
  refuse: (random) => ({
    depth: between(random, [1, 12]),
    lasting: between(random, [1_000, 8 * MINUTE]),
    // Often those that leave nothing of the chain state.
    as: oneOf(random, ["running", "reindexed", "rebuilt", ...Object.keys(RESTARTS)])
  }),
  restart: (random) => ({ as: oneOf(random, Object.keys(RESTARTS)) }),
  backup: () => ({}),
  restore: () => ({})
}

/**
 * Operators refuse blocks and allow them again, most often after a restart, restart nodes with other options, and keep
 * and restore copies of wallets. Must not damage files, nor leave a node down or a block refused.
 */
export const operators: Actor = {
  name: "operators",

  draw: ({ random, until, whole }) =>
    times(random, { first: 2 * MINUTE, mean: 10 * MINUTE, until }).map((at) => {
      const action = weighted(random, WEIGHTS)
      return { at, action, arguments: { node: oneOf(random, whole).name, ...WISHED[action](random) } }
    }),

  act: (world) => ({
    refuse: (act) => refuse(world, textAt(act.arguments, "node"), act),
    restart: ({ arguments: given }) => restart(world, textAt(given, "node"), RESTARTS[textAt(given, "as")] ?? {}),
    backup: ({ arguments: given }) => backup(world, textAt(given, "node")),
    restore: ({ arguments: given }) => restore(world, textAt(given, "node"))
  })
}
