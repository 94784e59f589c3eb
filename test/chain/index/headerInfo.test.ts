import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { blocksOf, temporaryDirectory, withChain } from "../../support/chain.ts"
import { fixtureJson } from "../../support/fixtures.ts"

interface Expected {
  readonly blocks: ReadonlyArray<{
    readonly height: number
    readonly hash: string
    readonly nTx: number
    readonly mediantime: number
    readonly chainwork: string
  }>
}

interface Stale {
  readonly branches: ReadonlyArray<{ readonly forkHeight: number; readonly hashes: ReadonlyArray<string> }>
}

const blocks = blocksOf("regtest-names/blocks.dat").slice(0, 71)
const expected = fixtureJson<Expected>("regtest-names/expected.json").blocks
const [firstBranch] = fixtureJson<Stale>("regtest-names/stale.json").branches
const stale = blocksOf("regtest-names/stale.dat")

describe("headerInfo", () => {
  it.scopedLive("headerInfo of every block of the best chain equals the reference node's", () =>
    Effect.gen(function*() {
      yield* withChain(yield* temporaryDirectory, (chain) =>
        Effect.gen(function*() {
          for (const block of blocks.slice(1)) yield* chain.sink.submit(block)
          for (const [height, block] of blocks.entries()) {
            const info = yield* chain.header(block.hash)
            const row = expected[height]
            assert.isDefined(row)
            assert.deepStrictEqual({
              height: info.height,
              hash: displayHash(info.hash),
              nTx: info.transactions,
              mediantime: info.medianTimePast,
              chainwork: info.chainwork.toString(16).padStart(64, "0")
            }, {
              height: row.height,
              hash: row.hash,
              nTx: row.nTx,
              mediantime: row.mediantime,
              chainwork: row.chainwork
            })
            assert.deepStrictEqual(info.header.bytes, block.header.bytes)
            assert.strictEqual(info.confirmations, 71 - height)
            assert.strictEqual(info.size, block.size)
            assert.deepStrictEqual(info.next, blocks[height + 1]?.hash)
            assert.deepStrictEqual(yield* chain.headerAt(height), info)
          }
          assert.isUndefined(yield* chain.headerAt(71))
          assert.isUndefined(yield* chain.headerAt(-1))
          assert.deepStrictEqual(yield* chain.tip, yield* chain.header(blocks[70]?.hash ?? new Uint8Array(32)))
        }))
    }))

  it.scopedLive("headerInfo has no successor and -1 confirmations for blocks outside of the best chain", () =>
    Effect.gen(function*() {
      assert.isDefined(firstBranch)
      const branch = stale.slice(0, firstBranch.hashes.length)
      yield* withChain(yield* temporaryDirectory, (chain) =>
        Effect.gen(function*() {
          for (const block of blocks.slice(1)) yield* chain.sink.submit(block)
          for (const [i, block] of branch.entries()) {
            assert.strictEqual((yield* chain.sink.submit(block)).type, "inconclusive")
            const info = yield* chain.header(block.hash)
            assert.strictEqual(info.height, firstBranch.forkHeight + 1 + i)
            assert.deepStrictEqual([info.confirmations, info.next], [-1, undefined])
            assert.strictEqual(info.transactions, block.transactions.length)
          }
        }))
    }))

  it.scopedLive("headerInfo has no transaction count for a block with only a header", () =>
    Effect.gen(function*() {
      yield* withChain(yield* temporaryDirectory, (chain) =>
        Effect.gen(function*() {
          const [, first] = blocks
          assert.isDefined(first)
          assert.isUndefined((yield* chain.sink.acceptHeaders([first])).reject)
          const info = yield* chain.header(first.hash)
          assert.deepStrictEqual([info.height, info.transactions, info.confirmations], [1, 0, -1])
          assert.deepStrictEqual(yield* chain.headerTip, info)
          assert.strictEqual((yield* chain.tip).height, 0)
          assert.isTrue((yield* chain.progress).behind)
        }))
    }))
})
