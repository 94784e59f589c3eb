import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NO_HEADER } from "../../src/chain/index/HeaderTree.ts"
import { headerAnswer } from "../../src/electrum/methods/headerMethods.ts"
import { VERSION_1_6 } from "../../src/electrum/protocol/versions.ts"
import { makeHeaders } from "../../src/electrum/sources/Headers.ts"
import { encodeBlockHeader } from "../../src/protocol/block.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import type { HeaderId } from "../../src/protocol/keys.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { noTree } from "../support/noTree.ts"
import { provenRoot } from "./servedNode.ts"

const all = fixtureBlocks("regtest-names/blocks.dat.gz")

const TIP = 99

/** From this height on, the second chain has other headers: those of 100 blocks later. */
const FORK = 40

const onBranch = (height: number, branch: number): number => branch === 1 && height >= FORK ? height + 100 : height

const headerOf = (id: number) => {
  const header = all[id]
  if (header === undefined) throw new Error(`the fixture has no header ${id}`)
  return header
}

/** Two chains, of which the test says when the second becomes the best one, and from where blocks are stored. */
const forked = () => {
  const state = { branch: 0, reads: 0, reorgAt: Infinity, stored: 0, isPruned: false }
  const headers = makeHeaders({
    fullHeaders: (ids) =>
      Effect.sync(() => {
        const firstMissing = ids.findIndex((id) => id < state.stored)
        const found = ids.slice(0, firstMissing === -1 ? ids.length : firstMissing).map(headerOf)
        if (++state.reads === state.reorgAt) state.branch = 1
        return found
      }),
    tree: {
      ...noTree,
      tip: () => onBranch(TIP, state.branch) as HeaderId,
      height: () => TIP,
      at: (height) => height > TIP ? NO_HEADER : onBranch(height, state.branch) as HeaderId,
      hash: (id) => headerOf(id).header.hash,
      isPruned: () => state.isPruned
    }
  })
  return { state, headers }
}

const encoded = (height: number, branch: number): string => toHex(encodeBlockHeader(headerOf(onBranch(height, branch))))

describe("headers", () => {
  it.live("of a list are of one chain, though a reorg comes between two reads", () =>
    Effect.gen(function*() {
      const { headers, state } = forked()
      state.reorgAt = 1
      const list = yield* headers.list({ from: 0, count: 1_000, room: Infinity })
      assert.deepStrictEqual(list.map(toHex), Array.from({ length: TIP + 1 }, (_, height) => encoded(height, 0)))
      assert.isAbove(state.reads, 1)
    }))

  it.live("and their proofs are of one chain", () =>
    Effect.gen(function*() {
      const { headers, state } = forked()
      state.reorgAt = 1
      const answer: unknown = yield* headerAnswer(headers, { height: 60, checkpoint: TIP, version: VERSION_1_6 })
      const { branch, header, root } = answer as {
        readonly header: string
        readonly branch: ReadonlyArray<string>
        readonly root: string
      }
      assert.strictEqual(header, encoded(60, 1).slice(0, 160))
      const hash = displayHash(headerOf(onBranch(60, 1)).header.hash)
      assert.strictEqual(provenRoot(hash, { merkle: branch, pos: 60 }), root)
    }))

  it.live("whose blocks are not stored are an error, not the end of the chain", () =>
    Effect.gen(function*() {
      const { headers, state } = forked()
      state.stored = 50
      const message = "the block at height 49 is not stored on this server; ask another one"
      assert.strictEqual((yield* Effect.flip(headers.one(49))).message, message)
      assert.strictEqual((yield* Effect.flip(headers.list({ from: 49, count: 5, room: Infinity }))).message, message)
      state.isPruned = true
      const gone = "the block at height 49 was pruned on this server; ask one that keeps all blocks"
      assert.strictEqual((yield* Effect.flip(headers.one(49))).message, gone)
      assert.lengthOf(yield* headers.list({ from: 50, count: 500, room: Infinity }), 50)
      assert.strictEqual((yield* Effect.flip(headers.one(TIP + 1))).message, "height 100 out of range")
    }))
})
