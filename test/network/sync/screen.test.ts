import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MemoryBudget } from "../../../src/base/MemoryBudget.ts"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import { meetsTarget } from "../../../src/consensus/difficulty.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { PartialBlocks } from "../../../src/network/sync/PartialBlocks.ts"
import type { SyncContext } from "../../../src/network/sync/SyncContext.ts"
import { screen } from "../../../src/network/sync/unsolicitedBlocks.ts"
import type { BlockStart } from "../../../src/network/wire/messages/block.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { headerId } from "../../../src/protocol/keys.ts"
import { chainLayer, temporaryDirectory } from "../../support/chain.ts"
import { emptyChain } from "../../support/regtest.ts"
import { mempoolWith } from "../relay/fakePool.ts"
import { FakePeer, ServedBlocks } from "./fakePeers.ts"
import { join, makeContext } from "./makeContext.ts"

const source = emptyChain(3)
const served = new ServedBlocks([source.blockAt(0)])

const withContext = (use: (context: SyncContext) => Effect.Effect<void>) =>
  Effect.flatMap(temporaryDirectory, (directory) =>
    Effect.flatMap(makeContext, use).pipe(Effect.provide(Layer.mergeAll(
      SyncStatus.layer({ offline: false, expectsPeers: true }).pipe(Layer.provideMerge(chainLayer(directory))),
      mempoolWith({ entries: () => [] })
    ))))

const startOf = (block: Block, type: BlockStart["type"] = "block"): BlockStart => ({
  type,
  header: block,
  transactions: block.transactions.length
})

describe("screen", () => {
  it.scopedLive("a block with more transactions than valid is dropped without decoding", () =>
    withContext((context) =>
      Effect.sync(() => {
        for (const type of ["block", "cmpctblock"] as const) {
          const [fits, overflows] = [
            new FakePeer(served, { type: "inbound" }),
            new FakePeer(served, { type: "inbound" })
          ]
          const start = startOf(source.blockAt(1), type)
          assert.strictEqual(screen(context, join(context, fits), { ...start, transactions: 4_500 }), "decode")
          assert.strictEqual(screen(context, join(context, overflows), { ...start, transactions: 4_501 }), "drop")
          assert.isTrue(overflows.disconnection?.misbehaving)
        }
      })
    ))

  it.scopedLive("a block is decoded only if its header makes it wanted", () =>
    withContext((context) =>
      Effect.sync(() => {
        const first = source.blockAt(1)
        const peer = (): FakePeer => new FakePeer(served, { type: "inbound" })
        const fresh = join(context, peer())
        assert.strictEqual(screen(context, fresh, startOf(first)), "decode")
        assert.strictEqual(screen(context, fresh, startOf(first, "cmpctblock")), "decode")
        assert.strictEqual(screen(context, fresh, startOf(source.blockAt(0))), "announced")
        // A compact block without a known parent leads to a headers request. A whole one is misbehaviour.
        assert.strictEqual(screen(context, fresh, startOf(source.blockAt(3), "cmpctblock")), "announced")
        assert.isFalse(fresh.peer.closed)
        const orphan = peer()
        assert.strictEqual(screen(context, join(context, orphan), startOf(source.blockAt(3))), "drop")
        assert.isTrue(orphan.disconnection?.misbehaving)
        for (const wrong of [{ bits: 0x1f7fffff }, { time: source.blockAt(0).header.time }]) {
          const liar = peer()
          const { bits, merkleRoot, prevHash, time, version } = first.header
          const parts = { bits, merkleRoot, prevHash, time, version, ...wrong }
          const header = Array.from({ length: 2_000 }, (_, nonce) => makeHeader({ ...parts, nonce }))
            .find(({ hash }) => meetsTarget(hash, parts.bits, regtestParams.powLimit)) ??
            makeHeader({ ...parts, nonce: 0 })
          const start = { type: "block", header: { header, auxpow: undefined }, transactions: 1 } as const
          assert.strictEqual(screen(context, join(context, liar), start), "drop")
          assert.match(liar.disconnection?.reason ?? "", /bad-diffbits|time-too-old/)
        }
        while (context.slots.take() !== undefined);
        assert.strictEqual(screen(context, fresh, startOf(first)), "wait")
      })
    ))
})

describe("PartialBlocks", () => {
  const blank = source.blockAt(1)
  const partial = { header: blank, transactions: new Array<undefined>(1_000).fill(undefined), missing: [0] }

  it("partial blocks count their memory, and release it", () => {
    const budget = new MemoryBudget(2_000_000)
    const account = budget.open({ owner: "a", share: 0.25, evictable: true, evict: () => {} })
    const blocks = new PartialBlocks(account)
    assert.isTrue(blocks.set(headerId(1), partial))
    assert.strictEqual(budget.held("compact_blocks"), 16_000)
    assert.isFalse(blocks.set(headerId(2), partial))
    assert.isFalse(blocks.has(headerId(2)))
    assert.isTrue(blocks.set(headerId(1), undefined))
    assert.strictEqual(budget.held("compact_blocks"), 0)
    assert.isTrue(blocks.set(headerId(2), partial))
    blocks.delete(headerId(2))
    blocks.delete(headerId(2))
    assert.strictEqual(budget.held("compact_blocks"), 0)
    assert.strictEqual(blocks.oldest, 1)
  })

  it("a block is reconstructed once", () => {
    const blocks = new PartialBlocks(
      new MemoryBudget(1).open({ owner: "a", share: 1, evictable: true, evict: () => {} })
    )
    assert.isTrue(blocks.attempt(headerId(1)))
    assert.isFalse(blocks.attempt(headerId(1)))
    assert.isTrue(blocks.attempt(headerId(2)))
    assert.isFalse(blocks.attempt(headerId(1)))
  })
})
