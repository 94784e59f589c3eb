import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { below, bytesFrom, type Random } from "../../../src/base/random.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { LightPart } from "../../../src/light/LightPart.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { PeerManager } from "../../../src/network/PeerManager.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import type { NodeServices } from "../../../src/node/layers/node.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash, EMPTY, equal } from "../../../src/protocol/bytes.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { setName } from "../../support/lightNode.ts"
import { ANYONE, buildBlock, type ChainEnd, makeCoinbase, text } from "../../support/regtest.ts"
import { type Answer, calledPeer, SCRIPT_PORT, type ScriptedPeer, scriptedPeer } from "../net/ScriptedPeer.ts"
import { isWhole, MINUTE } from "../plan.ts"
import { PEER_PORT } from "../SimNode.ts"
import type { Act, Actor, World } from "../World.ts"
import { resolve } from "./askers.ts"
import { between, chance, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"
import { toldIn } from "./Told.ts"

/** Milliseconds between two questions for a stolen name. */
const ASK_EVERY = 1_000

/** How often a thief calls a light node, which cannot know that the owner did not sign. */
const TO_LIGHT = 0.7

/** Headers in one message. */
const BATCH = 2_000

/** A node with the whole chain: the one that is lied to, if it has that. */
const wholeNode = (world: World, node: string) =>
  world.whole.find(({ name }) => name === node) ?? world.whole.find(({ state }) => state === "running")

const atWhole = (world: World, node: string) => <A, E>(effect: Effect.Effect<A, E, NodeServices>) => {
  const whole = wholeNode(world, node)
  return whole === undefined ? Effect.fail("no node runs") : whole.run(effect)
}

/** The end of a light node's window, which may be on a branch that only liars know. */
const endOfWindow = (world: World, node: string) =>
  world.node(node).run(Effect.flatMap(LightPart, ({ current }) => {
    const light = current()
    if (light === undefined) return Effect.fail("no window")
    const { chain: { header, params, tree } } = light
    const tip = tree.tip()
    return Effect.succeed({
      params,
      height: tree.height(tip),
      tip: { hash: tree.hash(tip).slice(), header: header(tip) }
    })
  }))

/**
 * The best block of a node, or one below it, to build on. A light node that is behind does not know the tip of the others,
 * and would not take a block above it.
 */
const endOf = (world: World, node: string, depth: number) =>
  depth === 0 && !isWhole(world.node(node).plan)
    ? endOfWindow(world, node)
    : Effect.gen(function*() {
      const { headerAt, params, tip } = yield* Chain
      const { height } = yield* tip
      const header = yield* headerAt(Math.max(0, height - depth))
      return header === undefined ? undefined : { params, height: header.height, tip: header }
    }).pipe(atWhole(world, node))

/**
 * Blocks with work on top of a block, each a second after the one before. `pays`: more than a miner may take; `first`:
 * the transactions of the first one.
 */
const branch = (end: ChainEnd, { count, first = [], pays, random }: {
  readonly count: number
  readonly first?: ReadonlyArray<Transaction>
  readonly pays: number
  readonly random: Random
}): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let at = end
  for (let i = 0; i < count; i++) {
    const coinbase = makeCoinbase(at.height + 1, [{ value: pays, script: ANYONE }], { extra: bytesFrom(random, 8) })
    const block = buildBlock(at, i === 0 ? first : [], { coinbase, time: at.tip.header.time + 1 })
    blocks.push(block)
    at = { params: at.params, height: at.height + 1, tip: block }
  }
  return blocks
}

interface Theft {
  readonly name: string
  readonly transaction: Transaction
}

/** An update of some living name that its owner did not sign. */
const theft = (world: World, node: string, random: Random) =>
  Effect.gen(function*() {
    const [chain, names] = [yield* Chain, yield* NameDb]
    const { height } = yield* chain.tip
    const all = Chunk.toReadonlyArray(yield* Stream.runCollect(names.scanByPrefix({ prefix: EMPTY })))
    const living = all.filter((entry) => !isExpired(entry, height, chain.params))
    if (living.length === 0) return undefined
    const entry = oneOf(random, living)
    const header = yield* chain.headerAt(entry.height)
    const { transactions } = header === undefined ? { transactions: [] } : yield* chain.block(header.hash)
    const transaction = transactions.find(({ txid }) => equal(txid, entry.txid))
    if (transaction === undefined) return undefined
    const operation = { op: "name_update", name: entry.name, value: text("of a thief") } as const
    const stolen = setName(operation, { spent: { transaction, vout: entry.vout } })
    toldIn(world).thefts.add(displayHash(stolen.txid))
    return { name: new TextDecoder().decode(entry.name), transaction: stolen } satisfies Theft
  }).pipe(atWhole(world, node))

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

