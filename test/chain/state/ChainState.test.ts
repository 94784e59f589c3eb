import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { ChainState } from "../../../src/chain/state/ChainState.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { reject } from "../../../src/consensus/Reject.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import { blocksOf } from "../../support/chain.ts"
import { BATCH_LIMITS, closeState, connectAll, openState, openStores, stateOn } from "../../support/chainState.ts"
import { withDirectory } from "../../support/temporary.ts"

const blocks = blocksOf("regtest-names/blocks.dat").slice(0, 161)
const offer = (state: ChainState, from: number, to: number): void => {
  for (const block of blocks.slice(from, to + 1)) assert.strictEqual(state.acceptBlock(block).type, "new")
}

const prepare = (state: ChainState) => {
  const step = state.forks.nextStep()
  if (step.type !== "connect") throw new Error(`the next step is ${step.type}`)
  return runSteps(state.connector.prepare(step.target, BATCH_LIMITS, () => {}))
}

/** All coins, as far as needed to distinguish states. */
const coinsOf = (state: ChainState) => {
  state.flush()
  return state.database.coinsAfter(undefined, 100_000)
}

/** The coins of a chain without reorgs at a height. */
const straightTo = (height: number) =>
  withDirectory((directory) => {
    const state = openState(directory)
    offer(state, 1, height)
    connectAll(state)
    const coins = coinsOf(state)
    closeState(state)
    return coins
  })

const hashOfTip = (state: ChainState): string => displayHash(state.index.hash(state.active.tip))

describe("ChainState", () => {
  it("a batch that could not be verified is rolled back without a trace", () => {
    const at120 = straightTo(120)
    withDirectory((directory) => {
      const state = openState(directory)
      offer(state, 1, 120)
      connectAll(state)
      offer(state, 121, 160)
      const batch = prepare(state)
      assert.strictEqual(batch.blocks.length, 40)
      assert.deepStrictEqual([state.active.height, state.active.settledHeight], [160, 120])
      state.connector.takeBack(batch)
      assert.deepStrictEqual([state.active.height, state.active.settledHeight], [120, 120])
      assert.deepStrictEqual(coinsOf(state), at120)
      // No block is marked invalid.
      connectAll(state)
      assert.strictEqual(state.active.settledHeight, 160)
      closeState(state)
    })
  })

  it("a batch is prepared block by block, and its blocks count as validated only when it is settled", () => {
    withDirectory((directory) => {
      const state = openState(directory)
      offer(state, 1, 160)
      const steps = state.connector.prepare(state.forks.best.reachable, BATCH_LIMITS, () => {})
      for (let height = 1; height <= BATCH_LIMITS.blocks; height++) {
        assert.isFalse(steps.next().done)
        assert.deepStrictEqual([state.active.height, state.active.settledHeight], [height, 0])
        assert.throws(() => state.flush(), "not verified yet")
      }
      assert.strictEqual(state.connector.settle(runSteps(steps), undefined).connected.length, BATCH_LIMITS.blocks)
      assert.strictEqual(state.active.settledHeight, BATCH_LIMITS.blocks)
      connectAll(state)
      closeState(state)
    })
  })

  it("a flush keeps coins within the budget in memory while blocks go on, and within half of it at the end", () => {
    withDirectory((directory) => {
      const stores = openStores(directory)
      const options = { params: regtestParams, coinCacheBytes: 1e8, now: () => 1_900_000_000 }
      const state = new ChainState(stores, options)
      offer(state, 1, 159)
      connectAll(state)
      // A budget of which the coins take eight or nine tenths.
      while (!state.flushDue) options.coinCacheBytes *= 0.9
      options.coinCacheBytes /= 0.8
      const coinbase = blocks[159]?.transactions[0] ?? assert.fail()
      const reads = vi.spyOn(stores.database, "coin")
      const isInMemory = (): boolean => {
        reads.mockClear()
        assert.isDefined(state.view.coin(outpointKey(outpoint(coinbase.txid, 0))))
        return reads.mock.calls.length === 0
      }
      assert.isTrue(state.flush(true))
      assert.isTrue(isInMemory())
      offer(state, 160, 160)
      connectAll(state)
      assert.isTrue(state.flush())
      assert.isFalse(isInMemory())
      reads.mockRestore()
      closeState(state)
    })
  })

  it("blocks before a failing block are kept, whatever follows it", () => {
    const at130 = straightTo(130)
    withDirectory((directory) => {
      const state = openState(directory)
      offer(state, 1, 120)
      connectAll(state)
      offer(state, 121, 160)
      const { connected, refused } = state.connector.settle(prepare(state), {
        block: 10,
        reject: reject("some-reason")
      })
      assert.strictEqual(connected.length, 10)
      assert.strictEqual(refused?.reject.reason, "some-reason")
      assert.deepStrictEqual([state.active.height, state.active.settledHeight], [130, 130])
      assert.deepStrictEqual(coinsOf(state), at130)
      assert.strictEqual(state.forks.nextStep().type, "none")
      closeState(state)
    })
  })

  it("a block whose undo data cannot be written is not connected, so that every block can be disconnected", () => {
    const at110 = straightTo(110)
    withDirectory((directory) => {
      const stores = openStores(directory)
      const state = stateOn(stores)
      offer(state, 1, 100)
      connectAll(state)
      offer(state, 101, 150)
      const batch = prepare(state)
      const { files } = stores
      const append = files.appendUndo.bind(files)
      let room = 10
      files.appendUndo = (hash, undo) => {
        if (room-- > 0) return append(hash, undo)
        throw new StorageUnavailable({ file: "undo00000.dat", doing: "writing", reason: "no space" })
      }
      assert.throws(() => state.connector.settle(batch, undefined), "no space")
      assert.deepStrictEqual([state.active.height, state.active.settledHeight], [110, 110])
      assert.deepStrictEqual(coinsOf(state), at110)
      closeState(state)
      const storesAgain = openStores(directory)
      assert.deepStrictEqual(storesAgain.repairs(), [])
      const again = stateOn(storesAgain)
      assert.strictEqual(again.active.settledHeight, 110)
      connectAll(again)
      assert.strictEqual(again.active.settledHeight, 150)
      while (again.active.height > 0) again.connector.disconnectTip()
      assert.strictEqual(hashOfTip(again), displayHash(regtestParams.network.genesisHash))
      assert.deepStrictEqual(coinsOf(again), [])
      again.close()
    })
  })
})
