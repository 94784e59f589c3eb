import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BlockOrder, type ReceivedBlock } from "../../../src/network/sync/BlockOrder.ts"
import { Block, decodeBlock } from "../../../src/protocol/block.ts"
import { headerId, peerId } from "../../../src/protocol/keys.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { BranchTree, GENESIS as FIRST } from "./branchTree.ts"

const GENESIS = decodeBlock(regtest.genesisBlock)

/** A minimal block with this many bytes. */
const received = (id: number, size = 1_000): ReceivedBlock => ({
  id: headerId(id),
  block: new Block({ bytes: new Uint8Array(size), header: GENESIS.header, auxpow: undefined, transactions: [] }),
  peer: peerId(0),
  compact: false,
  slot: undefined
})

const ids = (batch: ReadonlyArray<ReceivedBlock>): ReadonlyArray<number> => batch.map(({ id }) => id)

describe("BlockOrder", () => {
  it("property: blocks are sorted into chain order, each once", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 1, max: 150 }).chain((count) =>
          FastCheck.shuffledSubarray(Array.from({ length: count }, (_, i) => i + 1), { minLength: count })
        ),
        FastCheck.integer({ min: 1, max: 40 }),
        (order, pause) => {
          const tree = new BranchTree()
          tree.grow(FIRST, order.length)
          const blockOrder = new BlockOrder(tree)
          const out: Array<number> = []
          const take = (): void => {
            for (let batch = blockOrder.take(); batch.length > 0; batch = blockOrder.take()) {
              for (const { id } of batch) tree.stored.add(id)
              blockOrder.done(batch)
              out.push(...ids(batch))
            }
          }
          for (const [i, id] of order.entries()) {
            blockOrder.push(received(id))
            if (i % pause === 0) take()
          }
          take()
          assert.deepStrictEqual(out, [...order].sort((a, b) => a - b))
        }
      ),
      { numRuns: 50 }
    )
  })

  it("children that wait for the same parent follow it in the order in which they came", () => {
    const tree = new BranchTree()
    const [parent = FIRST] = tree.grow(FIRST, 1)
    const came = [1, 2, 3].flatMap(() => tree.grow(parent, 1)).reverse()
    const blockOrder = new BlockOrder(tree)
    for (const id of [...came, parent]) blockOrder.push(received(id))
    assert.deepStrictEqual(ids(blockOrder.take()), [parent, ...came])
  })

  it("a batch has at most 64 blocks, and some megabytes", () => {
    const tree = new BranchTree()
    tree.grow(FIRST, 100)
    const blockOrder = new BlockOrder(tree)
    for (let id = 1; id <= 100; id++) blockOrder.push(received(id))
    assert.lengthOf(blockOrder.take(), 64)
    assert.lengthOf(blockOrder.take(), 36)
    const large = new BlockOrder(tree)
    for (let id = 1; id <= 8; id++) large.push(received(id, 1024 * 1024))
    assert.deepStrictEqual(ids(large.take()), [1, 2, 3])
  })

  it("the lowest blocks are released if too many wait for a missing block", () => {
    const tree = new BranchTree()
    tree.grow(FIRST, 40)
    const blockOrder = new BlockOrder(tree)
    for (let id = 25; id >= 2; id--) blockOrder.push(received(id, 1024 * 1024))
    assert.deepStrictEqual(blockOrder.take(), [])
    blockOrder.push(received(26, 1024 * 1024))
    assert.strictEqual(blockOrder.take()[0]?.id, 2)
  })

  it("a block with an unknown header is released, and so is the child of an invalid block after unblock", () => {
    const tree = new BranchTree()
    tree.grow(FIRST, 4)
    const blockOrder = new BlockOrder(tree)
    blockOrder.push(received(-1))
    assert.deepStrictEqual(ids(blockOrder.take()), [-1])
    blockOrder.push(received(3))
    blockOrder.unblock()
    assert.deepStrictEqual(blockOrder.take(), [])
    tree.failed.add(headerId(2))
    blockOrder.unblock()
    assert.deepStrictEqual(ids(blockOrder.take()), [3])
  })

  it("blocks are released whose predecessor no peer offers, and their descendants pass", () => {
    const tree = new BranchTree()
    const [, second = 0, third = 0] = tree.grow(FIRST, 4)
    const blockOrder = new BlockOrder(tree)
    blockOrder.push(received(second))
    blockOrder.releaseUnless(() => true, tree.parent(headerId(second)))
    assert.deepStrictEqual(blockOrder.take(), [])
    blockOrder.releaseUnless(() => false, tree.parent(headerId(second)))
    blockOrder.push(received(third))
    assert.deepStrictEqual(ids(blockOrder.take()), [second, third])
  })

  it("knows whose blocks are on their way to the chain, those that wait for others not", () => {
    const tree = new BranchTree()
    tree.grow(FIRST, 4)
    const blockOrder = new BlockOrder(tree)
    const from = (id: number, peer: number): ReceivedBlock => ({ ...received(id), peer: peerId(peer) })
    const passing = (): ReadonlyArray<boolean> => [1, 2].map((peer) => blockOrder.isPassing(peerId(peer)))
    blockOrder.push(from(2, 2))
    assert.deepStrictEqual(passing(), [false, false])
    blockOrder.push(from(1, 1))
    assert.deepStrictEqual(passing(), [true, true])
    blockOrder.push(from(3, 1))
    const batch = blockOrder.take()
    blockOrder.done(batch.slice(0, 2))
    assert.deepStrictEqual(passing(), [true, false])
    blockOrder.done(batch.slice(2))
    assert.deepStrictEqual(passing(), [false, false])
  })

  it("unwanted blocks are released", () => {
    const tree = new BranchTree()
    const [first = 0, second = 0] = tree.grow(FIRST, 4)
    const [, other = 0] = tree.grow(FIRST, 2)
    const blockOrder = new BlockOrder(tree)
    blockOrder.push(received(second))
    blockOrder.push(received(other))
    blockOrder.unblock((id) => id === first)
    assert.deepStrictEqual(ids(blockOrder.take()), [other])
    blockOrder.push(received(first))
    assert.deepStrictEqual(ids(blockOrder.take()), [first, second])
  })

  it("blocks whose predecessor arrived another way are released", () => {
    const tree = new BranchTree()
    tree.grow(FIRST, 4)
    const blockOrder = new BlockOrder(tree)
    blockOrder.push(received(3))
    tree.stored.add(headerId(2))
    blockOrder.unblock()
    assert.deepStrictEqual(ids(blockOrder.take()), [3])
  })

  it("blocks whose predecessor does not come between two calls are released with their descendants", () => {
    const tree = new BranchTree()
    tree.grow(FIRST, 6)
    const blockOrder = new BlockOrder(tree)
    blockOrder.push(received(4))
    blockOrder.push(received(3))
    blockOrder.releaseOld()
    assert.deepStrictEqual(blockOrder.take(), [])
    blockOrder.push(received(6))
    blockOrder.releaseOld()
    assert.deepStrictEqual(ids(blockOrder.take()), [3, 4])
    blockOrder.push(received(5))
    assert.deepStrictEqual(ids(blockOrder.take()), [5, 6])
  })
})
