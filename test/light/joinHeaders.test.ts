import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Logger, type Scope } from "effect"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { joinHeaders } from "../../src/light/joinHeaders.ts"
import * as SyncManager from "../../src/network/sync/SyncManager.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { AUXPOW_FLAG, type Header, makeHeader } from "../../src/protocol/header.ts"
import type { HeaderId } from "../../src/protocol/keys.ts"
import { mempoolWith } from "../network/relay/fakePool.ts"
import { FakePeer, ServedBlocks } from "../network/sync/fakePeers.ts"
import { chainLayer, temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { GENESIS_BLOCK } from "../support/lightChain.ts"
import { following, grown, type LightService, nextBlock, onLight } from "../support/lightNode.ts"
import { minimalAuxpow } from "../support/regtest.ts"
import { simulated } from "../support/simulated.ts"

/** The work of a chain of regtest: two hashes a block. */
const workAt = (height: number): bigint => 2n * BigInt(height + 1)

/** A chain, and the parameters of a network with an anchor in it. The least work is that of the chain 100 blocks below its end. */
interface World {
  readonly anchor: number
  readonly tip: number
  readonly blocks: ReadonlyArray<Block>
  readonly params: ConsensusParams
}

const worldOf = (blocks: ReadonlyArray<Block>, anchor: number): World => {
  const tip = blocks.length - 1
  const { hash } = blocks[anchor] ?? GENESIS_BLOCK
  return {
    anchor,
    tip,
    blocks,
    params: {
      ...regtestParams,
      minimumChainWork: workAt(tip - 100),
      anchors: [{ height: anchor, hash, chainwork: workAt(anchor) }]
    }
  }
}

/** More than a message of headers up to the anchor, and more than two after it. */
const LONG = worldOf(grown([GENESIS_BLOCK], 6_600), 2_500)

const SHORT = worldOf(LONG.blocks.slice(0, 501), 200)

type Whole = Pick<typeof Chain.Service, "tree"> & {
  readonly sink: typeof ChainSink.Service
  readonly connect: (peer: FakePeer) => Effect.Effect<void>
  readonly syncedHeaders: (peer: FakePeer) => number
}

/** A whole chain in a directory of its own, and the sync of it. */
const wholeChain = ({ params }: World): Effect.Effect<Whole, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const context = yield* Layer.build(
      Layer.mergeAll(
        SyncStatus.layer({ offline: false, expectsPeers: true }).pipe(
          Layer.provideMerge(chainLayer(yield* temporaryDirectory, params))
        ),
        mempoolWith({ entries: () => [] })
      ).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)))
    )
    yield* Context.get(context, SyncStatus.SyncStatus).loaded
    const manager = yield* Effect.provide(SyncManager.make(), context)
    return {
      tree: Context.get(context, Chain).tree,
      sink: Context.get(context, ChainSink),
      connect: (peer) => Effect.asVoid(Effect.forkIn(peer.live(manager), scope)),
      syncedHeaders: (peer) => manager.syncOf(peer).syncedHeaders
    }
  })

const changed = (header: Header, changes: { readonly version?: number; readonly nonce?: number }): Header => {
  const { bits, merkleRoot, nonce, prevHash, time, version } = header
  return makeHeader({ bits, merkleRoot, nonce, prevHash, time, version, ...changes })
}

/** A block after some blocks with the proof of work of another chain, which a light node does not store. */
const mergedAfter = (blocks: ReadonlyArray<Block>): Block => {
  const { header, transactions } = nextBlock(blocks)
  const merged = changed(header, { version: header.version | AUXPOW_FLAG })
  return makeBlock({ header: merged, auxpow: minimalAuxpow(merged) }, transactions)
}

/** A peer for headers alone. `latency`: milliseconds before an answer. */
const headerPeer = ({ blocks }: World, latency = 0): FakePeer =>
  new FakePeer(new ServedBlocks(blocks), { serve: () => undefined, latency })

/** Headers that a peer was asked for and sent, in all. */
const headersSent = (peer: FakePeer): number =>
  peer.got("getheaders").reduce((sum, { locator }) => sum + peer.served.after(locator).length, 0)

/** A light node that has all headers of a chain. */
const withHeaders = (
  { params }: World,
  blocks: ReadonlyArray<Block>,
  use: (light: LightService) => Effect.Effect<void, unknown, Scope.Scope>
) =>
  Effect.flatMap(temporaryDirectory, (directory) =>
    onLight(directory, (light) =>
      Effect.gen(function*() {
        const { connect } = yield* following(light)
        yield* connect(new ServedBlocks(blocks), { serve: () => undefined })
        yield* eventually("the headers of the light node", () => light.span.first() < Infinity)
        yield* use(light)
      }), { params }))

