import { assert, describe, it } from "@effect/vitest"
import { type Bytes, concat, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { taggedHash } from "../../src/protocol/hash.ts"
import { tapBranchHash, tapLeafHash, tapOutput, tapTweak } from "../../src/protocol/taproot.ts"

/** The vectors of BIP 341 are in test/consensus/taprootVectors.test.ts. */

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

/** The first receiving address of BIP 86. */
const INTERNAL = bytes("cc8a4bc64d897bddc5fbc2f670f7a8ba0b386779106cf1223c6fc5d7cd6fc115")

describe("taproot outputs", () => {
  it("an output without scripts is that of BIP 86", () => {
    const output = tapOutput({ internalKey: INTERNAL })
    assert.strictEqual(toHex(output.subarray(1)), "a60869f0dbcf1dc659c9cecbaf8050135ea9e8cdc487053f1dc6880949dc684c")
  })

  it("the tweak covers the key and the root", () => {
    const root = new Uint8Array(32).fill(1)
    const tweak = tapTweak({ internalKey: INTERNAL, merkleRoot: root })
    assert.strictEqual(toHex(tweak), toHex(taggedHash("TapTweak", concat(INTERNAL, root))))
    assert.notStrictEqual(toHex(tweak), toHex(tapTweak({ internalKey: INTERNAL })))
  })

  it("an x without a point is refused", () => {
    assert.throws(() => tapOutput({ internalKey: new Uint8Array(32).fill(0xff) }))
  })
})

describe("script trees", () => {
  it("a leaf hash covers the version, the length and the script", () => {
    const hash = tapLeafHash(0xc0, Uint8Array.of(0x51))
    assert.strictEqual(toHex(hash), toHex(taggedHash("TapLeaf", Uint8Array.of(0xc0, 1, 0x51))))
  })

  it("the order of the two sides of a branch does not matter", () => {
    const [a, b] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    assert.strictEqual(toHex(tapBranchHash(a, b)), toHex(taggedHash("TapBranch", a, b)))
    assert.strictEqual(toHex(tapBranchHash(b, a)), toHex(tapBranchHash(a, b)))
  })
})
