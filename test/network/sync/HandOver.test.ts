import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { HandOver, type Received } from "../../../src/network/sync/HandOver.ts"
import { Block, decodeBlock } from "../../../src/protocol/block.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { BranchTree } from "./branchTree.ts"

const GENESIS = decodeBlock(regtest.genesisBlock)

/** A block of so many bytes, as far as the hand-over looks. */
const received = (id: number, size = 1_000): Received => ({
  id,
  block: new Block(new Uint8Array(size), GENESIS.header, undefined, []),
  peer: 0,
  compact: false,
  unrequested: false
})

const ids = (batch: ReadonlyArray<Received>): ReadonlyArray<number> => batch.map(({ id }) => id)

describe("HandOver", () => {
  it("property: brings blocks into the order of their chain, each once", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 1, max: 150 }).chain((count) =>
          FastCheck.shuffledSubarray(Array.from({ length: count }, (_, i) => i + 1), { minLength: count })
        ),
        FastCheck.integer({ min: 1, max: 40 }),
        (order, pause) => {
          const tree = new BranchTree()
          tree.grow(0, order.length)
          const handOver = new HandOver(tree)
          const out: Array<number> = []
          const take = (): void => {
            for (let batch = handOver.take(); batch.length > 0; batch = handOver.take()) {
              for (const { id } of batch) tree.stored.add(id)
              handOver.done(batch)
              out.push(...ids(batch))
            }
          }
          for (const [i, id] of order.entries()) {
            handOver.push(received(id))
            if (i % pause === 0) take()
          }
          take()
          assert.deepStrictEqual(out, [...order].sort((a, b) => a - b))
        }
      ),
      { numRuns: 50 }
    )
  })

  it("hands on at most 64 blocks, and no more than some megabytes at once", () => {
    const tree = new BranchTree()
    tree.grow(0, 100)
    const handOver = new HandOver(tree)
    for (let id = 1; id <= 100; id++) handOver.push(received(id))
    assert.lengthOf(handOver.take(), 64)
    assert.lengthOf(handOver.take(), 36)
    const large = new HandOver(tree)
    for (let id = 1; id <= 8; id++) large.push(received(id, 1024 * 1024))
    assert.deepStrictEqual(ids(large.take()), [1, 2, 3])
  })

  it("lets the lowest go on where too much waits for a block that does not come", () => {
    const tree = new BranchTree()
    tree.grow(0, 40)
    const handOver = new HandOver(tree)
    for (let id = 25; id >= 2; id--) handOver.push(received(id, 1024 * 1024))
    assert.deepStrictEqual(handOver.take(), [])
    handOver.push(received(26, 1024 * 1024))
    assert.strictEqual(handOver.take()[0]?.id, 2)
  })

  it("hands on a block of which nothing is known, and what builds on an invalid one when it is told", () => {
    const tree = new BranchTree()
    tree.grow(0, 4)
    const handOver = new HandOver(tree)
    handOver.push(received(-1))
    assert.deepStrictEqual(ids(handOver.take()), [-1])
    handOver.push(received(3))
    handOver.unblock()
    assert.deepStrictEqual(handOver.take(), [])
    tree.failed.add(2)
    handOver.unblock()
    assert.deepStrictEqual(ids(handOver.take()), [3])
  })

  it("lets go on what nobody wants any more", () => {
    const tree = new BranchTree()
    const [first = 0, second = 0] = tree.grow(0, 4)
    const [, other = 0] = tree.grow(0, 2)
    const handOver = new HandOver(tree)
    handOver.push(received(second))
    handOver.push(received(other))
    handOver.unblock((id) => id === second)
    assert.deepStrictEqual(ids(handOver.take()), [other])
    handOver.push(received(first))
    assert.deepStrictEqual(ids(handOver.take()), [first, second])
  })

  it("hands on what waited for a block that came another way", () => {
    const tree = new BranchTree()
    tree.grow(0, 4)
    const handOver = new HandOver(tree)
    handOver.push(received(3))
    tree.stored.add(2)
    handOver.unblock()
    assert.deepStrictEqual(ids(handOver.take()), [3])
  })
})