const bestHeight = ({ tree }: Pick<Whole, "tree">): number => tree.height(tree.best())

const test = (name: string, use: () => Effect.Effect<void, unknown, Scope.Scope>) => simulated(name, use)

describe("headers of a light start for the whole chain", () => {
  test("are given once the whole chain has the anchor, and peers are asked for no more of them", () =>
    withHeaders(LONG, LONG.blocks, (light) =>
      Effect.gen(function*() {
        const [whole, alone] = [yield* wholeChain(LONG), yield* wholeChain(LONG)]
        const parts = { chain: whole, light, sink: whole.sink }
        assert.isUndefined(yield* joinHeaders(parts))
        // Between two answers, the join has time to end.
        const [peer, other] = [headerPeer(LONG, 100), headerPeer(LONG)]
        yield* whole.connect(peer)
        yield* eventually("the join", Effect.map(joinHeaders(parts), (added) => added !== undefined))
        assert.strictEqual(bestHeight(whole), LONG.tip)
        yield* alone.connect(other)
        yield* eventually("all headers", () => bestHeight(alone) === LONG.tip)
        yield* eventually("the position of the peer", () => whole.syncedHeaders(peer) === LONG.tip)
        assert.isBelow(headersSent(peer), headersSent(other))
        // Again, as after a kill before the chain stored them: there is nothing new.
        assert.strictEqual(yield* joinHeaders(parts), 0)
      })))

  test("come from a peer, even if they are in its last message with the anchor", () =>
    Effect.gen(function*() {
      const world = worldOf(LONG.blocks.slice(0, LONG.anchor + 101), LONG.anchor)
      const whole = yield* wholeChain(world)
      const peer = headerPeer(world)
      yield* whole.connect(peer)
      yield* eventually("all headers", () => bestHeight(whole) === world.tip)
      yield* eventually("the position of the peer", () => whole.syncedHeaders(peer) === world.tip)
    }))

  /** A whole chain that has the headers up to the anchor, and all headers once a peer is connected. */
  const upToAnchor = Effect.tap(
    wholeChain(SHORT),
    ({ sink }) => sink.acceptHeaders(SHORT.blocks.slice(1, SHORT.anchor + 1))
  )

  const endsWithPeer = (whole: Whole) =>
    Effect.zipRight(
      whole.connect(headerPeer(SHORT)),
      eventually("the headers of the peer", () => bestHeight(whole) === SHORT.tip)
    )

  test("may be on a branch that the whole chain does not follow", () => {
    const branch = grown(SHORT.blocks.slice(0, SHORT.tip - 89), 40, 1)
    return withHeaders(SHORT, [...branch, mergedAfter(branch)], (light) =>
      Effect.gen(function*() {
        const whole = yield* upToAnchor
        const end = SHORT.tip - 49
        assert.strictEqual(yield* joinHeaders({ chain: whole, light, sink: whole.sink }), end - SHORT.anchor)
        assert.strictEqual(bestHeight(whole), end)
        yield* endsWithPeer(whole)
      }))
  })

  test("are used up to one that is damaged: peers have the rest", () =>
    withHeaders(SHORT, SHORT.blocks, (light) =>
      Effect.gen(function*() {
        const whole = yield* upToAnchor
        const { header: headerOf, tree } = light.chain
        const damaged = {
          chain: {
            tree,
            header: (id: HeaderId) =>
              tree.height(id) === SHORT.anchor + 70 ? changed(headerOf(id), { nonce: 77_777 }) : headerOf(id)
          },
          span: light.span
        }
        assert.strictEqual(yield* joinHeaders({ chain: whole, light: damaged, sink: whole.sink }), 69)
        assert.strictEqual(bestHeight(whole), SHORT.anchor + 69)
        yield* endsWithPeer(whole)
      })))

  test("are judged again with the headers before the anchor", () => {
    // Just above the anchor, a light node does not know the time of the median.
    const start = SHORT.blocks.slice(0, SHORT.anchor + 1)
    const early = nextBlock(start, { time: GENESIS_BLOCK.header.time })
    return withHeaders(SHORT, grown([...start, early], 250), (light) =>
      Effect.gen(function*() {
        const { tree } = light.chain
        assert.strictEqual(tree.height(tree.best()), SHORT.anchor + 251)
        const whole = yield* upToAnchor
        assert.strictEqual(yield* joinHeaders({ chain: whole, light, sink: whole.sink }), 0)
        assert.strictEqual(bestHeight(whole), SHORT.anchor)
        yield* endsWithPeer(whole)
      }))
  })
})
