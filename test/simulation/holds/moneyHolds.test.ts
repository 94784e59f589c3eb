import { assert, describe, it } from "@effect/vitest"
import { regtestParams } from "../../../src/consensus/params.ts"
import { binaryString } from "../../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { statsFault, supplyFault } from "./moneyHolds.ts"
import { ReplayModel } from "./ReplayModel.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const byHash = new Map(blocks.map((block) => [binaryString(block.hash), block]))

const state = new ReplayModel(
  regtestParams.network.genesisHash,
  (hash) => byHash.get(binaryString(hash)) ?? assert.fail("no such block")
).moveTo(blocks[400]?.hash ?? assert.fail("no block 400"))

const { money: { destroyed, issued } } = state
const right = { coins: issued - destroyed - 7, names: 7, genesis: 50n, subsidy: BigInt(issued) + 50n }

describe("the supply", () => {
  it("is what was issued and not destroyed, some of which expired with names", () => {
    assert.isAbove(destroyed, 0)
    assert.isUndefined(supplyFault(state))
    assert.match(supplyFault({ ...state, money: { issued, destroyed: destroyed - 1 } }) ?? "", /are worth/)
  })

  it("is the same in the statistics, with the coins of names", () => {
    assert.isUndefined(statsFault(right, state))
    assert.match(statsFault({ ...right, names: 8 }, state) ?? "", /have coins of/)
    assert.match(statsFault({ ...right, subsidy: right.subsidy + 1n }, state) ?? "", /issued, not/)
  })
})
