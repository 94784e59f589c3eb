import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { concat, displayHash, toHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { readHeader } from "../../src/protocol/header.ts"
import { merkleBranch, merkleBranchRoot, merkleRoot } from "../../src/protocol/merkle.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { bytesOf, hash } from "../support/bytes.ts"
import { fixtureBytes, fixtureJson, hasShared } from "../support/fixtures.ts"

const hashes = FastCheck.uniqueArray(bytesOf(32), { minLength: 1, maxLength: 40, selector: toHex })

/** The definition, one row after the other. */
const naiveRoot = (row: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = row
  if (first === undefined) return new Uint8Array(32)
  if (row.length === 1) return first
  const next: Array<Uint8Array> = []
  for (let i = 0; i < row.length; i += 2) {
    const left = row[i] ?? first
    next.push(hash256(concat(left, row[i + 1] ?? left)))
  }
  return naiveRoot(next)
}

describe("merkle root", () => {
  it("the root of an empty list is zero, that of one hash is the hash", () => {
    assert.deepStrictEqual(merkleRoot([]), { root: new Uint8Array(32), mutated: false })
    const one = new Uint8Array(32).fill(7)
    assert.deepStrictEqual(merkleRoot([one]), { root: one, mutated: false })
  })

  it("the root matches the definition for any number of hashes, and a list of different hashes is not mutated", () => {
    FastCheck.assert(FastCheck.property(hashes, (hashes) => {
      const { mutated, root } = merkleRoot(hashes)
      assert.strictEqual(toHex(root), toHex(naiveRoot(hashes)))
      assert.isFalse(mutated)
    }))
  })

  it("the input does not change, and the root is a copy", () => {
    const one = new Uint8Array(32).fill(7)
    merkleRoot([one]).root.fill(0)
    assert.strictEqual(one[0], 7)
  })
})

describe("CVE-2012-2459", () => {
  const make = (count: number): ReadonlyArray<Uint8Array> =>
    Array.from({ length: count }, (_, i) => new Uint8Array(32).fill(i + 1))

  it.each([
    [3, 4, [0, 1, 2, 2]],
    [5, 6, [0, 1, 2, 3, 4, 4]],
    [5, 8, [0, 1, 2, 3, 4, 4, 4, 4]],
    [6, 8, [0, 1, 2, 3, 4, 5, 4, 5]]
  ])("a list of %d has the root of a lengthened list of %d, which is reported as mutated", (count, _, order) => {
    const honest = make(count)
    const doubled = order.map((i) => honest[i] ?? assert.fail())
    assert.isFalse(merkleRoot(honest).mutated)
    assert.deepStrictEqual(merkleRoot(doubled), { root: merkleRoot(honest).root, mutated: true })
  })

  it("equal neighbours of any row are reported, but only neighbours of one pair", () => {
    const [a, b, c] = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill))
    if (a === undefined || b === undefined || c === undefined) return assert.fail()
    assert.isTrue(merkleRoot([a, a, b]).mutated)
    assert.isTrue(merkleRoot([a, b, a, b]).mutated)
    assert.isFalse(merkleRoot([a, b, b, c]).mutated)
    assert.isFalse(merkleRoot([a, b, a]).mutated)
    assert.isFalse(merkleRoot([a, b, c, a]).mutated)
  })
})

describe("merkle branches", () => {
  it("a branch leads from every hash to the root, with as many steps as rows", () => {
    FastCheck.assert(
      FastCheck.property(hashes, (hashes) => {
        const { root } = merkleRoot(hashes)
        for (const [index, hash] of hashes.entries()) {
          const branch = merkleBranch(hashes, index)
          assert.strictEqual(branch.length, Math.ceil(Math.log2(hashes.length)))
          assert.strictEqual(toHex(merkleBranchRoot(hash, branch, index)), toHex(root))
        }
      }),
      { numRuns: 30 }
    )
  })

  it("another index or hash gives another root", () => {
    FastCheck.assert(FastCheck.property(hashes, FastCheck.nat(), (hashes, pick) => {
      FastCheck.pre(hashes.length > 1)
      const index = pick % hashes.length
      const branch = merkleBranch(hashes, index)
      const hash = hashes[index] ?? assert.fail()
      const root = toHex(merkleRoot(hashes).root)
      // The last hash of an odd row is paired with itself: there left and right are equal.
      if (hashes.length % 2 === 0) assert.notStrictEqual(toHex(merkleBranchRoot(hash, branch, index ^ 1)), root)
      assert.notStrictEqual(toHex(merkleBranchRoot(new Uint8Array(32), branch, index)), root)
    }))
  })

  it("branches are folded by the protocol's rules (reference/protocol.md 2.5)", () => {
    const [leaf, sibling] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    const left = toHex(hash256(concat(leaf, sibling)))
    const right = toHex(hash256(concat(sibling, leaf)))
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [sibling], 0)), left)
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [sibling], 1)), right)
    // Bits beyond the branch have no effect.
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [sibling], 2)), left)
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [sibling], 0x7fffffff)), right)
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [], 5)), toHex(leaf))
    // -1 is special; other negative numbers are shifted with their sign.
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [sibling], -1)), "00".repeat(32))
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [], -1)), "00".repeat(32))
    assert.strictEqual(toHex(merkleBranchRoot(leaf, [sibling], -2)), left)
    const three = [sibling, sibling, sibling]
    assert.strictEqual(toHex(merkleBranchRoot(leaf, three, -2)), toHex(merkleBranchRoot(leaf, three, 6)))
  })
})

describe.skipIf(!hasShared)("real blocks", () => {
  it("the ids of Namecoin block 404680 give its merkle root", () => {
    const { blockTxs } = fixtureJson<{ blockTxs: ReadonlyArray<string> }>(
      "namecoin-mainnet/blocks/blockbook_rpc_404680.json"
    )
    assert.strictEqual(blockTxs.length, 29)
    assert.match(displayHash(merkleRoot(blockTxs.map(hash)).root), /^a259af64.*2c75$/)
  })

  it("the partial tree of Bitcoin block 300025 folds to its merkle root", () => {
    const reader = new Reader(fixtureBytes("bitcoin-blocks/bcoin/merkle300025.raw"))
    const header = readHeader(reader)
    const count = reader.u32("transactions")
    const nodes = Array.from({ length: reader.compactSize("hashes") }, () => reader.bytes(32, "hash"))
    const flags = reader.varBytes("flags")
    // BIP 37: depth first; a set bit descends, a clear bit uses the next hash.
    let bit = 0
    const fold = (height: number, position: number): Uint8Array => {
      const set = ((flags[bit >> 3] ?? 0) >> (bit++ & 7) & 1) === 1
      const width = Math.ceil(count / 2 ** (height - 1))
      if (!set || height === 0) return nodes.shift() ?? assert.fail("too few hashes")
      const left = fold(height - 1, 2 * position)
      return merkleBranchRoot(left, [2 * position + 1 < width ? fold(height - 1, 2 * position + 1) : left], 0)
    }
    const root = fold(Math.ceil(Math.log2(count)), 0)
    assert.strictEqual(displayHash(root), displayHash(header.merkleRoot))
  })
})
