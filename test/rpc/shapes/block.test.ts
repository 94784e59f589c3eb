import { assert, describe, it } from "@effect/vitest"
import type { HeaderInfo } from "../../../src/chain/index/headerInfo.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import { type Block, decodeBlock, encodeBlockHeader } from "../../../src/protocol/block.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import { type Json, JsonNumber } from "../../../src/rpc/json/json.ts"
import { blockHeaderJson, blockJson, type SpentCoins } from "../../../src/rpc/shapes/block.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import { hash } from "../../support/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { MemoryChain, trustScripts } from "../../support/MemoryChain.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

const context: ShapeContext = { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" }

const numberAt = (json: Json, ...path: ReadonlyArray<string>): number => {
  const value = at(json, ...path)
  return value instanceof JsonNumber ? value.value : assert.fail(`no number at ${path.join(".")}`)
}

const recorded = items(at(recordedJson("regtest-names/blocks-verbose.json"), "blocks"))
const blocks = fixtureBlocks("regtest-names/blocks.dat")
const tip = blocks.length - 1

/** The chain's data about a header; works and times are the recorded ones. */
const infoOf = (entry: Json, block: Block): HeaderInfo => {
  const height = numberAt(entry, "height")
  return {
    hash: block.hash,
    height,
    header: block.header,
    chainwork: BigInt(`0x${stringAt(entry, "getblockheader", "chainwork")}`),
    medianTimePast: numberAt(entry, "getblockheader", "mediantime"),
    transactions: block.transactions.length,
    size: 0,
    confirmations: tip - height + 1,
    next: blocks[height + 1]?.hash
  }
}

const blockAt = (entry: Json): Block => blocks[numberAt(entry, "height")] ?? assert.fail("no such block")

/** The coin that an output of the block itself makes. */
const madeIn = (block: Block, height: number, key: string): Coin | undefined => {
  for (const { isCoinbase, outputs, txid } of block.transactions) {
    for (const [n, { script, value }] of outputs.entries()) {
      if (outpointKey(outpoint(txid, n)) === key) return { script, value, height, coinbase: isCoinbase }
    }
  }
  return undefined
}

const spentBy = (block: Block, height: number, before: ReadonlyMap<string, Coin>): SpentCoins =>
  block.transactions.slice(1).map(({ inputs }) =>
    inputs.map(({ prevout }) => {
      const key = outpointKey(prevout)
      return before.get(key) ?? madeIn(block, height, key) ?? assert.fail("an input spends nothing")
    })
  )

/** The coins that the transactions of each block spend, from a chain in memory. */
const spentByHeight: ReadonlyMap<number, SpentCoins> = (() => {
  const wanted = new Set(recorded.map((entry) => numberAt(entry, "height")))
  const chain = new MemoryChain(regtestParams, trustScripts)
  const found = new Map<number, SpentCoins>()
  for (const [height, block] of blocks.entries()) {
    if (height === 0) continue
    if (wanted.has(height)) found.set(height, spentBy(block, height, chain.coins))
    chain.connect(block)
  }
  return found
})()

describe("blocks that the reference node printed", () => {
  it("are 24", () => assert.strictEqual(recorded.length, 24))

  it.each(recorded.map((entry) => [numberAt(entry, "height"), entry] as const))("height %i", (height, entry) => {
    const block = blockAt(entry)
    const info = infoOf(entry, block)
    const spent = spentByHeight.get(height)
    assert.strictEqual(
      encodeJson(blockHeaderJson(context, info, block.auxpow)),
      recordedText(at(entry, "getblockheader"))
    )
    assert.strictEqual(toHex(encodeBlockHeader(block)), stringAt(entry, "getblockheaderHex"))
    assert.strictEqual(
      encodeJson(blockJson(context, { block, info }, { verbosity: 1, spent })),
      recordedText(at(entry, "getblock1"))
    )
    assert.strictEqual(
      encodeJson(blockJson(context, { block, info }, { verbosity: 2, spent })),
      recordedText(at(entry, "getblock2"))
    )
  })
})

/** A block with a transaction that spends a coin. */
const [spendingEntry = assert.fail("none")] = recorded.filter((entry) => blockAt(entry).transactions.length > 1)

describe("a block at each verbosity", () => {
  const block = blockAt(spendingEntry)
  const info = infoOf(spendingEntry, block)
  const spent = spentByHeight.get(info.height)
  const shown = (verbosity: 1 | 2 | 3, coins = spent) =>
    JSON.parse(encodeJson(blockJson(context, { block, info }, { verbosity, spent: coins })))

  it("3 has a prevout at every input, and nothing else that 2 has not", () => {
    const [coinbase, ...others] = shown(3).tx
    assert.notProperty(coinbase.vin[0], "prevout")
    assert.notProperty(coinbase, "fee")
    for (const transaction of others) {
      for (const input of transaction.vin) {
        assert.sameMembers(Object.keys(input.prevout), ["generated", "height", "value", "scriptPubKey"])
        delete input.prevout
      }
    }
    assert.deepStrictEqual({ ...shown(3), tx: [coinbase, ...others] }, shown(2))
  })

  it("2 and 3 omit fees and prevouts where undo data are missing", () => {
    const text = encodeJson(blockJson(context, { block, info }, { verbosity: 3 }))
    assert.notInclude(text, "\"fee\"")
    assert.notInclude(text, "\"prevout\"")
    assert.include(text, "\"hex\"")
  })
})

describe("headers at the ends of a chain", () => {
  const genesis = decodeBlock(mainnet.genesisBlock)
  const info: HeaderInfo = {
    hash: genesis.hash,
    height: 0,
    header: genesis.header,
    chainwork: 0x0201_0201n,
    medianTimePast: 1303000001,
    transactions: 1,
    size: 0,
    confirmations: 1,
    next: undefined
  }
  const shown = (changes: Partial<HeaderInfo> = {}) =>
    JSON.parse(encodeJson(blockHeaderJson(context, { ...info, ...changes }, undefined)))

  it("genesis has no predecessor, the tip no successor", () => {
    const header = shown()
    assert.notProperty(header, "previousblockhash")
    assert.notProperty(header, "nextblockhash")
    assert.notProperty(header, "auxpow")
    assert.strictEqual(header.bits, "1c007fff")
    assert.strictEqual(header.target, `00000000007fff${"0".repeat(50)}`)
    assert.strictEqual(header.difficulty, 512.0078127384259)
    assert.strictEqual(header.chainwork, "02010201".padStart(64, "0"))
  })

  it("a block off the best chain has -1 confirmations and no successor", () => {
    assert.strictEqual(shown({ confirmations: -1 }).confirmations, -1)
  })

  it("a negative version keeps its sign as a number, and not as hex", () => {
    const header = makeHeader({ ...genesis.header, merkleRoot: genesis.header.merkleRoot, version: -2 })
    const json = JSON.parse(encodeJson(blockHeaderJson(context, { ...info, header }, undefined)))
    assert.strictEqual(json.version, -2)
    assert.strictEqual(json.versionHex, "fffffffe")
  })

  it("the successor is shown if there is one", () => {
    assert.strictEqual(shown({ next: hash("cd".repeat(32)) }).nextblockhash, "cd".repeat(32))
  })
})
