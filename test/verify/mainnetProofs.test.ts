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

/** A proof that is looked at some blocks later, with a tip as many blocks above, or fewer. */
interface Aged {
  readonly what: string
  readonly age: number
  readonly tip?: number
  readonly semiExpired?: "refuse"
  /** The reason why the proof does not count, or the codes of its problems. */
  readonly expected: RegExp | Array<string>
}

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

  it.each<Aged>([
    {
      what: "alive at the end of its life",
      age: 35_000,
      expected: ["height-claimed", "near-expiry", "semi-expired"]
    },
    {
      what: "refused there, if the reader wants so",
      age: 35_000,
      semiExpired: "refuse",
      expected: /^the name expires in 1000 blocks$/
    },
    { what: "expired", age: 36_000, expected: /^the name expired 0 blocks ago$/ },
    {
      what: "expired by the clock, with a tip behind it",
      age: 38_500,
      tip: 35_999,
      expected: /^the name has expired since$/
    },
    {
      what: "older than a day, with a tip from years ago",
      age: 60_000,
      tip: 1,
      expected: /^the proof is older than a day$/
    },
    {
      what: "from a tip that is too high",
      age: 1_000,
      tip: 35_000,
      expected: /^the tip is higher than the time allows$/
    }
  ])("is $what", ({ age, expected, semiExpired, tip }) => {
    const proof = { ...proofOf(CHAIN, text("d/toy")), asOf: { height: 210_000 + (tip ?? age), hash: "00".repeat(32) } }
    const options = { now: time + 600 * age, ...(semiExpired === undefined ? {} : { semiExpired }) }
    const outcome = verifyNameProof(proof, options)
    const found: string | Array<string> = isFailure(outcome) ? outcome.failed : outcome.problems.map(({ code }) => code)
    if (expected instanceof RegExp) assert.match(String(found), expected)
    else assert.deepStrictEqual(found, expected)
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
