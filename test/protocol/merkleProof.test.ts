import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { equal, toHex } from "../../src/protocol/bytes.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import {
  encodeMerkleProof,
  type PartialTree,
  partialTree,
  provenBy,
  readMerkleProof
} from "../../src/protocol/merkleProof.ts"
import { DecodeError, Reader } from "../../src/protocol/Reader.ts"
import { bytesOf } from "../support/bytes.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"

const txids = FastCheck.uniqueArray(bytesOf(32), { minLength: 1, maxLength: 40, selector: toHex })

const proving = FastCheck.tuple(txids, FastCheck.func(FastCheck.boolean()))

const blocks = fixtureBlocks("regtest-names/blocks.dat")

describe("partial merkle trees", () => {
  it("a tree proves exactly the chosen transactions, in order, under the root of all", () => {
    FastCheck.assert(FastCheck.property(proving, ([txids, isProven]) => {
      const chosen = txids.map((_, position) => isProven(position))
      const proven = provenBy(partialTree(txids, (position) => chosen[position] === true))
      assert.isDefined(proven)
      assert.strictEqual(toHex(proven.root), toHex(merkleRoot(txids).root))
      assert.deepStrictEqual(
        proven.txids.map(toHex),
        txids.filter((_, position) => chosen[position] === true).map(toHex)
      )
    }))
  })

  it("a tree without proven transactions is the root alone", () => {
    const [one = assert.fail(), two = assert.fail()] = blocks.slice(1, 3).map(({ hash }) => hash)
    const tree = partialTree([one, two], () => false)
    assert.deepStrictEqual([tree.hashes.length, toHex(tree.flags)], [1, "00"])
    assert.deepStrictEqual(provenBy(tree), { root: merkleRoot([one, two]).root, txids: [], positions: [] })
  })

  it("malformed trees prove nothing", () => {
    const [a = assert.fail(), b = assert.fail(), c = assert.fail()] = blocks.slice(1, 4).map(({ hash }) => hash)
    const tree = partialTree([a, b, c], (position) => position === 1)
    assert.isDefined(provenBy(tree))
    const broken: ReadonlyArray<PartialTree> = [
      { ...tree, transactions: 0 },
      { ...tree, transactions: 16_667 },
      { ...tree, transactions: 1 },
      { ...tree, hashes: tree.hashes.slice(1) },
      { ...tree, hashes: [...tree.hashes, a] },
      { ...tree, flags: new Uint8Array(0) },
      { ...tree, flags: Uint8Array.of(...tree.flags, 0) },
      // Twins on the same level: the second repeats the first.
      { ...partialTree([a, a], () => true) }
    ]
    for (const each of broken) assert.isUndefined(provenBy(each))
  })

  it("a merkle block keeps its header and proof, and truncated bytes are refused", () => {
    const merged = blocks.find(({ auxpow }) => auxpow !== undefined) ?? assert.fail("no merge-mined block")
    const bytes = encodeMerkleProof({ head: merged, tree: partialTree([merged.hash], () => true) })
    const { head, tree } = readMerkleProof(new Reader(bytes))
    assert.isTrue(equal(head.header.hash, merged.hash))
    assert.isTrue(equal(head.auxpow?.bytes ?? assert.fail(), merged.auxpow?.bytes ?? assert.fail()))
    assert.strictEqual(toHex(encodeMerkleProof({ head, tree })), toHex(bytes))
    for (let size = 0; size < bytes.length; size += 7) {
      assert.throws(() => readMerkleProof(new Reader(bytes.subarray(0, size))), DecodeError)
    }
  })
})
