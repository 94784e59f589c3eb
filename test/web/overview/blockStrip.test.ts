import { assert, describe, it } from "@effect/vitest"
import type { HeaderInfo } from "../../../src/chain/index/headerInfo.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { type StripShown, stripView } from "../../../src/web/overview/blockStrip.ts"

const HEADER = makeHeader({
  version: 4,
  prevHash: new Uint8Array(32),
  merkleRoot: new Uint8Array(32),
  time: 1_700_000_000,
  bits: 0x207fffff,
  nonce: 0
})

const block = (
  height: number,
  { operations, transactions, weight }: {
    readonly transactions: number
    readonly operations: number | undefined
    readonly weight?: number
  }
): StripShown["blocks"][number] => {
  const info: HeaderInfo = {
    hash: new Uint8Array(32),
    height,
    header: HEADER,
    chainwork: 1n,
    medianTimePast: HEADER.time,
    transactions,
    size: 1_000,
    confirmations: 1,
    next: undefined
  }
  return { info, operations, weight }
}

const shown = (...blocks: StripShown["blocks"]): string =>
  stripView({ blocks, waiting: undefined, now: HEADER.time + 600 }).text

/** The squares in the accent colour and the others, of each tile. */
const squaresOf = (text: string): ReadonlyArray<readonly [names: number, others: number]> => {
  const counted = (path: string): number =>
    [...path.matchAll(/h(\d+)/g)].reduce((sum, [, width]) => sum + (Number(width) + 1) / 4, 0)
  return [...text.matchAll(/<path class="of-names" d="([^"]*)"\/><path d="([^"]*)"\/>/g)].map((
    [, names = "", others = ""]
  ) => [counted(names), counted(others)])
}

describe("stripView", () => {
  it("has a square for each transaction, and says the same in words", () => {
    const text = shown(block(9, { transactions: 15, operations: 7, weight: 40_000 }))
    assert.deepStrictEqual(squaresOf(text), [[7, 8]])
    assert.include(text, "Each square is a transaction.")
    for (const words of ["7 names", "15 <abbr title=\"transactions\">tx</abbr>", "1 % full"]) {
      assert.include(text, words)
    }
  })

  it("lets a square be several transactions so that the largest block fits", () => {
    const text = shown(
      block(9, { transactions: 1_234, operations: 3, weight: 3_990_000 }),
      block(8, { transactions: 1, operations: 0, weight: 800 })
    )
    assert.include(text, "Each square is 50 transactions.")
    // What is there has a square, however large the others are.
    assert.deepStrictEqual(squaresOf(text), [[1, 24], [0, 1]])
    assert.include(text, "100 % full")
    assert.include(text, "under 1 % full")
  })

  it("invents nothing: names and weight that are not known, a block without transactions", () => {
    const text = shown(block(9, { transactions: 0, operations: undefined }))
    assert.include(text, "<abbr title=\"not known\">–</abbr> names")
    assert.include(text, "0 <abbr")
    assert.notInclude(text, "full")
    assert.deepStrictEqual(squaresOf(text), [[0, 0]])
  })

  it("begins with the block that would be mined now, which leads to the mempool", () => {
    const { text } = stripView({
      blocks: [block(9, { transactions: 1, operations: 0, weight: 800 })],
      waiting: { transactions: 40, operations: 12, weight: 2_000_000 },
      now: HEADER.time
    })
    assert.match(text, /<ul class="strip"><li><a class="tile waiting" href="\.\/mempool\?order=rate"><b>Next<\/b>/)
    assert.deepStrictEqual(squaresOf(text), [[12, 28], [0, 1]])
    assert.include(text, "50 % full")
  })
})
