import { assert, describe, it } from "@effect/vitest"
import { makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type BlockHeader, encodeBlockHeader, readBlockHeader } from "../../src/protocol/block.ts"
import { fromHex, toHex } from "../../src/protocol/bytes.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import {
  isFailure,
  LONGEST_BRANCH,
  type NameProof,
  type NameProofOperation,
  type ProofFailure
} from "../../src/verify/nameProof.ts"
import { type ProofOptions, verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { proofOf, tipOf } from "../support/nameProofs.ts"
import { minimalAuxpow, solve, solveParent } from "../support/regtest.ts"

/** Each kind of bad proof has one reason, and costs little. */

const OPTIONS: ProofOptions = { network: "regtest", now: namedChain.now }

const HASH = "11".repeat(32)

/** A proof of a transaction among others, with headers after it, and one with an earlier operation. */
const [GOOD, LONG] = [false, true].map((whole) =>
  livingNames.map((name) => proofOf(namedChain, name, { following: 2, whole }))
    .find(({ operations: [newest, ...earlier] }) =>
      newest !== undefined && newest.branch.length > 1 && newest.headers.length === 3 && (!whole || earlier.length > 0)
    ) ?? assert.fail("the chain has no such name")
)

const [NEWEST] = GOOD?.operations ?? []

/** The proof with another newest operation. */
const withNewest = (parts: Partial<NameProofOperation>, proof = GOOD): NameProof => {
  const [newest, ...earlier] = proof?.operations ?? []
  if (newest === undefined || proof === undefined) return assert.fail()
  return { ...proof, operations: [{ ...newest, ...parts }, ...earlier] }
}

const header = (): BlockHeader => {
  const hex = NEWEST?.headers[0]
  return readBlockHeader(new Reader(fromHex(hex ?? "") ?? assert.fail()))
}

/** The header of the newest operation with another version or proof, and work. */
const withHeader = (version: number, auxpow: (own: BlockHeader["header"]) => BlockHeader["auxpow"]): NameProof => {
  const { header: { bits, merkleRoot, prevHash, time } } = header()
  const own = solve({ version, prevHash, merkleRoot, time, bits })
  return withNewest({ headers: [toHex(encodeBlockHeader({ header: own, auxpow: auxpow(own) }))] })
}

const headers = NEWEST?.headers ?? []
const tx = NEWEST?.tx ?? ""

/** What is wrong, the proof, and the reason. */
const BAD: ReadonlyArray<
  readonly [what: string, proof: () => unknown, reason: RegExp, options?: Partial<ProofOptions>]
> = [
  [
    "a wrong root",
    () => withNewest({ branch: [HASH, ...NEWEST?.branch.slice(1) ?? []] }),
    /^the transaction is not in the block$/
  ],
  ["a branch that is too short", () => withNewest({ branch: NEWEST?.branch.slice(1) ?? [] }), /not in the block$/],
  [
    "a branch that is too long",
    () => withNewest({ branch: Array.from({ length: LONGEST_BRANCH + 1 }, () => HASH) }),
    /^a branch is not a list of at most 15 items$/
  ],
  ["a position beyond the branch", () => withNewest({ pos: 2 ** 20 + (NEWEST?.pos ?? 0) }), /not in the block$/],
  ["a header of another chain", () => withHeader(0x00020004, () => undefined), /does not have our chain ID/],
  [
    "a merged-mining proof whose parent has our chain id",
    () =>
      withHeader(0x00010104, (own) => {
        const { coinbase, ...rest } = minimalAuxpow(own)
        return makeAuxpow({ ...rest, coinbase, parent: solveParent(coinbase, own.bits, 0x00010004) })
      }),
    /Aux POW parent has our chain ID/
  ],
  [
    "a merged-mining proof of another block",
    () => withHeader(0x00010104, () => minimalAuxpow(header().header)),
    /Aux POW missing chain merkle root in parent coinbase/
  ],
  ["a version from before merged mining", () => withHeader(1, () => undefined), /has an old version$/],
  ["a version without the later rules", () => withHeader(0x00010003, () => undefined), /has an old version$/],
  ["a time that is not a number", () => GOOD, /^the option now is not a number$/, { now: Number.NaN }],
  ["a time without an end", () => GOOD, /^the option now is not a number$/, { now: Infinity }],
  [
    "confirmations that are not a number",
    () => GOOD,
    /^the option minConfirmations is not a whole number$/,
    { minConfirmations: Number.NaN }
  ],
  ["a floor that is not a number", () => GOOD, /^the option floor is not a whole number$/, { floor: Number.NaN }],
  ["a floor that is missed", () => GOOD, /has too little work$/, { floor: 0x1d00ffff }],
  [
    "headers that do not connect",
    () => withNewest({ headers: [headers[0] ?? "", headers[2] ?? ""] }),
    /does not follow the one before$/
  ],
  ["no header", () => withNewest({ headers: [] }), /is missing$/],
  [
    "a header that is cut",
    () => withNewest({ headers: [headers[0]?.slice(0, 150) ?? ""] }),
    /^header at byte 0: needs 80 bytes, 75 are left$/
  ],
  ["another output", () => withNewest({ vout: 7 }), /^output 7 has no name$/],
  ["a value that is cut", () => withNewest({ tx: tx.slice(0, -20) }), /are left$/],
  ["a byte too many", () => withNewest({ tx: `${tx}00` }), /unexpected bytes follow$/],
  ["another name", () => ({ ...GOOD, name: "642f6f74686572" }), /has another name$/],
  ["another height", () => withNewest({ height: (NEWEST?.height ?? 0) + 1 }), /^the block is not at height \d+$/],
  [
    "a coinbase of another depth",
    () => withNewest({ branch: [], pos: 0, tx: NEWEST?.coinbase?.tx ?? "" }),
    /^(the transaction is not a name transaction|output \d+ has no name)$/
  ],
  [
    "a coinbase that is none",
    () => withNewest({ coinbase: { tx, branch: NEWEST?.branch ?? [] } }),
    /^the coinbase is not in the block$/
  ],
  ["10 MB of JSON", () => JSON.stringify(GOOD).padEnd(10_000_000), /^the proof has more than 2000000 characters$/],
  [
    "a transaction of 10 MB",
    () => withNewest({ tx: "00".repeat(5_000_000) }),
    /^the proof has more than 2000000 characters$/
  ],
  ["no JSON", () => "{", /^the proof is not JSON$/],
  ["nothing", () => undefined, /^the proof is not an object$/],
  ["a list", () => [], /^the proof is not an object$/],
  ["another format", () => ({ ...GOOD, svcd: "name-proof/2" }), /^the proof is not a name-proof\/1$/],
  ["an unknown member", () => ({ ...GOOD, more: 1 }), /^the proof has an unknown member$/],
  ["a number that is none", () => withNewest({ height: 1.5 }), /^height is not a whole number/],
  ["no operation", () => ({ ...GOOD, operations: [] }), /^the proof has no operation$/],
  ["another network", () => GOOD, /^the proof is about regtest, not main$/, { network: "main" }],
  ["a tip with another hash", () => withNewestTip(HASH), /^the tip has another hash$/],
  [
    "a tip below the headers",
    () => withTip({ height: 1, coinbase: undefined }),
    /^the tip is below the newest header$/
  ],
  [
    "another block as the tip, among the headers",
    () => ({ ...GOOD, asOf: { ...tipOf(blockAt(1), 1), height: NEWEST?.height, coinbase: undefined } }),
    /^the tip (has another hash|is below the newest header)$/
  ],
  ["a tip without a header", () => withTip({ header: undefined }), /^asOf.header is not a text$/],
  ["a tip at another height", () => withTip({ height: 10_000 }), /^the block is not at height 10000$/],
  [
    "a tip without work",
    () => withTip({ header: GOOD?.asOf.header.replace(/^(.{136}).{8}/, "$100000000") }),
    /^the header at height \d+ has no proof of work/
  ],
  ["headers from the future", () => GOOD, /from the future$/, { now: namedChain.now - 365 * 86_400 }],
  ["fewer confirmations than wanted", () => GOOD, /^the proof has 3 of 12 confirmations$/, { minConfirmations: 12 }],
  [
    "an earlier operation that is not spent",
    () => ({ ...LONG, operations: LONG?.operations.flatMap((each) => [each, each]) }),
    /only the newest|does not spend the one before$|is not the oldest operation$/
  ],
  ["operations in another order", () => ({ ...LONG, operations: LONG?.operations.toReversed() }), /./],
  ["another registration", () => ({ ...LONG, since: 1 }), /^the name was not registered at height 1$/],
  [
    "more signatures than may be checked",
    () => LONG,
    /^the operation at height \d+ exceeds the limit of signatures in a proof$/,
    {
      signatures: ({ budget }) => {
        budget.left = -1
        return false
      }
    }
  ],
  ["a signature that does not count", () => LONG, /^the owner did not sign the operation at height \d+$/, {
    signatures: () => false
  }]
]

const withTip = (parts: Readonly<Record<string, unknown>>): unknown => ({ ...GOOD, asOf: { ...GOOD?.asOf, ...parts } })

const withNewestTip = (hash: string) => withTip({ hash })

const blockAt = (height: number) => namedChain.blocks[height - namedChain.low] ?? assert.fail()

/** The fewest milliseconds of some calls: the machine may be busy. */
const MOST_MILLIS = 20

/** Codes of the reasons that a reader can act on. */
const CODES: Partial<Record<string, ProofFailure["code"]>> = {
  "no JSON": "unreadable",
  "another network": "network",
  "headers from the future": "future",
  "fewer confirmations than wanted": "confirmations"
}

describe("a bad proof", () => {
  it("differs from good ones", () => {
    for (const proof of [GOOD, LONG]) assert.notProperty(verifyNameProof(proof, OPTIONS), "failed")
  })

  it.each(BAD.map(([what, make, reason, options]) => ({ what, make, reason, options })))("with $what has one reason", ({
    make,
    options,
    reason,
    what
  }) => {
    const proof = make()
    const times = [1, 2, 3].map(() => {
      const start = performance.now()
      const outcome = verifyNameProof(proof, { ...OPTIONS, ...options })
      if (!isFailure(outcome)) return assert.fail(`accepted: ${JSON.stringify(outcome)}`)
      assert.match(outcome.failed, reason)
      assert.deepStrictEqual(Object.keys(outcome).filter((member) => member !== "code"), ["failed"])
      assert.strictEqual(outcome.code, CODES[what])
      return performance.now() - start
    })
    assert.isBelow(Math.min(...times), MOST_MILLIS)
  })
})
