import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { PoolContent } from "../../src/mempool/poolFile.ts"
import { decodeReferencePool } from "../../src/mempool/referencePoolFile.ts"
import { type Bytes, fromBinaryString } from "../../src/protocol/bytes.ts"
import { txidKey } from "../../src/protocol/keys.ts"
import { DecodeError } from "../../src/protocol/Reader.ts"
import { Writer } from "../../src/protocol/Writer.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { output, pay, reward, withNode } from "../support/mempool.ts"

/** Encodes a file of the reference node; `key` is XORed to what follows it. */
const encode = ({ deltas, transactions, unbroadcast }: PoolContent, key: Bytes | undefined): Uint8Array => {
  const writer = new Writer(1_024).u32(key === undefined ? 1 : 2).u32(0)
  if (key !== undefined) writer.varBytes(key)
  const start = writer.written().length
  const others = new Map(deltas)
  writer.u32(transactions.length).u32(0)
  for (const { time, transaction } of transactions) {
    writer.bytes(transaction.bytes).i64(time).i64(deltas.get(transaction.txidKey) ?? 0)
    others.delete(transaction.txidKey)
  }
  writer.compactSize(others.size)
  for (const [txid, delta] of others) writer.bytes(fromBinaryString(txid)).i64(delta)
  writer.compactSize(unbroadcast.length)
  for (const txid of unbroadcast) writer.bytes(fromBinaryString(txid))
  const bytes = writer.toBytes()
  if (key === undefined) return bytes
  return bytes.map((byte, at) => at < start ? byte : byte ^ (key[at % 8] ?? 0))
}

const parent = pay([reward(1)], { fee: 0 })
const child = pay([output(parent)])

const content: PoolContent = {
  transactions: [{ transaction: parent, time: 1_000 }, { transaction: child, time: 2_000 }],
  deltas: new Map([[parent.txidKey, 10_000], [txidKey(new Uint8Array(32).fill(7)), -3]]),
  unbroadcast: [child.txidKey]
}

describe("the mempool file of the reference node", () => {
  it("is decoded with and without a key", () => {
    fc.assert(fc.property(fc.option(fc.uint8Array({ minLength: 8, maxLength: 8 })), (key) => {
      const decoded = decodeReferencePool(encode(content, key ?? undefined))
      assert.deepStrictEqual(decoded.deltas, content.deltas)
      assert.deepStrictEqual(decoded.unbroadcast, content.unbroadcast)
      assert.deepStrictEqual(
        decoded.transactions.map(({ time, transaction }) => [transaction.txidKey, time]),
        [[parent.txidKey, 1_000], [child.txidKey, 2_000]]
      )
    }))
  })

  it("of any other form is refused", () => {
    const good = encode(content, undefined)
    fc.assert(fc.property(fc.nat(good.length - 1), (length) => {
      assert.throws(() => decodeReferencePool(good.subarray(0, length)), DecodeError)
    }))
    assert.throws(() => decodeReferencePool(encode(content, new Uint8Array(7))), DecodeError)
    assert.throws(() => decodeReferencePool(good.with(0, 3)), DecodeError)
  })

  it.live("restores a pool", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const file = join(yield* temporaryDirectory, "mempool.dat")
        writeFileSync(file, encode(content, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)))
        const options = { useCurrentTime: true, applyDeltas: false, applyUnbroadcast: false }
        yield* node.pool.importFrom(file, options)
        assert.isFalse(node.has(parent), "without its delta it pays nothing")
        yield* node.pool.importFrom(file, { ...options, useCurrentTime: false, applyDeltas: true })
        assert.isFalse(node.has(parent), "it is half a century old")
        yield* node.pool.prioritise(parent.txidKey, -10_000)
        yield* node.pool.importFrom(file, { ...options, applyDeltas: true, applyUnbroadcast: true })
        assert.isTrue(node.has(parent) && node.has(child))
        assert.isTrue(node.pool.isUnbroadcast(child.txidKey))
        assert.isFalse(node.pool.isUnbroadcast(parent.txidKey))
      })
    ))
})
