import { assert, describe, it } from "@effect/vitest"
import { decodeBlock } from "../../src/protocol/block.ts"
import { fromHex } from "../../src/protocol/bytes.ts"
import { isFailure } from "../../src/verify/nameProof.ts"
import { verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { describeShared } from "../support/describeShared.ts"
import { fixtureJson, fixtureText } from "../support/fixtures.ts"
import { type ProofChain, proofOf } from "../support/nameProofs.ts"
import { text } from "../support/regtest.ts"
import { checkBitcoinProof, type ValueProofEntry } from "./bitcoinProof.ts"

const BLOCK = decodeBlock(fromHex(fixtureText("mainnet-blocks/210000.hex").trim()) ?? assert.fail())
const CHAIN: ProofChain = { network: "main", low: 210_000, blocks: [BLOCK] }
const { time } = BLOCK.header

describe("a block of mainnet", () => {
  it.each([
    ["d/calm", "RESERVED", "Mvkbvcrwr3H5vbudWB6Xeg82t5zZgYzeih"],
    ["d/toy", "RESERVED", undefined],
    ["d/jammies", "RESERVED", undefined]
  ])("proves %s, with the work of its merged mining", (name, value, owner) => {
    const proof = proofOf(CHAIN, text(name))
    const verified = verifyNameProof(JSON.stringify(proof), { now: time + 600 })
    if (isFailure(verified)) return assert.fail(verified.failed)
    assert.deepInclude(verified, { name, value, height: 210_000, confirmations: 1, expiresIn: 36_000, proof: "buried" })
    if (owner !== undefined) assert.strictEqual(verified.owner, owner)
    // The rule that the coinbase says the height is younger.
    assert.deepStrictEqual(verified.problems.map(({ code }) => code), ["height-claimed"])
    return undefined
  })

  it.each([
    ["the day after tomorrow", { now: time + 2 * 86_400 }, /^the proof is older than a day$/],
    ["before it was mined", { now: time - 3 * 3600 }, /from the future$/],
    ["above a floor of today", { now: time, floor: 0x170e12d3 }, /has too little work$/]
  ])("does not count %s", (_, options, reason) => {
    const outcome = verifyNameProof(proofOf(CHAIN, text("d/toy")), options)
    assert.match(isFailure(outcome) ? outcome.failed : "", reason)
  })

  it.each<readonly [what: string, height: number, tip: number, reason: RegExp]>([
    ["a height of 2011, for which little work is enough", 100, 106, /^height 100 does not fit the time of its header$/],
    ["a height before the rules for scripts", 200_000, 200_000, /^height 200000 does not fit/],
    ["a height without a known rule", 2_000_000, 2_000_000, /^height 2000000 does not fit/],
    ["a tip that is younger than its header", 210_000, 240_000, /^height 240000 does not fit the time of its header$/]
  ])("does not count at %s", (_, height, tip, reason) => {
    const proof = proofOf(CHAIN, text("d/toy"))
    const [operation = assert.fail()] = proof.operations
    const { coinbase, ...rest } = operation
    assert.isDefined(coinbase)
    const forged = { ...proof, operations: [{ ...rest, height }], asOf: { ...proof.asOf, height: tip } }
    const outcome = verifyNameProof(forged, { now: time + 600 })
    assert.match(isFailure(outcome) ? outcome.failed : "", reason)
  })

  it.each([2, 200, 250, 300])("does not count %i days later, whatever the server says of its tip", (days) => {
    const proof = proofOf(CHAIN, text("d/toy"))
    for (const tip of [210_000, 210_000 + 100 * days, 210_000 + 144 * days]) {
      const asOf = { ...proof.asOf, height: tip }
      const outcome = verifyNameProof({ ...proof, asOf }, { now: time + 86_400 * days })
      assert.match(
        isFailure(outcome) ? outcome.failed : "",
        /^(the proof is older than a day|height \d+ does not|the name )/
      )
    }
  })
})

describeShared("the example of blockchain.name.get_value_proof", () => {
  it("has a chain of signatures back to an operation below the checkpoint", () => {
    const { result } = fixtureJson<{ readonly result: Readonly<Record<string, ReadonlyArray<ValueProofEntry>>> }>(
      "namecoin-mainnet/name-proofs/electrum_value_proof_d_bitcoin_mainnet.json"
    )
    const [entries = []] = Object.values(result)
    assert.deepStrictEqual(checkBitcoinProof(entries), {
      values: ["verify 2022-04-16 9:05:00 CET", "reserved", "reserved", "reserved", "reserved"],
      signed: [true, true, true, true],
      anchored: true
    })
    const [newest, ...others] = entries
    const forged = newest === undefined ? [] : [{ ...newest, tx: newest.tx.replace(/.{8}$/, "01000000") }, ...others]
    assert.deepStrictEqual(checkBitcoinProof(forged).signed, [false, true, true, true])
  })
})