interface Wish {
  readonly kind: string
  readonly end: ChainEnd
  /** What the first block of a theft holds. */
  readonly stolen: ReadonlyArray<Transaction>
}

const lieOf = ({ end, kind, stolen }: Wish, { arguments: given, random }: Act): Lie => {
  const count = numberAt(given, "blocks")
  switch (kind) {
    case "invalid": {
      const blocks = branch(end, { count: 1 + (count % 3), pays: 1_000 * COIN, random })
      return announcing(blocks, serving(blocks))
    }
    case "theft": {
      const blocks = branch(end, { count: 1 + (count % 3), first: stolen, pays: 0, random })
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

/** Connects to a node. A light one accepts no connection, but calls peers that it hears of. */
const connected = (world: World, { answer }: Lie, { arguments: given, random }: Act) => {
  const node = world.node(textAt(given, "node"))
  const from = textAt(given, "from")
  const nonce = 1n + BigInt(below(random, 2 ** 48))
  const script = { network: world.network, from, time: world.time, nonce, answer }
  return isWhole(node.plan)
    ? scriptedPeer({ ...script, to: { host: node.plan.host, port: PEER_PORT } })
    : calledPeer(script, node.run(Effect.flatMap(PeerManager, (peers) => peers.connectOnce(`${from}:${SCRIPT_PORT}`))))
}

/** A program asks for a stolen name while the thief is there. */
const asking = (world: World, node: string, name: string) =>
  Effect.ignore(resolve(world, node, name)).pipe(Effect.delay(ASK_EVERY), Effect.forever)

/** Connects to a node, lies, and stays for a while. */
const lie = (world: World, act: Act) =>
  Effect.gen(function*() {
    const { arguments: given, random } = act
    const [node, kind] = [textAt(given, "node"), textAt(given, "kind")]
    const stolen = kind === "theft" ? yield* theft(world, node, random) : undefined
    const end = yield* endOf(world, node, kind === "deep" ? numberAt(given, "depth") : 0)
    if (end === undefined) return
    const made = lieOf({ kind, end, stolen: stolen === undefined ? [] : [stolen.transaction] }, act)
    made.tell(yield* connected(world, made, act))
    if (stolen !== undefined) yield* Effect.forkScoped(asking(world, node, stolen.name))
    yield* Effect.sleep(numberAt(given, "lasting"))
  }).pipe(Effect.scoped)

const WEIGHTS = { invalid: 3, withheld: 2, deep: 2, flood: 2, honest: 2, theft: 4 } as const

/**
 * Peers outside the network's nodes call one and lie: invalid blocks, names that they do not own, headers of blocks that they never serve, long
 * branches from far below the tip, floods within a peer's budget; some are honest and serve an empty block. Must have no
 * more work on a hidden branch at the end than the miners can overtake.
 */
export const liars: Actor = {
  name: "liars",

  draw: ({ nodes, random, until }) =>
    times(random, { mean: 7 * MINUTE, until: until - 5 * MINUTE }).map((at) => {
      const kind = weighted(random, WEIGHTS)
      const light = nodes.filter((node) => !isWhole(node))
      const called = kind === "theft" && light.length > 0 && chance(random, TO_LIGHT) ? light : nodes
      return {
        at,
        action: "lie",
        arguments: {
          node: oneOf(random, called).name,
          from: `${185 + below(random, 8)}.${below(random, 200)}.0.${1 + below(random, 250)}`,
          kind,
          blocks: between(random, [1, 60]),
          depth: between(random, [10, 100]),
          lasting: between(random, [1_000, 5 * MINUTE])
        }
      }
    }),

  act: (world) => ({ lie: (act) => lie(world, act) })
}
