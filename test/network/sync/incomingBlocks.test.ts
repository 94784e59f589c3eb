import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import { type Reject, reject, rejectAs } from "../../../src/consensus/Reject.ts"
import type { ReceivedBlock } from "../../../src/network/sync/BlockOrder.ts"
import type { Written } from "../../../src/network/sync/BlockWriter.ts"
import { admitBlock, isAhead, Verdicts } from "../../../src/network/sync/incomingBlocks.ts"
import { learn, type SyncContext } from "../../../src/network/sync/SyncContext.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { headerId, peerId } from "../../../src/protocol/keys.ts"
import { chainLayer, temporaryDirectory } from "../../support/chain.ts"
import { emptyChain } from "../../support/regtest.ts"
import { mempoolWith } from "../relay/fakePool.ts"
import { FakePeer, type FakePeerOptions, ServedBlocks } from "./fakePeers.ts"
import { join, makeContext } from "./makeContext.ts"

const source = emptyChain(3)
const served = new ServedBlocks([source.blockAt(0)])

const withContext = (use: (context: SyncContext) => Effect.Effect<void>) =>
  Effect.flatMap(temporaryDirectory, (directory) =>
    Effect.flatMap(makeContext, use).pipe(Effect.provide(Layer.mergeAll(
      SyncStatus.layer({ offline: false, expectsPeers: true }).pipe(Layer.provideMerge(chainLayer(directory))),
      mempoolWith({ entries: () => [] })
    ))))

const item = (block: Block, peer: number, id: number, compact = false): ReceivedBlock => ({
  block,
  id: headerId(id),
  peer: peerId(peer),
  compact,
  slot: undefined
})

/** The chain's result for blocks, which took 12 milliseconds. */
const written = (
  batch: ReadonlyArray<ReceivedBlock>,
  refused: ReadonlyArray<Reject | undefined>,
  judged: Written["delivery"]["judged"] = []
): Written => ({ batch, delivery: { refused, judged }, settled: true, milliseconds: 12 })

describe("isAhead", () => {
  it.scopedLive("an unsolicited block may be 288 blocks above the tip, as it will be when what is on its way is connected", () =>
    withContext((context) =>
      Effect.gen(function*() {
        const long = emptyChain(291)
        const headers = Array.from({ length: 291 }, (_, i) => long.blockAt(i + 1))
        yield* context.sink.acceptHeaders(headers)
        const { download, tree } = context
        const idAt = (height: number) => tree.find(long.blockAt(height).hash)
        const may = (height: number) => isAhead(context, long.blockAt(height), idAt(height - 1))
        assert.deepStrictEqual([288, 289, 290].map(may), [true, false, false])
        // A gap: the second block is missing.
        download.passes({ header: idAt(3), size: 300 })
        download.passes({ header: idAt(1), size: 300 })
        assert.deepStrictEqual([288, 289, 290].map(may), [true, true, false])
        download.passes({ header: idAt(2), size: 300 })
        assert.deepStrictEqual([288, 289, 290, 291].map(may), [true, true, true, true])
      })
    ))
})

