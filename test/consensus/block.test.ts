import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { checkBlock, checkBlockBody, checkBlockContext, heightScript, MAX_LOCKS } from "../../src/consensus/block.ts"
import { mainnetParams, regtestParams, withOverrides } from "../../src/consensus/params.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, concat, displayHash, EMPTY, fromHex } from "../../src/protocol/bytes.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION } from "../../src/protocol/nameOperation.ts"
import { networks } from "../../src/protocol/networks.ts"
import { Op } from "../../src/protocol/script.ts"
import { outpoint, type Transaction } from "../../src/protocol/transaction.ts"
import { fixtureBytes, fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"
import { buildBlock, coinbaseInput, currency, emptyChain, makeCoinbase } from "../support/regtest.ts"
import { blockOf, COINBASE, contextual, output, spender, spending, withProof } from "./someBlocks.ts"

const body = (block: Block): string | undefined => {
  const broken = checkBlockBody(block)
  return broken === undefined ? undefined : `${broken.kind}: ${broken.reason}`
}

/** A transaction beside the coinbase that gives the block the wanted stripped size. */
const filler = (size: number, beside: number): Transaction => {
  const around = blockOf([COINBASE, currency([spending(1)], [output(1, new Uint8Array(70_000))])]).strippedSize - 70_000
  return currency([spending(1)], [output(1, new Uint8Array(size - around - beside))])
}

describe("checkBlock", () => {
  it("5.4.1 checkBlock checks the proof of work first", () => {
    const chain = emptyChain(1)
    const good = buildBlock(chain)
    assert.isUndefined(checkBlock(good, regtestParams))
    assert.strictEqual(checkBlock(good, mainnetParams)?.reason, "high-hash")
    assert.strictEqual(checkBlock(blockOf([]), mainnetParams)?.reason, "high-hash")
  })
})

describe("checkBlockBody", () => {
  it("checkBlockBody accepts an ordinary block", () => {
    assert.isUndefined(body(blockOf([COINBASE, spender(1), spender(2)])))
    assert.isUndefined(body(blockOf([COINBASE])))
  })

  it("5.4.2 the merkle root must match the transactions; the refusal is `mutated`", () => {
    const wrong = blockOf([COINBASE, spender(1)], merkleRoot([COINBASE.txid]).root)
    assert.strictEqual(body(wrong), "mutated: bad-txnmrklroot")
  })

  it("5.4.3 a repeated tail is refused although the root is the same; the refusal is `mutated`", () => {
    const honest = [COINBASE, spender(1), spender(2)]
    const repeated = blockOf([...honest, spender(2)])
    assert.deepStrictEqual(repeated.header.merkleRoot, blockOf(honest).header.merkleRoot)
    assert.strictEqual(body(repeated), "mutated: bad-txns-duplicate")
  })

  it("5.4.4 a block must have transactions", () => {
    assert.strictEqual(body(blockOf([])), "consensus: bad-blk-length")
  })

  it("5.4.4 a block has at most a million bytes without witnesses", () => {
    const most = blockOf([COINBASE, filler(1_000_000, 0)])
    assert.strictEqual(most.strippedSize, 1_000_000)
    assert.isUndefined(body(most))
    assert.strictEqual(body(blockOf([COINBASE, filler(1_000_001, 0)])), "consensus: bad-blk-length")
  })

  it("5.4.4 the size includes the proof, and another proof might be shorter: the refusal is `mutated`", () => {
    const proof = withProof(blockOf([COINBASE]), 500)
    const proofSize = proof.strippedSize - blockOf([COINBASE]).strippedSize
    const most = withProof(blockOf([COINBASE, filler(1_000_000, proofSize)]), 500)
    assert.strictEqual(most.strippedSize, 1_000_000)
    assert.isUndefined(body(most))
    const over = withProof(blockOf([COINBASE, filler(1_000_001, proofSize)]), 500)
    assert.strictEqual(body(over), "mutated: bad-blk-length")
    const hopeless = withProof(blockOf([COINBASE, filler(1_000_001, 0)]), 500)
    assert.strictEqual(body(hopeless), "consensus: bad-blk-length")
  })

  /** A coinbase and a transaction with this many foreign inputs. Its own id, theirs and the null id count too. */
  const locks = (foreign: number, version = 2): Block =>
    blockOf([COINBASE, currency(Array.from({ length: foreign }, (_, i) => spending(i)), [output(1)], { version })])

  it.each([
    { foreign: MAX_LOCKS - 3, version: 2, reason: undefined },
    { foreign: MAX_LOCKS - 2, version: 2, reason: "consensus: bad-db-locks" },
    { foreign: MAX_LOCKS - 4, version: NAME_TX_VERSION, reason: undefined },
    { foreign: MAX_LOCKS - 3, version: NAME_TX_VERSION, reason: "consensus: bad-db-locks" }
  ])("5.4.5 $foreign foreign ids in version $version: $reason", ({ foreign, reason, version }) => {
    assert.strictEqual(body(locks(foreign, version)), reason)
  })

  it("5.4.5 a repeated id counts once", () => {
    const sameParent = Array.from({ length: MAX_LOCKS }, (_, i) => {
      const { prevout } = spending(1)
      return spending(1, { prevout: outpoint(prevout.subarray(0, 32), i) })
    })
    assert.isUndefined(body(blockOf([COINBASE, currency(sameParent, [output(1)])])))
  })

  it("5.4.6 only the first transaction is a coinbase", () => {
    assert.strictEqual(body(blockOf([spender(1), COINBASE])), "consensus: bad-cb-missing")
    const second = makeCoinbase(101, [output(1)])
    assert.strictEqual(body(blockOf([COINBASE, spender(1), second])), "consensus: bad-cb-multiple")
  })

  it("5.4.7 every transaction must be valid, and the refusal names the invalid one", () => {
    const broken = currency([spending(1)], [output(-1)])
    const verdict = checkBlockBody(blockOf([COINBASE, spender(2), broken]))
    assert.strictEqual(verdict?.reason, "bad-txns-vout-negative")
    assert.include(verdict?.detail, displayHash(broken.txid))
  })

  it.each([
    { count: 20_000, reason: undefined },
    { count: 20_001, reason: "consensus: bad-blk-sigops" }
  ])("5.4.8 $count signature operations in plain sight: $reason", ({ count, reason }) => {
    const half = new Uint8Array(10_000).fill(Op.OP_CHECKSIG)
    const rest = new Uint8Array(count - 10_000).fill(Op.OP_CHECKSIG)
    const busy = currency([spending(1)], [output(1, half), output(1, rest)])
    assert.strictEqual(body(blockOf([COINBASE, busy])), reason)
  })
})

describe("heightScript", () => {
  it.each([
    [0, "00"],
    [1, "51"],
    [16, "60"],
    [17, "0111"],
    [127, "017f"],
    [128, "028000"],
    [255, "02ff00"],
    [256, "020001"],
    [32_767, "02ff7f"],
    [32_768, "03008000"],
    [475_000, "03783f07"],
    [8_388_607, "03ffff7f"],
    [8_388_608, "0400008000"]
  ])("BIP 34 pushes %i as %s", (height, hex) => {
    assert.deepStrictEqual(heightScript(height), fromHex(hex))
  })
})

const BEFORE_CSV = withOverrides(regtestParams, { activation: { csv: 101 } })

describe("checkBlockContext", () => {
  it("checkBlockContext accepts an ordinary block", () => {
    assert.isUndefined(contextual(blockOf([COINBASE, spender(1)]), 100))
  })

  const nonFinal = (lockTime: number): Block =>
    blockOf([COINBASE, currency([spending(1, { sequence: 0 })], [output(1)], { lockTime })])

  it("5.4 finality: a height lock delays a transaction", () => {
    assert.isUndefined(contextual(nonFinal(99), 100))
    assert.strictEqual(contextual(nonFinal(100), 100), "consensus: bad-txns-nonfinal")
  })

  it("5.4 finality: a time lock is compared with the median time past if CSV is active", () => {
    assert.isUndefined(contextual(nonFinal(1_699_998_999), 100))
    assert.strictEqual(contextual(nonFinal(1_699_999_000), 100), "consensus: bad-txns-nonfinal")
  })

  it("5.4 finality: a time lock is compared with the block's own time before CSV", () => {
    assert.isUndefined(contextual(nonFinal(1_699_999_999), 100, BEFORE_CSV))
    assert.strictEqual(contextual(nonFinal(1_700_000_000), 100, BEFORE_CSV), "consensus: bad-txns-nonfinal")
    const atCsv = withOverrides(regtestParams, { activation: { csv: 100 } })
    assert.strictEqual(contextual(nonFinal(1_699_999_999), 100, atCsv), "consensus: bad-txns-nonfinal")
  })

  it("5.4 BIP 34: from its activation on, the coinbase begins with the height", () => {
    assert.isUndefined(contextual(blockOf([COINBASE]), 100))
    assert.strictEqual(contextual(blockOf([COINBASE]), 101), "consensus: bad-cb-height")
    const later = withOverrides(regtestParams, { activation: { bip34: 102 } })
    assert.isUndefined(contextual(blockOf([COINBASE]), 101, later))
    assert.strictEqual(contextual(blockOf([COINBASE]), 102, later), "consensus: bad-cb-height")
  })

  it("5.4 BIP 34: the height is the shortest push, and is first", () => {
    const starting = (start: Bytes): Block =>
      blockOf([currency([coinbaseInput(concat(start, new Uint8Array(3)))], [output(1)])])
    assert.isUndefined(contextual(starting(Uint8Array.of(1, 100)), 100))
    assert.strictEqual(contextual(starting(Uint8Array.of(2, 100, 0)), 100), "consensus: bad-cb-height")
    assert.strictEqual(contextual(starting(Uint8Array.of(0x4c, 1, 100)), 100), "consensus: bad-cb-height")
    assert.strictEqual(contextual(starting(Uint8Array.of(0, 1, 100)), 100), "consensus: bad-cb-height")
    assert.strictEqual(contextual(starting(Uint8Array.of(1, 5)), 5), "consensus: bad-cb-height")
    assert.isUndefined(contextual(starting(Uint8Array.of(0x55)), 5))
  })
})

describe("checkBlockBody and merkle roots", () => {
  it.prop("any list of distinct transactions is valid with its own root", {
    count: FastCheck.integer({ min: 0, max: 12 })
  }, ({ count }) => {
    const transactions = [COINBASE, ...Array.from({ length: count }, (_, i) => spender(i))]
    assert.isUndefined(body(blockOf(transactions)))
    assert.strictEqual(
      body(blockOf(transactions, transactions[0]?.wtxid)),
      count === 0 ? undefined : "mutated: bad-txnmrklroot"
    )
  })
})

describe("genesis blocks", () => {
  it.each([networks.mainnet, networks.testnet, networks.regtest])(
    "1.3 the genesis block of $name is valid",
    ({ genesisBlock }) => {
      assert.isUndefined(checkBlockBody(decodeBlock(genesisBlock)))
    }
  )
})

describe.skipIf(!hasShared)("real blocks", () => {
  const folder = "namecoin-mainnet/blocks"
  const hexBlock = (text: string): Block => decodeBlock(fromHex(text.trim()) ?? EMPTY)
  const jsonBlock = (name: string): Block =>
    hexBlock(fixtureJson<{ readonly block: string }>(`${folder}/${name}`).block)
  const blocks: ReadonlyArray<readonly [number, () => Block]> = [
    [19_199, () => hexBlock(fixtureText(`${folder}/block_19199.hex`))],
    [19_200, () => jsonBlock("electrumx_block_19200.json")],
    [19_201, () => hexBlock(fixtureText(`${folder}/block_19201.hex`))],
    [19_204, () => jsonBlock("electrumx_block_19204.json")],
    [35_000, () => decodeBlock(fixtureBytes(`${folder}/block_7ae82a67.bin`))],
    [40_000, () => hexBlock(fixtureText(`${folder}/block_40000.hex`))],
    [210_000, () => hexBlock(fixtureText(`${folder}/block_210000.hex`))],
    [757_000, () => hexBlock(fixtureText(`${folder}/block_757000.hex`))],
    [829_949, () => hexBlock(fixtureText(`${folder}/block_829949.hex`))]
  ]

  it.each(blocks)("mainnet block %i passes all checks that need no coins", (height, read) => {
    const block = read()
    assert.isUndefined(checkBlock(block, mainnetParams))
    const place = { height, medianTimePast: block.header.time - 3600, params: mainnetParams }
    assert.isUndefined(checkBlockContext(block, place))
    assert.strictEqual(checkBlock(makeBlock(block, block.transactions.slice(0, -1)), mainnetParams)?.kind, "mutated")
  })
})
