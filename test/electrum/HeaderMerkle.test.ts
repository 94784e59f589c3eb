import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { HeaderMerkle } from "../../src/electrum/sources/HeaderMerkle.ts"
import { type Bytes, toHex } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { merkleBranch, merkleRoot } from "../../src/protocol/merkle.ts"

const hashOf = (branch: number, height: number): Bytes => sha256(Buffer.from(`${branch} ${height}`))

/** A chain that can be replaced from a height on. */
const chainOf = (length: number) => {
  const hashes = Array.from({ length }, (_, height) => hashOf(0, height))
  let branch = 0
  return {
    hashes,
    hashAt: (height: number): Bytes | undefined => hashes[height],
    reorganize: (from: number, to: number): void => {
      branch++
      hashes.length = from
      while (hashes.length < to) hashes.push(hashOf(branch, hashes.length))
    }
  }
}

const hex = (branch: ReadonlyArray<Bytes>) => branch.map(toHex)

describe("proofs of headers", () => {
  it("are those of a whole tree at any height, through reorgs", () => {
    const step = fc.record({ depth: fc.nat(600), grow: fc.integer({ min: 1, max: 700 }), at: fc.nat(), cp: fc.nat() })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_500 }), fc.array(step, { maxLength: 6 }), (first, steps) => {
        const chain = chainOf(first)
        const merkle = new HeaderMerkle(chain)
        for (const { at, cp, depth, grow } of steps) {
          const from = Math.max(1, chain.hashes.length - depth)
          chain.reorganize(from, from + grow)
          const length = 1 + cp % chain.hashes.length
          const index = at % length
          const found = merkle.branch({ index, length })
          const leaves = chain.hashes.slice(0, length)
          assert.deepStrictEqual(hex(found?.branch ?? []), hex(merkleBranch(leaves, index)))
          assert.deepStrictEqual(found && toHex(found.root), toHex(merkleRoot(leaves).root))
        }
      }),
      { numRuns: 40 }
    )
  })

  it("need all headers of the tree", () => {
    const merkle = new HeaderMerkle(chainOf(300))
    assert.isUndefined(merkle.branch({ index: 0, length: 301 }))
    assert.isUndefined(merkle.branch({ index: 300, length: 300 }))
    assert.deepStrictEqual(merkle.branch({ index: 0, length: 1 })?.branch, [])
  })
})