describe("Verdicts", () => {
  it.scopedLive("a refused block charges its time, and the time on trust", () =>
    withContext((context) =>
      Effect.sync(() => {
        const verdicts = new Verdicts(context)
        const [good, bad, late] = [1, 2, 3].map(() => new FakePeer(served, { type: "inbound" }))
        if (good === undefined || bad === undefined || late === undefined) throw new Error("three peers were made")
        for (const peer of [good, bad, late]) join(context, peer)
        const items = [good, bad, late].map((peer, i) => item(source.blockAt(i), peer.id, -1))
        const judged = [
          { hash: source.blockAt(0).hash, reject: undefined },
          { hash: source.blockAt(2).hash, reject: reject("bad-cb-amount") }
        ]
        verdicts.take(written(items, [undefined, rejectAs("mutated", "bad-txnmrklroot"), undefined], judged))
        assert.deepStrictEqual([good, bad, late].map(({ charged }) => charged), [0, 6, 6])
        assert.deepStrictEqual(good.verdicts, [true])
        assert.isFalse(bad.verdicts.includes(true))
        assert.isFalse(late.verdicts.includes(true))
        assert.isTrue(late.disconnection?.misbehaving)
      })
    ))

  it.scopedLive("a refused block is misbehaviour of its peer only if the peer could know", () =>
    withContext((context) =>
      Effect.sync(() => {
        const verdicts = new Verdicts(context)
        const known = rejectAs("invalid-prev", "duplicate-invalid")
        const cases: ReadonlyArray<
          readonly [reject: Reject, type: FakePeerOptions["type"], compact: boolean, offence: boolean]
        > = [
          [reject("bad-cb-amount"), "inbound", false, true],
          [reject("bad-cb-amount"), "manual", true, false],
          [rejectAs("mutated", "bad-txnmrklroot"), "inbound", false, true],
          [rejectAs("mutated", "bad-witness-merkle-match"), "inbound", true, false],
          [rejectAs("mutated", "high-hash"), "inbound", true, true],
          [rejectAs("header", "bad-diffbits"), "inbound", true, true],
          [rejectAs("invalid-prev", "bad-prevblk"), "inbound", true, true],
          [rejectAs("time-future", "time-too-new"), "manual", false, false],
          [known, "inbound", false, false],
          [known, "manual", false, false],
          [known, "outbound-full-relay", false, true],
          [known, "outbound-full-relay", true, false]
        ]
        for (const [reject, type = "manual", compact, offence] of cases) {
          const peer = new FakePeer(served, { type })
          join(context, peer)
          verdicts.take(written([item(source.blockAt(1), peer.id, -1, compact)], [reject]))
          assert.strictEqual(peer.disconnection?.misbehaving === true, offence, `${reject.reason} ${type} ${compact}`)
        }
      })
    ))

  it.scopedLive("other requests and reconstructions end for a stored block, and not for a refused one", () =>
    withContext((context) =>
      Effect.gen(function*() {
        const { last: id } = yield* context.sink.acceptHeaders([source.blockAt(1)])
        const [slow, quick] = [new FakePeer(served), new FakePeer(served)]
        const [state] = [slow, quick].map((peer) => join(context, peer))
        if (state === undefined) throw new Error("two peers were made")
        const { download } = context
        const verdicts = new Verdicts(context)
        for (const { id: peer } of [slow, quick]) download.ask(peer, id, 0)
        state.partial.set(id, undefined)
        download.reconstructed(quick.id, { header: id, size: 300 }, 1)
        const batch = [item(source.blockAt(1), quick.id, id, true)]
        verdicts.take(written(batch, [rejectAs("mutated", "bad-txnmrklroot")]))
        assert.isTrue(state.partial.has(id))
        assert.isTrue(download.isAsked(slow.id, id))
        verdicts.take(written(batch, [undefined]))
        assert.isFalse(state.partial.has(id))
        assert.isFalse(download.isAsked(slow.id, id))
      })
    ))

  it.scopedLive("a peer that stays is not asked at once for a block of which it sent a bad copy", () =>
    withContext((context) =>
      Effect.gen(function*() {
        const { last: id } = yield* context.sink.acceptHeaders([source.blockAt(1)])
        const peer = new FakePeer(served, { permissions: ["noban"] })
        learn(context, join(context, peer), id)
        const { download } = context
        const asked = [{ peer: peer.id, header: id }]
        assert.deepStrictEqual(download.plan(0), asked)
        download.received(peer.id, { header: id, size: 300 }, 1)
        new Verdicts(context).take(
          written([item(source.blockAt(1), peer.id, id)], [rejectAs("mutated", "bad-txnmrklroot")])
        )
        assert.isFalse(peer.closed)
        assert.deepStrictEqual(download.plan(2), [])
        download.recheck()
        assert.deepStrictEqual(download.plan(3), asked)
      })
    ))

  it.scopedLive("blocks hit by a defect release their slots", () =>
    withContext((context) =>
      Effect.gen(function*() {
        const { last: id } = yield* context.sink.acceptHeaders([source.blockAt(1)])
        const peer = new FakePeer(served)
        const state = join(context, peer)
        const admission = admitBlock(context, state, source.blockAt(1))
        const slot = admission.queued ? admission.slot : assert.fail("there is room")
        assert.strictEqual(context.slots.used, 1)
        context.download.arrives({ header: id, size: 300 })
        new Verdicts(context).lost([{ ...item(source.blockAt(1), peer.id, id), slot }])
        assert.strictEqual(context.slots.used, 0)
        assert.isFalse(context.download.isUnstored(id))
      })
    ))
})
