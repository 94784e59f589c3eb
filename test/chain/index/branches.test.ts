import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Status } from "../../../src/chain/index/BlockIndex.ts"
import type { ChainState } from "../../../src/chain/state/ChainState.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { HeaderId } from "../../../src/protocol/keys.ts"
import { temporaryDirectory, type TestChain, withChain } from "../../support/chain.ts"
import { connectAll, flipBit, moveAll, openState } from "../../support/chainState.ts"
import { emptyChain, mine } from "../../support/regtest.ts"
import { withDirectory } from "../../support/temporary.ts"
import { allBlocks, firstOf, twoBranches } from "../../support/twoBranches.ts"

const offer = (state: ChainState, blocks: ReadonlyArray<Block>): void => {
  for (const block of blocks) assert.notStrictEqual(state.acceptBlock(block).type, "rejected")
}

const idOf = (state: ChainState, { hash }: Block): HeaderId => state.index.find(hash)

const lose = (state: ChainState, id: HeaderId): void =>
  state.losses.lose({ family: "blk", id, height: state.index.height(id), reason: "the file was cut" })

describe("a branch that waits for a missing block", () => {
  const { long, short } = twoBranches({ fork: 5, short: 20, long: 22 })
  const missing = short.blockAt(12)

  const waiting = (state: ChainState): void => {
    offer(state, allBlocks(short).slice(1))
    connectAll(state)
    lose(state, idOf(state, missing))
    offer(state, allBlocks(long).slice(6))
    assert.deepStrictEqual(state.forks.nextStep(), { type: "wait", missing: idOf(state, missing) })
  }

  it("a waiting branch is given up: the chain grows, and switches to the branch when the block arrives", () => {
    withDirectory((directory) => {
      const state = openState(directory)
      waiting(state)
      assert.strictEqual(state.forks.best.reachable, idOf(state, long.tip))
      assert.isTrue(state.forks.giveUp())
      assert.deepStrictEqual(state.forks.nextStep(), { type: "none" })
      assert.isUndefined(state.losses.waitsFor)
      assert.strictEqual(state.losses.inTheWay, idOf(state, missing))
      assert.isTrue(state.losses.recent)
      assert.isFalse(state.losses.recentAwaited)
      assert.deepStrictEqual([state.forks.best.reachable, state.forks.best.mostWork], [
        state.active.tip,
        idOf(state, long.tip)
      ])
      // On both branches new blocks come.
      const [higher, ahead] = [firstOf(short, 20), firstOf(long, 22)]
      offer(state, [mine(ahead), mine(higher)])
      moveAll(state)
      assert.deepStrictEqual([state.active.tip, state.forks.best.reachable], [
        idOf(state, higher.tip),
        idOf(state, higher.tip)
      ])
      assert.strictEqual(state.forks.best.mostWork, idOf(state, ahead.tip))
      offer(state, [missing])
      assert.isUndefined(state.losses.inTheWay)
      assert.strictEqual(state.forks.best.reachable, idOf(state, ahead.tip))
      moveAll(state)
      assert.strictEqual(state.active.tip, idOf(state, ahead.tip))
      assert.isFalse(state.losses.any)
      state.close()
    })
  })

  it("the chain waits for a branch again if the block is lost again", () => {
    withDirectory((directory) => {
      const state = openState(directory)
      waiting(state)
      state.forks.giveUp()
      offer(state, [missing])
      lose(state, idOf(state, missing))
      assert.deepStrictEqual(state.forks.nextStep(), { type: "wait", missing: idOf(state, missing) })
      state.close()
    })
  })

  it("a branch is not given up if the tip is invalid, because the chain must leave it", () => {
    withDirectory((directory) => {
      const state = openState(directory)
      waiting(state)
      state.forks.invalidate(idOf(state, short.blockAt(19)))
      assert.deepStrictEqual(state.forks.nextStep(), { type: "wait", missing: idOf(state, missing) })
      assert.isFalse(state.forks.giveUp())
      assert.deepStrictEqual(state.forks.nextStep(), { type: "wait", missing: idOf(state, missing) })
      state.close()
    })
  })

  it("without a waiting branch there is nothing to give up", () => {
    withDirectory((directory) => {
      const state = openState(directory)
      assert.isFalse(state.forks.giveUp())
      state.close()
    })
  })
})

describe("a way back of which the missing block is found after hundreds of blocks", () => {
  it("the chain returns to the complete branch", () => {
    const { long, short } = twoBranches({ fork: 5, short: 330, long: 331 })
    withDirectory((directory) => {
      const state = openState(directory)
      offer(state, allBlocks(short).slice(1))
      connectAll(state)
      const missing = idOf(state, short.blockAt(10))
      lose(state, missing)
      offer(state, allBlocks(long).slice(6))
      moveAll(state)
      assert.strictEqual(state.losses.waitsFor, missing)
      assert.isBelow(state.active.height, 40)
      assert.isTrue(state.forks.giveUp())
      moveAll(state)
      assert.strictEqual(state.active.tip, idOf(state, short.tip))
      assert.isTrue(state.index.has(state.active.tip, Status.HAVE_UNDO))
      state.close()
    })
  })
})

describe("a chain state that is rebuilt from stored blocks with one damaged block", () => {
  it.scopedLive("a rebuilt chain state is on the branch that was given up because of a damaged block", () =>
    Effect.gen(function*() {
      const { long, short } = twoBranches({ fork: 5, short: 20, long: 22 })
      const directory = yield* temporaryDirectory
      const file = join(directory, "blocks", "blk00000.dat")
      yield* withChain(directory, (chain) => chain.sink.deliver(allBlocks(short).slice(1), false))
      const { bytes } = short.blockAt(12)
      flipBit(file, 8 * (readFileSync(file).indexOf(bytes) + bytes.length - 6))
      const hashOf = (chain: TestChain) => Effect.map(chain.tip, ({ header }) => displayHash(header.hash))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(allBlocks(long).slice(6), false)
          assert.isTrue(yield* chain.control.giveUpBranch)
          assert.isFalse(yield* chain.control.giveUpBranch)
          assert.strictEqual(yield* hashOf(chain), displayHash(short.tip.hash))
        }))
      rmSync(join(directory, "chainstate"), { recursive: true })
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* hashOf(chain), displayHash(long.tip.hash))
          assert.isFalse(chain.tree.losses.any)
        }))
    }))
})

describe("blocks of a chain without branches", () => {
  it("blocks of a chain without branches are never excluded from it", () => {
    withDirectory((directory) => {
      const state = openState(directory)
      const chain = emptyChain(3)
      offer(state, allBlocks(chain).slice(1))
      connectAll(state)
      for (const id of state.index.ids()) assert.isFalse(state.losses.bars(id))
      state.close()
    })
  })
})
