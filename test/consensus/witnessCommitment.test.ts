import { assert, describe, it } from "@effect/vitest"
import { checkWitnesses, computeWitnessCommitment, heightScript, witnessCommitment } from "../../src/consensus/block.ts"
import { regtestParams, withOverrides } from "../../src/consensus/params.ts"
import type { Block } from "../../src/protocol/block.ts"
import { type Bytes, concat } from "../../src/protocol/bytes.ts"
import { makeTransaction, NO_WITNESS } from "../../src/protocol/transaction.ts"
import { coinbaseInput, currency } from "../support/regtest.ts"
import { blockOf, COINBASE, contextual, output, spender, spending, withProof } from "./someBlocks.ts"

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
