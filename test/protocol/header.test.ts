import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { baseVersion, chainId, Header, isLegacyVersion, makeHeader, readHeader } from "../../src/protocol/header.ts"
import { networks } from "../../src/protocol/networks.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { bytesOf, everyTruncationFails, hex } from "../support/bytes.ts"

/** Mainnet block 19,204 (reference/protocol.md A.3). */
const PLAIN = hex(
  "01000100f65a247291f5ee322a1ff3f22c3fdb0f60d15707a9842db5e0fa332f5dd8d6071d7bc906ea494a8aa32fdde281fe26a8" +
    "4befefaddaf0dcd41dd2da3053bcd5450635904e69b2001b29f30bc9"
)

const u32 = FastCheck.integer({ min: 0, max: 0xffffffff })

describe("Header", () => {
  it("the header of mainnet block 19204 is decoded (reference/protocol.md A.3)", () => {
    const header = new Header(PLAIN)
    assert.strictEqual(displayHash(header.hash), "000000000000122ff239e71146bf57aee28ad913931d672cd124255e91351660")
    assert.strictEqual(header.version, 0x00010001)
    assert.strictEqual(header.time, 1318073606)
    assert.strictEqual(header.bits, 0x1b00b269)
    assert.strictEqual(header.nonce, 0xc90bf329)
    assert.strictEqual(toHex(header.prevHash), toHex(PLAIN.subarray(4, 36)))
    assert.strictEqual(toHex(header.merkleRoot), toHex(PLAIN.subarray(36, 68)))
    assert.isFalse(header.hasAuxpowFlag)
    everyTruncationFails(PLAIN, (bytes) => readHeader(new Reader(bytes)))
  })

  it.each(Object.values(networks))("the header of the genesis block of $name has its hash", (network) => {
    const header = readHeader(new Reader(network.genesisBlock))
    assert.strictEqual(toHex(header.hash), toHex(network.genesisHash))
  })

  it("a header is built from its parts", () => {
    const parts = FastCheck.record({
      version: FastCheck.integer(),
      prevHash: bytesOf(32),
      merkleRoot: bytesOf(32),
      time: u32,
      bits: u32,
      nonce: u32
    })
    FastCheck.assert(FastCheck.property(parts, (parts) => {
      const made = makeHeader(parts)
      assert.strictEqual(made.bytes.length, 80)
      const { bits, merkleRoot, nonce, prevHash, time, version } = new Header(made.bytes)
      assert.deepStrictEqual(
        { bits, merkleRoot: merkleRoot.slice(), nonce, prevHash: prevHash.slice(), time, version },
        parts
      )
      assert.strictEqual(made.hasAuxpowFlag, (parts.version & 0x100) !== 0)
    }))
  })
})

describe("version (reference/protocol.md 2.2)", () => {
  it.each([
    [1, 1, 0, true, false],
    [0x00010104, 4, 1, false, true],
    [0x00010004, 4, 1, false, false],
    [0x0001ff04, 4, 1, false, true],
    [0x0001fe04, 4, 1, false, false],
    [0x101, 1, 0, false, true],
    [0x7fffffff, 0xff, 0x7fff, false, true],
    // Division rounds towards zero and the remainder has the sign, unlike shift and mask.
    [-1, -1, 0, false, true],
    [-65535, -255, 0, false, false],
    [-65536, 0, -1, false, false],
    [-65537, -1, -1, false, true],
    [-0x80000000, 0, -32768, false, false]
  ])("%d: base version %d, chain id %d, legacy %s, flag %s", (version, base, chain, legacy, flag) => {
    // A remainder of zero may be negative zero: the same number.
    assert.isTrue(baseVersion(version) === base)
    assert.isTrue(chainId(version) === chain)
    assert.strictEqual(isLegacyVersion(version), legacy)
    const hash = new Uint8Array(32)
    const header = makeHeader({ version, prevHash: hash, merkleRoot: hash, time: 0, bits: 0, nonce: 0 })
    assert.strictEqual(header.hasAuxpowFlag, flag)
  })
})
