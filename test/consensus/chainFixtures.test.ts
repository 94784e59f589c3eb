import { afterEach, assert, describe, it } from "@effect/vitest"
import { regtestParams } from "../../src/consensus/params.ts"
import type { Coin, NameClaim } from "../../src/consensus/view.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { type Checkpoint, expectedSummary, fixtureBlocks, readRecords, summarize } from "../support/chainFixture.ts"
import { fixtureBytes, fixtureJson, hasShared } from "../support/fixtures.ts"
import { MemoryChain, trustScripts } from "../support/MemoryChain.ts"
import {
  assertUnchanged,
  BEFORE_SOFTFORKS,
  blockAt,
  claimRows,
  connectUpTo,
  expectedRows,
  state,
  WITHOUT_TAPROOT
} from "./fixtureChain.ts"

/**
 * Blocks that the reference node accepted, one by one, and the states it reached: the rules as a whole.
 * The folders of test/fixtures say how they were made.
 */

const expected = fixtureJson<{ readonly checkpoints: ReadonlyArray<Checkpoint> }>("regtest-names/expected.json")

// All work is synchronous: without turns of the event loop, the test runner considers the worker dead.
afterEach(() => new Promise<void>((resolve) => setImmediate(resolve)))

describe("regtest-names: a chain of 600 blocks", () => {
  const chain = new MemoryChain(regtestParams)

  it.each(expected.checkpoints)(
    "the chain has the reference node's coins and names at height $height",
    (checkpoint) => {
      connectUpTo(chain, checkpoint.height)
      assert.deepStrictEqual(summarize(chain.coins), expectedSummary(checkpoint.utxo))
      assert.deepStrictEqual(claimRows(chain.claims), expectedRows(checkpoint.nameScanHex))
    }
  )

  it("disconnecting blocks gives every earlier state, and connecting them gives the tip again", () => {
    const tip = state(chain)
    const states: Array<ReturnType<typeof state>> = []
    const replay = new MemoryChain(regtestParams, trustScripts)
    for (let height = 0; height < 600; height++) {
      if (height >= 400) states.push(state(replay))
      replay.connect(blockAt(height + 1))
    }
    assert.deepStrictEqual(state(replay), tip)
    for (const before of states.reverse()) {
      replay.disconnect()
      assertUnchanged(replay, before)
    }
    while (replay.height > 0) replay.disconnect()
    assert.deepStrictEqual(state(replay), { coins: new Map<string, Coin>(), claims: new Map<string, NameClaim>() })
  })

  it.each([
    { params: WITHOUT_TAPROOT, rules: "without taproot" },
    { params: BEFORE_SOFTFORKS, rules: "before the soft forks" }
  ])("the chain reaches the same state $rules", ({ params }) => {
    const other = new MemoryChain(params)
    connectUpTo(other, 600)
    assert.deepStrictEqual(state(other), state(chain))
  })
})

describe("regtest-names: losing branches", () => {
  const { branches } = fixtureJson<{
    readonly branches: ReadonlyArray<{
      readonly forkHeight: number
      readonly length: number
      readonly firstRecord: number
      readonly atStaleTip: Checkpoint
    }>
  }>("regtest-names/stale.json")
  const stale = fixtureBlocks("regtest-names/stale.dat")
  const chain = new MemoryChain(regtestParams)

  it.each(branches)("$length blocks from height $forkHeight on leave no trace after a reorg", (branch) => {
    connectUpTo(chain, branch.forkHeight)
    const before = state(chain)
    for (const block of stale.slice(branch.firstRecord, branch.firstRecord + branch.length)) chain.connect(block)
    assert.deepStrictEqual(summarize(chain.coins), expectedSummary(branch.atStaleTip.utxo))
    assert.deepStrictEqual(claimRows(chain.claims), expectedRows(branch.atStaleTip.nameScanHex))
    while (chain.height > branch.forkHeight) chain.disconnect()
    assertUnchanged(chain, before)
  })
})

describe.skipIf(!hasShared)("regtest-load: 6,000 blocks with 74,000 transactions", () => {
  it("the chain has the reference node's coins and number of names at every checkpoint", () => {
    const { checkpoints } = fixtureJson<{
      readonly checkpoints: ReadonlyArray<
        Pick<Checkpoint, "height" | "utxo"> & { readonly names: { readonly total: number } }
      >
    }>("regtest-load/expected.json")
    const chain = new MemoryChain(regtestParams, trustScripts)
    for (const record of readRecords(fixtureBytes("regtest-load/blocks.dat")).slice(1)) {
      chain.connect(decodeBlock(record))
      const checkpoint = checkpoints.find(({ height }) => height === chain.height)
      if (checkpoint === undefined) continue
      assert.deepStrictEqual(summarize(chain.coins), expectedSummary(checkpoint.utxo))
      assert.strictEqual(chain.claims.size, checkpoint.names.total)
    }
    assert.strictEqual(chain.height, 6000)
  })
})
