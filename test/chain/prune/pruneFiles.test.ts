import { assert, describe, it } from "@effect/vitest"
import { filesToPrune, FREE_BYTES, type OldFile } from "../../../src/chain/prune/pruneFiles.ts"

const MIB = 1024 * 1024

const files: ReadonlyArray<OldFile> = [
  { number: 0, bytes: 140 * MIB, highest: 1_000 },
  { number: 1, bytes: 140 * MIB, highest: 2_000 },
  { number: 2, bytes: 140 * MIB, highest: 3_000 }
]

describe("filesToPrune", () => {
  it("removes the oldest files until the rest and some free bytes are below the target", () => {
    const usage = 500 * MIB
    const pruned = (target: number) => [...filesToPrune(files, { last: 5_000, usage, target })]
    assert.deepStrictEqual(pruned(usage + FREE_BYTES + 1), [])
    assert.deepStrictEqual(pruned(usage + FREE_BYTES), [0])
    assert.deepStrictEqual(pruned(usage + FREE_BYTES - 140 * MIB), [0, 1])
    assert.deepStrictEqual(pruned(0), [0, 1, 2])
  })

  it("keeps a file with a block above the last one that may go, and goes on with later ones", () => {
    const limits = { usage: Infinity, target: 0 }
    assert.deepStrictEqual([...filesToPrune(files, { ...limits, last: 999 })], [])
    assert.deepStrictEqual([...filesToPrune(files, { ...limits, last: 2_000 })], [0, 1])
    const mixed = [{ number: 0, bytes: 1, highest: 9_000 }, { number: 1, bytes: 1, highest: 10 }]
    assert.deepStrictEqual([...filesToPrune(mixed, { ...limits, last: 2_000 })], [1])
  })
})
