import { assert, describe, it } from "@effect/vitest"
import { type Block, decodeBlock, encodeBlockHeader, makeBlock, readBlock } from "../../src/protocol/block.ts"
import { concat, displayHash, toHex } from "../../src/protocol/bytes.ts"
import { networks, regtest } from "../../src/protocol/networks.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { decodeError, everyTruncationFails, hex, recordsOf } from "../support/bytes.ts"
import { fixtureBytes, fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"

const hasRightRoot = (block: Block): void => {
  assert.strictEqual(toHex(block.merkle.root), toHex(block.header.merkleRoot))
  assert.isFalse(block.merkle.mutated)
}

/** Built again from its parts, a block has the same bytes and sizes. */
const survivesRoundTrip = (block: Block): void => {
  const again = makeBlock(block, block.transactions)
  assert.strictEqual(toHex(again.bytes), toHex(block.bytes))
  assert.strictEqual(again.strippedSize, block.strippedSize)
  assert.strictEqual(again.weight, block.weight)
  assert.isTrue(toHex(block.bytes).startsWith(toHex(encodeBlockHeader(block))))
}

/** Regtest block 1 (reference/protocol.md A.5). */
const BLOCK_1 = hex(
  "0401010006226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910fdf3db20683e9215144ebf8aee4d36c59b18d150da9" +
    "3f51b8926e3b32db8171cd32e8494dffff7f200000000001000000010000000000000000000000000000000000000000000000000000000000" +
    "000000ffffffff2928f2553bf57c0fe633f93e2cccac041c48233e0cbf16a8d4621c1bfec1d051cb340100000000000000ffffffff00000000" +
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000" +
    "0000000000000000000000000000000000000000004bef56443e9fd794f62f2df45a216f938575dbeb356434e55bed4009c90b625300000000" +
    "00000000010000000101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff025100ffffffff" +
    "0100f2052a010000001976a914751e76e8199196d454941c45d1b3a323f1433bd688ac00000000"
)

describe("blocks", () => {
  it("regtest block 1 with a minimal proof (reference/protocol.md A.5)", () => {
    const block = decodeBlock(BLOCK_1)
    assert.strictEqual(displayHash(block.hash), "f2553bf57c0fe633f93e2cccac041c48233e0cbf16a8d4621c1bfec1d051cb34")
    assert.deepStrictEqual([block.size, block.strippedSize, block.weight], [382, 382, 1528])
    assert.strictEqual(toHex(block.header.prevHash), toHex(regtest.genesisHash))
    assert.strictEqual(
      displayHash(block.transactions[0]?.txid ?? hex("")),
      "cd7181db323b6e92b8513fa90d158db1596cd3e4aef8eb445121e98306b23ddf"
    )
    hasRightRoot(block)
    survivesRoundTrip(block)
    everyTruncationFails(BLOCK_1, decodeBlock)
  })

  it.each(Object.values(networks))("the genesis block of $name is decoded and encoded", (network) => {
    const block = decodeBlock(network.genesisBlock)
    assert.strictEqual(toHex(block.hash), toHex(network.genesisHash))
    assert.strictEqual(block.transactions.length, 1)
    assert.isTrue(block.transactions[0]?.isCoinbase)
    hasRightRoot(block)
    survivesRoundTrip(block)
  })

  it("decoded data are views, unless a field has to be zeroed", () => {
    const around = concat(hex("aa"), BLOCK_1, hex("bb"))
    const reader = new Reader(around, 1)
    const block = readBlock(reader)
    assert.strictEqual(block.bytes.buffer, around.buffer)
    assert.strictEqual(reader.remaining, 1)
  })

  it("a block is decoded without the bytes after it", () => {
    assert.strictEqual(toHex(decodeBlock(concat(BLOCK_1, hex("0102"))).bytes), toHex(BLOCK_1))
  })

  it("a block has an auxpow flag only with a proof", () => {
    const flagged = concat(hex("01010000"), regtest.genesisBlock.subarray(4))
    decodeError(() => decodeBlock(flagged))
  })

  it("a block without transactions has a zero root; an impossible count is refused", () => {
    const empty = decodeBlock(concat(regtest.genesisBlock.subarray(0, 80), hex("00")))
    assert.strictEqual(empty.transactions.length, 0)
    assert.strictEqual(toHex(empty.merkle.root), "00".repeat(32))
    assert.strictEqual(
      decodeError(() => decodeBlock(concat(regtest.genesisBlock.subarray(0, 80), hex("fe00000001")))).field,
      "transactions"
    )
  })
})

describe("every block of regtest-names", () => {
  interface Expected {
    readonly hash: string
    readonly nTx: number
    readonly size: number
    readonly strippedsize: number
    readonly weight: number
    readonly version: number
    readonly time: number
    readonly auxpow: boolean
  }

  it("every block has the reference node's sizes, and is encoded to the same bytes", () => {
    const { blocks } = fixtureJson<{ blocks: ReadonlyArray<Expected> }>("regtest-names/expected.json")
    const records = recordsOf(fixtureBytes("regtest-names/blocks.dat"))
    assert.strictEqual(records.length, blocks.length)
    for (const [height, expected] of blocks.entries()) {
      const bytes = records[height] ?? assert.fail(`no block ${height}`)
      const block = decodeBlock(bytes)
      assert.deepStrictEqual({
        hash: displayHash(block.hash),
        nTx: block.transactions.length,
        size: block.size,
        strippedsize: block.strippedSize,
        weight: block.weight,
        version: block.header.version,
        time: block.header.time,
        auxpow: block.auxpow !== undefined
      }, {
        hash: expected.hash,
        nTx: expected.nTx,
        size: expected.size,
        strippedsize: expected.strippedsize,
        weight: expected.weight,
        version: expected.version,
        time: expected.time,
        auxpow: expected.auxpow
      })
      assert.strictEqual(toHex(block.bytes), toHex(bytes))
      hasRightRoot(block)
      survivesRoundTrip(block)
    }
  })

  it("every truncated block fails to decode", () => {
    const [, , third] = recordsOf(fixtureBytes("regtest-names/blocks.dat"))
    everyTruncationFails(third ?? assert.fail("there is no third block"), decodeBlock)
  })
})

describe("blocks as the reference node stores them (invalid-blocks)", () => {
  interface Entry {
    readonly id: string
    readonly blockHash: string
    readonly blockHex: string
    readonly storedBlockHex?: string
    readonly coreResult: unknown
  }

  it("ignored fields of a proof become zeros, trailing bytes are dropped", () => {
    const entries = fixtureJson<ReadonlyArray<Entry>>("invalid-blocks/valid-edge-blocks.json")
    const stored = entries.filter(({ storedBlockHex }) => storedBlockHex !== undefined)
    assert.isAbove(stored.length, 3)
    for (const { blockHash, blockHex, id, storedBlockHex } of entries) {
      const block = decodeBlock(hex(blockHex))
      assert.strictEqual(displayHash(block.hash), blockHash, id)
      assert.strictEqual(toHex(block.bytes), storedBlockHex ?? blockHex, id)
      survivesRoundTrip(block)
    }
  })

  it("only the blocks that the reference node could not decode fail to decode", () => {
    const entries = fixtureJson<ReadonlyArray<Entry>>("invalid-blocks/invalid-blocks.json")
    const undecodable = entries.filter(({ coreResult }) => JSON.stringify(coreResult).includes("Block decode failed"))
    assert.isAbove(undecodable.length, 3)
    for (const entry of entries) {
      if (undecodable.includes(entry)) decodeError(() => decodeBlock(hex(entry.blockHex)))
      else assert.strictEqual(displayHash(decodeBlock(hex(entry.blockHex)).hash), entry.blockHash, entry.id)
    }
  })
})

const MAINNET = "namecoin-mainnet/blocks"

describe.skipIf(!hasShared)("blocks of the main network", () => {
  it.each([
    ["block_19199.hex", 215, 1, false],
    ["block_19201.hex", 646, 1, true],
    ["block_40000.hex", 1385, 3, true],
    ["block_210000.hex", 5119, 9, true],
    ["block_757000.hex", 3594, undefined, true],
    ["block_829949.hex", 1289, undefined, true],
    ["block_7ae82a67.bin", 905, undefined, true]
  ])("%s", (file, size, transactions, auxpow) => {
    const bytes = file.endsWith(".bin") ? fixtureBytes(`${MAINNET}/${file}`) : hex(fixtureText(`${MAINNET}/${file}`))
    const reader = new Reader(bytes)
    const block = readBlock(reader)
    reader.end("block")
    assert.strictEqual(block.size, size)
    assert.strictEqual(bytes.length, size)
    assert.strictEqual(block.auxpow !== undefined, auxpow)
    if (transactions !== undefined) assert.strictEqual(block.transactions.length, transactions)
    hasRightRoot(block)
    survivesRoundTrip(block)
    everyTruncationFails(bytes, decodeBlock, 7)
  })

  it.each([19200, 19204])("electrumx_block_%d has its decoded fields", (height) => {
    const expected = fixtureJson<{
      readonly hash: string
      readonly size: number
      readonly merkleroot: string
      readonly tx: ReadonlyArray<string>
      readonly time: number
      readonly bits: string
      readonly previousblockhash: string
      readonly block: string
    }>(`${MAINNET}/electrumx_block_${height}.json`)
    const block = decodeBlock(hex(expected.block))
    assert.strictEqual(displayHash(block.hash), expected.hash)
    assert.strictEqual(block.size, expected.size)
    assert.strictEqual(displayHash(block.merkle.root), expected.merkleroot)
    assert.deepStrictEqual(block.transactions.map(({ txid }) => displayHash(txid)), [...expected.tx])
    assert.strictEqual(block.header.time, expected.time)
    assert.strictEqual(block.header.bits.toString(16), expected.bits)
    assert.strictEqual(displayHash(block.header.prevHash), expected.previousblockhash)
    hasRightRoot(block)
    survivesRoundTrip(block)
  })

  it("the genesis blocks match ours", () => {
    const genesis = fixtureJson<Record<string, { hash: string; block: string }>>(`${MAINNET}/genesis.json`)
    for (const network of Object.values(networks)) {
      assert.strictEqual(toHex(network.genesisBlock), genesis[network.name]?.block)
      assert.strictEqual(displayHash(network.genesisHash), genesis[network.name]?.hash)
    }
  })
})

describe.skipIf(!hasShared)("blocks of other chains", () => {
  it.each([
    ["block300025", 461],
    ["block928849", 993],
    ["block928927", 914],
    ["block1087400", undefined],
    ["block898352", undefined],
    ["block482683", undefined]
  ])("Bitcoin %s is decoded", (file, transactions) => {
    const bytes = fixtureBytes(`bitcoin-blocks/bcoin/${file}.raw`)
    // Version bits of a proof: such a block of Bitcoin cannot be decoded with our rules.
    const reader = new Reader(bytes)
    const block = readBlock(reader)
    reader.end("block")
    if (transactions !== undefined) assert.strictEqual(block.transactions.length, transactions)
    hasRightRoot(block)
    survivesRoundTrip(block)
  })

  it.each(["1", "250000", "371337", "748634", "894863"])("Dogecoin block %s is decoded", (name) => {
    const bytes = fixtureBytes(`auxpow-other/dogecoin/dogecoin_block${name}.bin`)
    const reader = new Reader(bytes)
    const block = readBlock(reader)
    reader.end("block")
    hasRightRoot(block)
    survivesRoundTrip(block)
    assert.strictEqual(block.size, bytes.length)
  })
})
