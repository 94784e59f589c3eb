import * as Effect from "effect/Effect"
import { rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainSink } from "../../../src/chain/ChainSink.ts"
import { Snapshots } from "../../../src/chain/Snapshots.ts"
import type { BlockHeader } from "../../../src/protocol/block.ts"
import { type DrawnStep, MINUTE, type NodePlan } from "../plan.ts"
import type { Act, Actor, World, WorldNode } from "../World.ts"
import { between, booleanAt, chance, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"

/** Milliseconds after its beginning within which a node is killed: it becomes whole within seconds. */
const SOON = 3_000

/** An anchor below the tip of a node: the node begins with the names of the blocks above it. */
const anchorAt = (world: World, from: string, depth: number) =>
  world.node(from).run(Effect.gen(function*() {
    const { headerAt, tip } = yield* Chain
    const { height } = yield* tip
    const header = yield* headerAt(Math.max(1, height - depth))
    return header === undefined
      ? yield* Effect.fail("no block for an anchor")
      : { height: header.height, hash: header.hash, chainwork: header.chainwork }
  }))

/** Light at first, and whole in the end. */
const beginLight = (world: World, newcomer: WorldNode, { arguments: given }: Act) =>
  Effect.flatMap(
    anchorAt(world, textAt(given, "from"), numberAt(given, "depth")),
    (anchor) => newcomer.renew({ anchor })
  )

/** The headers of a node's best chain, as its operator copies them. */
const headersOf = (world: World, from: string) =>
  world.node(from).run(Effect.gen(function*() {
    const { headerAt, tip } = yield* Chain
    const { height } = yield* tip
    const all: Array<BlockHeader> = []
    for (let at = 1; at <= height; at++) {
      const found = yield* headerAt(at)
      if (found !== undefined) all.push({ header: found.header, auxpow: undefined })
    }
    return all
  }))

/** No peer reaches the node for a while. */
const alone = (world: World, { host }: NodePlan) => {
  const hosts = new Set([host])
  return Effect.acquireRelease(
    Effect.sync(() => [
      world.network.cut({ from: hosts, to: undefined }),
      world.network.cut({ from: undefined, to: hosts })
    ]),
    (ends) =>
      Effect.sync(() => {
        for (const end of ends) end()
      })
  )
}

/** The file of another node's coins, beside the directories of all nodes, until the scope closes. */
const coinsOf = (world: World, from: string, name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => join(dirname(world.node(from).directory), name)),
    (path) => Effect.sync(() => rmSync(path, { force: true }))
  ).pipe(Effect.flatMap((path) =>
    Effect.map(
      world.node(from).run(Effect.flatMap(Snapshots, ({ dump }) => dump(path, "tip"))),
      ({ hash }) => ({ path, hash })
    )
  ))

/** Begins with the coins of another node, before it gets any block, and validates the blocks below them afterwards. */
const beginWithCoins = (world: World, newcomer: WorldNode, { arguments: given }: Act) =>
  Effect.scoped(Effect.gen(function*() {
    const from = textAt(given, "from")
    const headers = yield* headersOf(world, from)
    const { hash, path } = yield* coinsOf(world, from, `${newcomer.name}-${newcomer.life}.coins`)
    yield* alone(world, newcomer.plan)
    yield* newcomer.renew({ snapshotHash: hash })
    const { height } = yield* newcomer.run(Effect.gen(function*() {
      yield* (yield* ChainSink).acceptHeaders(headers, true)
      return yield* (yield* Snapshots).load(path)
    }))
    world.note("coins loaded", { node: newcomer.name, height })
  }))

/**
 * Operators of new nodes: a node begins again with an empty directory, with the names of the last blocks, with another
 * node's coins, or with nothing. It becomes a whole node each time, even if it is killed meanwhile. Must not begin again in the last minutes with faults,
 * nor touch a node that others rely on.
 */
export const newcomers: Actor = {
  name: "newcomers",

  draw: ({ nodes, random, until, whole }) =>
    nodes.filter(({ newcomer }) => newcomer === true).flatMap(({ name: node }) =>
      times(random, { first: MINUTE, mean: 10 * MINUTE, until: until - 5 * MINUTE }).flatMap((at) => {
        const begin = {
          at,
          action: weighted(random, { light: 4, coins: 4, empty: 1 }),
          arguments: { node, from: oneOf(random, whole).name, depth: between(random, [1, 140]) }
        }
        const kill = (kills: number): DrawnStep => ({
          at: at + between(random, [0, SOON * kills]),
          action: "interrupt",
          arguments: { node, power: chance(random, 0.6) }
        })
        return [begin, ...Array.from({ length: between(random, [0, 3]) }, (_, i) => kill(i + 1))]
      })
    ),

  act: (world) => {
    const newcomer = ({ arguments: given }: Act): WorldNode => world.node(textAt(given, "node"))
    return {
      light: (act) => beginLight(world, newcomer(act), act),
      coins: (act) => beginWithCoins(world, newcomer(act), act),
      empty: (act) => newcomer(act).renew({}),
      interrupt: (act) =>
        Effect.suspend(() => {
          const node = newcomer(act)
          return Effect.zipRight(node.kill(booleanAt(act.arguments, "power")), node.start())
        })
    }
  }
}
