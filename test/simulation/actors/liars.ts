import * as Effect from "effect/Effect"
import { below, bytesFrom, type Random } from "../../../src/base/random.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { equal } from "../../../src/protocol/bytes.ts"
import { ANYONE, buildBlock, type ChainEnd, makeCoinbase } from "../../support/regtest.ts"
import { type Answer, type ScriptedPeer, scriptedPeer } from "../net/ScriptedPeer.ts"
import { MINUTE } from "../plan.ts"
import { PEER_PORT } from "../SimNode.ts"
import type { Act, Actor, World } from "../World.ts"
import { between, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"

/** Headers in one message. */
const BATCH = 2_000

/** The best block of a node, or one below it, to build on. */
const endOf = (world: World, node: string, depth: number) =>
  world.node(node).run(Effect.gen(function*() {
    const { headerAt, params, tip } = yield* Chain
    const { height } = yield* tip
    const header = yield* headerAt(Math.max(0, height - depth))
    return header === undefined ? undefined : { params, height: header.height, tip: header }
  }))

/** Blocks with work on top of a block, each a second after the one before. `pays`: more than a miner may take. */
const branch = (end: ChainEnd, { count, pays, random }: {
  readonly count: number
  readonly pays: number
  readonly random: Random
}): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let at = end
  for (let i = 0; i < count; i++) {
    const coinbase = makeCoinbase(at.height + 1, [{ value: pays, script: ANYONE }], { extra: bytesFrom(random, 8) })
    const block = buildBlock(at, [], { coinbase, time: at.tip.header.time + 1 })
    blocks.push(block)
    at = { params: at.params, height: at.height + 1, tip: block }
  }
  return blocks
}

/** Serves blocks that were announced. */
const serving = (blocks: ReadonlyArray<Block>): Answer => (message) => {
  if (message.type !== "getdata") return []
  return [...message.items].flatMap(({ hash }): ReadonlyArray<Message> => {
    const block = blocks.find((each) => equal(each.hash, hash))
    return block === undefined ? [] : [{ type: "block", block }]
  })
}

const silent: Answer = () => []

interface Lie {
  readonly answer: Answer
  readonly tell: (peer: ScriptedPeer) => void
}

/** Announces blocks by their headers. */
const announcing = (blocks: ReadonlyArray<Block>, answer: Answer): Lie => ({
  answer,
  tell: (peer) => {
    for (let at = 0; at < blocks.length; at += BATCH) {
      peer.send({ type: "headers", headers: blocks.slice(at, at + BATCH) })
    }
  }
})

/** Messages that mean nothing, as many as a node takes without disconnecting. */
const flood = (random: Random, count: number): Lie => ({
  answer: silent,
  tell: (peer) => {
    for (let i = 0; i < count; i++) {
      peer.send(
        { type: "ping", nonce: BigInt(i) },
        {
          type: "inv",
          items: Array.from(
            { length: 1 + below(random, 30) },
            () => ({ type: ItemType.tx, hash: bytesFrom(random, 32) })
          )
        }
      )
    }
  }
})

const lieOf = (kind: string, end: ChainEnd, { arguments: given, random }: Act): Lie => {
  const count = numberAt(given, "blocks")
  switch (kind) {
    case "invalid": {
      const blocks = branch(end, { count: 1 + (count % 3), pays: 1_000 * COIN, random })
      return announcing(blocks, serving(blocks))
    }
    case "withheld":
      return announcing(branch(end, { count: 1 + (count % 3), pays: 0, random }), silent)
    case "deep":
      return announcing(branch(end, { count, pays: 0, random }), silent)
    case "honest": {
      const blocks = branch(end, { count: 1 + (count % 3), pays: 0, random })
      return announcing(blocks, serving(blocks))
    }
    default:
      return flood(random, count)
  }
}

/** Calls a node, lies, and stays for a while. */
const lie = (world: World, act: Act) =>
  Effect.gen(function*() {
    const { arguments: given, random } = act
    const node = textAt(given, "node")
    const kind = textAt(given, "kind")
    const end = yield* endOf(world, node, kind === "deep" ? numberAt(given, "depth") : 0)
    if (end === undefined) return
    const { answer, tell } = lieOf(kind, end, act)
    const peer = yield* scriptedPeer({
      network: world.network,
      from: textAt(given, "from"),
      to: { host: world.node(node).plan.host, port: PEER_PORT },
      time: world.time,
      nonce: 1n + BigInt(below(random, 2 ** 48)),
      answer
    })
    tell(peer)
    yield* Effect.sleep(numberAt(given, "lasting"))
  }).pipe(Effect.scoped)

const WEIGHTS = { invalid: 3, withheld: 2, deep: 2, flood: 2, honest: 2 } as const

/**
 * Peers outside the network's nodes call one and lie: invalid blocks, headers of blocks that they never serve, long
 * branches from far below the tip, floods within a peer's budget; some are honest and serve an empty block. Must have no
 * more work on a hidden branch at the end than the miners can overtake.
 */
export const liars: Actor = {
  name: "liars",

  draw: ({ nodes, random, until }) =>
    times(random, { mean: 7 * MINUTE, until: until - 5 * MINUTE }).map((at) => ({
      at,
      action: "lie",
      arguments: {
        node: oneOf(random, nodes).name,
        from: `${185 + below(random, 8)}.${below(random, 200)}.0.${1 + below(random, 250)}`,
        kind: weighted(random, WEIGHTS),
        blocks: between(random, [1, 60]),
        depth: between(random, [10, 100]),
        lasting: between(random, [1_000, 5 * MINUTE])
      }
    })),

  act: (world) => ({ lie: (act) => lie(world, act) })
}
