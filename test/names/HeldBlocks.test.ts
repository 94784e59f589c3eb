import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { HeldBlocks } from "../../src/names/HeldBlocks.ts"
import { batchOf, type NumberedEffect } from "../../src/names/nameChanges.ts"
import { binaryString } from "../../src/protocol/bytes.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { bytesOf } from "../support/bytes.ts"
import { blockAt, type Operation, text } from "./blocks.ts"

/** An operation as plain values. */
const shown = ({ effect, id }: NumberedEffect) => {
  const { address, height, name, operation, transaction, value, vout } = effect
  const rand = operation.op === "name_firstupdate" ? binaryString(operation.rand) : undefined
  return {
    id,
    height,
    vout,
    value,
    rand,
    op: operation.op,
    texts: [name, operation.name, operation.value, address, transaction.txid].map(binaryString)
  }
}

const shownBatch = ({ latest, operations }: ReturnType<typeof batchOf>) => ({
  operations: operations.map(shown),
  latest: [...latest].map(([key, operation]) => [key, shown(operation)])
})

const operation: FastCheck.Arbitrary<Operation> = FastCheck.record({
  name: FastCheck.oneof(FastCheck.constantFrom(...["d/a", "d/b", ""].map(text)), bytesOf(0, 255)),
  value: bytesOf(0, 520),
  owner: bytesOf(0, 40),
  rand: bytesOf(0, 20),
  amount: FastCheck.constantFrom(0, 1_000_000, 2 ** 51)
}, { requiredKeys: ["name", "value", "owner"] })

const lists = FastCheck.array(FastCheck.array(operation, { maxLength: 4 }), { maxLength: 12 })

/** Blocks at consecutive heights, cut into pieces of these lengths. */
const piecesOf = (blocks: ReadonlyArray<ConnectedBlock>, lengths: ReadonlyArray<number>) => {
  const pieces: Array<ReadonlyArray<ConnectedBlock>> = []
  for (let at = 0, i = 0; at < blocks.length; i++) {
    const length = lengths[i] ?? 1
    pieces.push(blocks.slice(at, at + length))
    at += length
  }
  return pieces
}

const add = (
  held: HeldBlocks,
  heights: { readonly from: number; readonly count: number },
  list: ReadonlyArray<Operation>
) => {
  for (let n = 0; n < heights.count; n++) held.add([blockAt(heights.from + n, list)])
}

describe("HeldBlocks", () => {
  it.prop(
    "has what one batch of all blocks has, in their order, however they come",
    { all: lists, lengths: FastCheck.array(FastCheck.nat(4)), from: FastCheck.constantFrom(0, 1, 500_000) },
    ({ all, from, lengths }) => {
      const blocks = all.map((list, i) => blockAt(from + i, list))
      const held = new HeldBlocks()
      for (const piece of piecesOf(blocks, lengths)) held.add(piece)
      assert.deepStrictEqual(shownBatch(held.batch), shownBatch(batchOf(blocks)))
      assert.deepStrictEqual(held.blocks, blocks.map(({ hash, height }) => ({ hash, height })))
      assert.isFalse(held.isFull)
    }
  )

  it.prop("refuses a block that does not follow, and stays as it was", {
    all: FastCheck.array(FastCheck.array(operation, { maxLength: 2 }), { minLength: 1, maxLength: 6 }),
    wrong: FastCheck.nat(20)
  }, ({ all, wrong }) => {
    const blocks = all.map((list, i) => blockAt(5 + i, list))
    const held = new HeldBlocks()
    held.add(blocks)
    const before = shownBatch(held.batch)
    if (wrong !== 5 + blocks.length) {
      assert.throws(() => held.add([blockAt(wrong, [{ name: text("d/new") }])]), RangeError, "where block")
    }
    assert.throws(() => held.add([blockAt(5 + blocks.length), blockAt(7 + blocks.length)]), RangeError)
    assert.deepStrictEqual(shownBatch(held.batch), before)
    assert.lengthOf(held.blocks, blocks.length)
  })

  it("is full after so many blocks, operations or bytes", () => {
    const blocks = new HeldBlocks()
    add(blocks, { from: 0, count: 4_095 }, [])
    assert.isFalse(blocks.isFull)
    add(blocks, { from: 4_095, count: 1 }, [])
    assert.isTrue(blocks.isFull)

    const names = Array.from({ length: 6_000 }, (_, i) => ({ name: text(`d/${i}`), value: text("v") }))
    const operations = new HeldBlocks()
    add(operations, { from: 0, count: 3 }, names)
    add(operations, { from: 3, count: 1 }, names.slice(1))
    assert.isFalse(operations.isFull)
    add(operations, { from: 4, count: 1 }, names.slice(0, 1))
    assert.isTrue(operations.isFull)

    // Each operation has 64 KiB and some bytes more.
    const large = { name: text("d/large"), value: new Uint8Array(64 * 1024) }
    const bytes = new HeldBlocks()
    add(bytes, { from: 0, count: 127 }, [large])
    assert.isFalse(bytes.isFull)
    add(bytes, { from: 127, count: 1 }, [large])
    assert.isTrue(bytes.isFull)
  })

  it("is empty after it was cleared, and goes on at any height, as a rollback needs", () => {
    const held = new HeldBlocks()
    const name = text("d/a")
    add(held, { from: 100, count: 4_096 }, [{ name }])
    assert.isTrue(held.isFull)
    held.clear()
    assert.isFalse(held.isFull)
    assert.deepStrictEqual(held.blocks, [])
    assert.deepStrictEqual(held.batch, { operations: [], latest: new Map() })
    const again = blockAt(99, [{ name, value: text("other") }])
    held.add([again])
    assert.deepStrictEqual(shownBatch(held.batch), shownBatch(batchOf([again])))
    assert.deepStrictEqual([...held.batch.latest.keys()], [nameKey(name)])
  })

  it("keeps nothing of the blocks: what they hold may change", () => {
    const name = text("d/a")
    const value = text("before")
    const held = new HeldBlocks()
    held.add([blockAt(1, [{ name, value }])])
    const before = shownBatch(held.batch)
    value.fill(0)
    name.fill(0)
    assert.deepStrictEqual(shownBatch(held.batch), before)
  })
})
