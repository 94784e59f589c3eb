import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { askAll, takeHeaders } from "../../../src/network/sync/incomingHeaders.ts"
import { Presync } from "../../../src/network/sync/Presync.ts"
import { chainLayer, temporaryDirectory } from "../../support/chain.ts"
import { emptyChain } from "../../support/regtest.ts"
import { mempoolWith } from "../relay/fakePool.ts"
import { FakePeer, ServedBlocks } from "./fakePeers.ts"
import { join, makeContext } from "./makeContext.ts"

/** The sync context of a node with an empty data directory. */
const onNewChain = Effect.flatMap(temporaryDirectory, (directory) =>
  makeContext.pipe(Effect.provide(Layer.mergeAll(
    SyncStatus.layer({ offline: false, expectsPeers: true }).pipe(Layer.provideMerge(chainLayer(directory))),
    mempoolWith({ entries: () => [] })
  ))))

describe("askAll", () => {
  it.scopedLive("the request continues the first pass over a low-work chain", () =>
    Effect.gen(function*() {
      const source = emptyChain(1)
      const genesis = source.blockAt(0)
      const context = yield* onNewChain
      const peer = new FakePeer(new ServedBlocks([genesis]))
      const state = join(context, peer)
      state.presync = new Presync({
        params: regtestParams,
        parameters: { period: 5, buffer: 20 },
        start: { hash: genesis.hash, height: 0, bits: genesis.header.bits, chainwork: 2n, medianTimePast: 0 },
        threshold: 1_000n,
        now: genesis.header.time + 1_000_000,
        key: [1, 2, 3, 4],
        offset: 2
      })
      assert.isTrue(state.presync.take([source.blockAt(1)], true).more)
      askAll(context, state)
      assert.deepStrictEqual(peer.got("getheaders")[0]?.locator, [source.blockAt(1).hash, genesis.hash])
      // Without a first pass, the request starts from our best header.
      state.presync = undefined
      context.headers.answered(peer.id)
      askAll(context, state)
      assert.deepStrictEqual(peer.got("getheaders")[1]?.locator, [genesis.hash])
    }))
})

describe("takeHeaders", () => {
  it.scopedLive("a peer is charged for headers of which none is new", () =>
    Effect.gen(function*() {
      const source = emptyChain(2_000)
      const context = yield* onNewChain
      const headers = Array.from({ length: 2_000 }, (_, i) => source.blockAt(i + 1))
      const peer = new FakePeer(new ServedBlocks([source.blockAt(0)]), { type: "inbound" })
      const state = join(context, peer)
      yield* takeHeaders(context, state, headers)
      yield* takeHeaders(context, state, headers)
      yield* takeHeaders(context, state, headers.slice(0, 20))
      assert.deepStrictEqual(peer.verdicts, [true, false, false])
      // Short messages announce blocks, and may contain known ones.
      yield* takeHeaders(context, state, headers.slice(0, 2))
      assert.lengthOf(peer.verdicts, 3)
      assert.isFalse(peer.closed)
    }))

  it.scopedLive("headers of a peer with noban are stored without a check of their work", () =>
    Effect.gen(function*() {
      const source = emptyChain(20)
      const context = { ...(yield* onNewChain), params: { ...regtestParams, minimumChainWork: 1_000n } }
      const headers = Array.from({ length: 20 }, (_, i) => source.blockAt(i + 1))
      const served = new ServedBlocks([source.blockAt(0)])
      const heightAfter = (permissions: ReadonlyArray<"noban" | "download">) => {
        const state = join(context, new FakePeer(served, { type: "inbound", permissions }))
        return Effect.map(takeHeaders(context, state, headers), () => context.tree.height(context.tree.best()))
      }
      assert.strictEqual(yield* heightAfter(["download"]), 0)
      assert.strictEqual(yield* heightAfter(["noban", "download"]), 20)
    }))

  it.scopedLive("a peer is charged for headers that do not connect, however often it was asked", () =>
    Effect.gen(function*() {
      const source = emptyChain(2_000)
      const context = yield* onNewChain
      const peer = new FakePeer(new ServedBlocks([source.blockAt(0)]), { type: "inbound" })
      const state = join(context, peer)
      const headers = Array.from({ length: 1_000 }, (_, i) => source.blockAt(i + 2))
      askAll(context, state)
      for (let times = 1; times <= 3; times++) {
        yield* takeHeaders(context, state, headers)
        assert.deepStrictEqual(peer.verdicts, new Array(times).fill(false))
      }
    }))
})
