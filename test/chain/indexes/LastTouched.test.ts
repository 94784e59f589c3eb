import { assert, describe, it } from "@effect/vitest"
import { LastTouched, type TouchedScripts } from "../../../src/chain/indexes/LastTouched.ts"
import { blocksOf } from "../../support/chain.ts"

const [block] = blocksOf("regtest-names/blocks.dat").slice(-1)

/** The same block at some height. */
const placed = (height: number) =>
  block === undefined ? assert.fail("no block") : { block, height, hash: block.hash, effects: [] }

const sizeOf = (touched: TouchedScripts): number => touched === "all" ? assert.fail("all") : touched.size

describe("the scripts of the last blocks", () => {
  const keys = sizeOf(new LastTouched().add([placed(0)]))

  it.each<readonly [what: string, keptKeys: number, kept: number]>([
    ["a hundred blocks", 1_000_000, 100],
    ["so many scripts", 5 * keys + 1, 5],
    ["the newest block, however large", 0, 1]
  ])("are those of %s", (_, keptKeys, kept) => {
    const after = (remove: number): TouchedScripts => {
      const last = new LastTouched(keptKeys)
      for (let height = 1; height <= 120; height++) last.add([placed(height)])
      return last.removeAbove(120 - remove)
    }
    assert.strictEqual(sizeOf(after(kept)), keys)
    assert.strictEqual(after(kept + 1), "all")
  })
})
