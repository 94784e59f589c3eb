import { assert, describe, it } from "@effect/vitest"
import { targetOf } from "../../src/consensus/difficulty.ts"
import { mainnetReader, regtestReader } from "../../src/consensus/readerParams.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { fromHex } from "../../src/protocol/bytes.ts"
import { floorAt } from "../../src/verify/floor.ts"
import { fixtureText } from "../support/fixtures.ts"

/** Time and bits of blocks of mainnet. */
const REAL = [
  [1_327_728_573, 0x1a208087],
  [1_582_540_599, 0x17139423],
  [1_738_291_084, 0x170487b5],
  [1_781_892_228, 0x1703e5c6]
] as const

describe("floorAt", () => {
  it("lets the blocks of the chain pass", () => {
    const { header } = decodeBlock(fromHex(fixtureText("mainnet-blocks/210000.hex").trim()) ?? assert.fail())
    for (const [time, bits] of [...REAL, [header.time, header.bits] as const]) {
      const target = targetOf(bits, mainnetReader.powLimit) ?? assert.fail()
      assert.isTrue(target <= floorAt(time, mainnetReader), String(time))
    }
  })

  it("asks a false block of today for more than all work of 2014, whatever its height", () => {
    const old = targetOf(0x18354a24, mainnetReader.powLimit) ?? assert.fail()
    assert.isTrue(old > floorAt(1_781_892_228, mainnetReader))
    assert.isTrue(old > floorAt(Number.MAX_SAFE_INTEGER, mainnetReader))
  })

  it("never becomes easier with time", () => {
    let least = mainnetReader.powLimit
    for (let time = 1_300_000_000; time < 1_900_000_000; time += 5_000_000) {
      const floor = floorAt(time, mainnetReader)
      assert.isTrue(floor <= least)
      least = floor
    }
  })

  it("takes any work on regtest", () => {
    assert.strictEqual(floorAt(1_781_892_228, regtestReader), regtestReader.powLimit)
  })
})
