import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  checkBlock,
  checkBlockBody,
  checkBlockContext,
  checkWitnesses,
  computeWitnessCommitment,
  heightScript,
  MAX_LOCKS,
  witnessCommitment
} from "../../src/consensus/block.ts"
import { mainnetParams, regtestParams, withOverrides } from "../../src/consensus/params.ts"
import { makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, concat, displayHash, EMPTY, fromHex } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION } from "../../src/protocol/nameOperation.ts"
import { networks } from "../../src/protocol/networks.ts"
import { Op } from "../../src/protocol/script.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionInput
} from "../../src/protocol/transaction.ts"
import { fixtureBytes, fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"
import {
  ANYONE,
  BLOCK_VERSION,
  buildBlock,
  coinbaseInput,
  currency,
  emptyChain,
  makeCoinbase,
  minimalAuxpow
} from "../support/regtest.ts"

const output = (value: number, script: Bytes = ANYONE) => ({ value, script })

const spending = (n: number, overrides: Partial<TransactionInput> = {}): TransactionInput => {
  const txid = new Uint8Array(32).fill(7)
  new DataView(txid.buffer).setUint32(0, n)
  return { prevout: outpoint(txid, 0), scriptSig: EMPTY, sequence: 0xffffffff, witness: NO_WITNESS, ...overrides }
}

const spender = (n: number): Transaction => currency([spending(n)], [output(1)])

const COINBASE = makeCoinbase(100, [output(50)])

/** A block without proof of work. */
const blockOf = (transactions: ReadonlyArray<Transaction>, root?: Bytes, time = 1_700_000_000): Block => {
  const header = makeHeader({
    version: BLOCK_VERSION,
    prevHash: new Uint8Array(32),
    merkleRoot: root ?? merkleRoot(transactions.map(({ txid }) => txid)).root,
    time,
    bits: 0x207fffff,
    nonce: 0
  })
  return makeBlock({ header, auxpow: undefined }, transactions)
}

/** The same block with a merged-mining proof of at least this many bytes. */
const withProof = (block: Block, size: number): Block => {
  const auxpow = minimalAuxpow(block.header)
  const coinbase = makeTransaction({ ...auxpow.coinbase, outputs: [output(0, new Uint8Array(size))] })
  return makeBlock({ header: block.header, auxpow: makeAuxpow({ ...auxpow, coinbase }) }, block.transactions)
}

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

const context = (height: number, params = regtestParams, medianTimePast = 1_699_999_000) => ({
  height,
  medianTimePast,
  params
})

const contextual = (block: Block, ...rest: Parameters<typeof context>): string | undefined => {
  const broken = checkBlockContext(block, context(...rest))
  return broken === undefined ? undefined : `${broken.kind}: ${broken.reason}`
}

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

const RESERVED = new Uint8Array(32).fill(9)

const HEAD = Uint8Array.of(0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed)

/** A block with a witness, and a coinbase with these outputs and its own witness. */
const witnessBlock = (
  scripts: (commitment: Bytes) => ReadonlyArray<Bytes>,
  witness: ReadonlyArray<Bytes> = [RESERVED],
  item: Bytes = Uint8Array.of(1)
): Block => {
  const segwit = currency([spending(1, { witness: [item] })], [output(1)])
  const commitment = computeWitnessCommitment([COINBASE, segwit], RESERVED)
  const outputs = scripts(commitment).map((script) => output(0, script))
  const inputs = [coinbaseInput(concat(heightScript(100), Uint8Array.of(0)), witness)]
  const coinbase = makeTransaction({ version: 1, inputs, outputs: [output(50), ...outputs], lockTime: 0 })
  return blockOf([coinbase, segwit])
}

const commit = (commitment: Bytes): Uint8Array => concat(HEAD, commitment)

const flipped = (bytes: Bytes): Uint8Array => Uint8Array.from(bytes, (byte, i) => i === 0 ? byte ^ 1 : byte)

describe("witness commitment", () => {
  it.each([
    { name: "the right one", block: witnessBlock((hash) => [commit(hash)]) },
    { name: "the last of two", block: witnessBlock((hash) => [commit(flipped(hash)), commit(hash)]) },
    { name: "one with more behind it", block: witnessBlock((hash) => [concat(commit(hash), RESERVED)]) },
    {
      name: "one before a script that is too short",
      block: witnessBlock((hash) => [commit(hash), commit(hash).subarray(0, 37)])
    },
    {
      name: "one before another push",
      block: witnessBlock((hash) => [commit(hash), concat(Uint8Array.of(0x6a, 0x25), commit(hash))])
    }
  ])("5.4 checkWitnesses accepts $name", ({ block }) => {
    assert.isUndefined(contextual(block, 100))
  })

  it.each([
    { name: "a wrong one", block: witnessBlock((hash) => [commit(flipped(hash))]), reason: "bad-witness-merkle-match" },
    {
      name: "a wrong one after the right one",
      block: witnessBlock((hash) => [commit(hash), commit(flipped(hash))]),
      reason: "bad-witness-merkle-match"
    },
    { name: "none", block: witnessBlock(() => []), reason: "unexpected-witness" },
    {
      name: "one that is too short",
      block: witnessBlock((hash) => [commit(hash).subarray(0, 37)]),
      reason: "unexpected-witness"
    },
    { name: "no reserved value", block: witnessBlock((hash) => [commit(hash)], []), reason: "bad-witness-nonce-size" },
    {
      name: "two reserved values",
      block: witnessBlock((hash) => [commit(hash)], [RESERVED, RESERVED]),
      reason: "bad-witness-nonce-size"
    },
    {
      name: "a reserved value of 31 bytes",
      block: witnessBlock((hash) => [commit(hash)], [RESERVED.subarray(1)]),
      reason: "bad-witness-nonce-size"
    },
    {
      name: "another reserved value",
      block: witnessBlock((hash) => [commit(hash)], [flipped(RESERVED)]),
      reason: "bad-witness-merkle-match"
    }
  ])("5.4 checkWitnesses refuses $name; the refusal is `mutated`", ({ block, reason }) => {
    assert.strictEqual(contextual(block, 100), `mutated: ${reason}`)
  })

  it("5.4 a block without witnesses needs no commitment", () => {
    assert.isUndefined(checkWitnesses(blockOf([COINBASE, spender(1)]), true))
  })

  it("5.1 before segwit a block has no witnesses, with or without a commitment", () => {
    const late = withOverrides(regtestParams, { activation: { segwit: 101 } })
    const block = witnessBlock((hash) => [commit(hash)])
    assert.strictEqual(contextual(block, 100, late), "mutated: unexpected-witness")
    const stripped = blockOf(
      block.transactions.map((transaction) =>
        makeTransaction({
          ...transaction,
          inputs: transaction.inputs.map((given) => ({ ...given, witness: NO_WITNESS }))
        })
      )
    )
    assert.isUndefined(contextual(stripped, 100, late))
  })

  it("witnessCommitment returns the commitment of a coinbase", () => {
    const [coinbase] = witnessBlock((hash) => [commit(hash)]).transactions
    assert.isDefined(coinbase === undefined ? undefined : witnessCommitment(coinbase))
    assert.isUndefined(witnessCommitment(COINBASE))
  })

  /** A block with a witness and this weight. */
  const weighing = (weight: number): Block => {
    const around = witnessBlock((hash) => [commit(hash)], [RESERVED], new Uint8Array(70_000)).weight - 70_000
    return witnessBlock((hash) => [commit(hash)], [RESERVED], new Uint8Array(weight - around))
  }

  it("5.4 a block weighs at most 4,000,000", () => {
    const most = weighing(4_000_000)
    assert.strictEqual(most.weight, 4_000_000)
    assert.isUndefined(contextual(most, 100))
    assert.strictEqual(contextual(weighing(4_000_001), 100), "consensus: bad-blk-weight")
  })

  it("5.4 the weight includes the proof, and another proof might weigh less: the refusal is `mutated`", () => {
    assert.strictEqual(contextual(withProof(weighing(3_999_999), 10), 100), "mutated: bad-blk-weight")
    assert.strictEqual(contextual(withProof(weighing(4_000_001), 10), 100), "consensus: bad-blk-weight")
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
