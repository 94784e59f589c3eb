import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BlockIndex, GENESIS, NONE } from "../../src/chain/index/BlockIndex.ts"
import { indexedHeaders } from "../../src/chain/index/HeaderTree.ts"
import { countTransactions, verifiedPart } from "../../src/chain/VerifiedPart.ts"
import { mainnetParams } from "../../src/consensus/params.ts"
import type { HeaderId } from "../../src/protocol/keys.ts"
import { childOf } from "../support/headers.ts"

const NOW = 1_800_000_000

const rate = { time: NOW - 100_000, count: 1_000, perSecond: 0.01 }

const part = (transactions: number, time: number, ahead = 0): number =>
  verifiedPart({ transactions, height: 10, time, headers: 10 + ahead }, { rate, spacing: 600 }, NOW)

describe("verifiedPart", () => {
  it("takes the known number of transactions, and the rate since then, for the whole", () => {
    assert.strictEqual(part(500, NOW - 200_000), 500 / 2_000)
    assert.strictEqual(part(1_000, NOW - 200_000), 0.5)
  })

  it("beyond the known number, the age of the block tells what follows", () => {
    assert.strictEqual(part(1_900, NOW - 10_000), 1_900 / 2_000)
  })

  it("near the end the headers tell it, and the time of the block does not", () => {
    assert.strictEqual(part(2_000, NOW - 7_200), 1)
    assert.strictEqual(part(2_000, NOW + 7_200), 1)
    assert.strictEqual(part(2_000, NOW - 60, 10), 2_000 / 2_060)
  })

  it("a node of mainnet with genesis alone has verified nearly nothing", () => {
    const { targetSpacing: spacing, transactionRate } = mainnetParams
    if (transactionRate === undefined) throw new Error("mainnet has a rate")
    const genesis = { transactions: 1, height: 0, time: 1_303_000_001, headers: 0 }
    assert.isBelow(verifiedPart(genesis, { rate: transactionRate, spacing }, NOW), 1e-6)
  })
})

describe("countTransactions", () => {
  it("counts up to any block, whatever was counted before; blocks that were never stored have the mean", () => {
    const index = new BlockIndex()
    const grow = (parent: HeaderId, count: number, salt: number): ReadonlyArray<HeaderId> => {
      const ids: Array<HeaderId> = []
      for (let i = 0; i < count; i++) {
        const before = ids.at(-1) ?? parent
        ids.push(index.add(childOf(before === NONE ? undefined : index.header(before), salt + i), before))
      }
      return ids
    }
    const store = (id: HeaderId, txCount: number): void =>
      index.setData(id, { place: { file: 0, offset: 0, size: 1 }, txCount, checksum: 0 })
    const main = grow(NONE, 10, 0)
    const fork = grow(main[4] ?? NONE, 3, 100)
    for (const [i, id] of main.entries()) if (i !== 2) store(id, i + 1)
    for (const id of fork) store(id, 50)
    const tree = { ...indexedHeaders(index), transactions: (id: HeaderId) => index.txCount(id) }
    const count = countTransactions(tree, 7)
    const upTo = (id: HeaderId | undefined): number => Effect.runSync(count(id ?? NONE))
    assert.strictEqual(upTo(main[9]), 55 - 3 + 7)
    assert.strictEqual(upTo(fork[2]), 15 - 3 + 7 + 150)
    assert.strictEqual(upTo(main[9]), 55 - 3 + 7)
    assert.strictEqual(upTo(main[0]), 1)
    assert.strictEqual(main[0], GENESIS)
  })
})
