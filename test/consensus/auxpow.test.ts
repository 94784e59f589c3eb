import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { checkAuxpow, expectedIndex } from "../../src/consensus/auxpow.ts"
import { mainnetParams, regtestParams, testnetParams } from "../../src/consensus/params.ts"
import { type Auxpow, makeAuxpow, readAuxpow } from "../../src/protocol/auxpow.ts"
import { readBlockHeader } from "../../src/protocol/block.ts"
import { type Bytes, concat, displayHash, EMPTY, fromHex, reversed } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { chainId, makeHeader } from "../../src/protocol/header.ts"
import { merkleBranchRoot } from "../../src/protocol/merkle.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { makeTransaction } from "../../src/protocol/transaction.ts"
import { Writer } from "../../src/protocol/Writer.ts"
import { describeShared } from "../support/describeShared.ts"
import { fixtureBytes, fixtureJson } from "../support/fixtures.ts"
import { coinbaseInput, text } from "../support/regtest.ts"

describe("expectedIndex", () => {
  it.each([
    [7, 1, 30, 672439754],
    [7, 1, 4, 10],
    [7, 1, 3, 2],
    [1234, 1, 0, 0],
    [0, 1, 1, 1],
    [0, 1, 2, 3],
    [0, 1, 3, 3],
    [0, 2, 4, 8],
    [0, 1, 4, 11],
    [0, 1, 5, 11],
    [1, 1, 5, 20],
    [123456789, 1, 5, 8],
    [4294967295, 1, 8, 130],
    [4294967295, 1, 30, 318753410],
    [3505, 1, 10, 132],
    [7, 42, 3, 7]
  ])("2.5 nonce %i, chain %i, height %i: %i", (nonce, chain, height, index) => {
    assert.strictEqual(expectedIndex({ nonce, chain, height }), index)
  })

  it.prop("2.5 expectedIndex agrees with unsigned 64-bit arithmetic", {
    nonce: FastCheck.integer({ min: 0, max: 0xffffffff }),
    chain: FastCheck.integer({ min: -32768, max: 32767 }),
    height: FastCheck.integer({ min: 0, max: 30 })
  }, ({ chain, height, nonce }) => {
    const wide = (value: bigint): bigint => BigInt.asUintN(64, value)
    const leaves = 1n << BigInt(height)
    const step = (value: bigint): bigint => wide(wide(value) * 1103515245n + 12345n) % leaves
    assert.strictEqual(BigInt(expectedIndex({ nonce, chain, height })), step(step(BigInt(nonce)) + BigInt(chain)))
  })
})

const MARKER = Uint8Array.of(0xfa, 0xbe, 0x6d, 0x6d)
const HASH = sha256(text("a block of ours"))
const OTHER = sha256(text("another"))

const branchOf = (length: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length }, (_, i) => sha256(Uint8Array.of(i)))

/** The differences of a proof from the usual one. */
interface Differences {
  readonly chain?: number
  readonly nonce?: number
  readonly size?: number
  readonly chainBranch?: ReadonlyArray<Bytes>
  readonly chainIndex?: number
  readonly coinbaseBranch?: ReadonlyArray<Bytes>
  readonly parentVersion?: number
  readonly merkleRoot?: Bytes
  /** The script of the parent coinbase, from the root in display order and the usual data after it. */
  readonly script?: (root: Bytes, slot: Bytes) => Bytes
}

const proof = (differences: Differences = {}): Auxpow => {
  const { chain = 1, chainBranch = [], coinbaseBranch = [], nonce = 7, parentVersion = 1 } = differences
  const chainIndex = differences.chainIndex ?? expectedIndex({ nonce, chain, height: Math.min(chainBranch.length, 30) })
  const root = reversed(merkleBranchRoot(HASH, chainBranch, chainIndex))
  const slot = new Writer(8).u32(differences.size ?? 2 ** chainBranch.length).u32(nonce).toBytes()
  const script = differences.script ?? ((hash, rest) => concat(MARKER, hash, rest))
  const inputs = [coinbaseInput(script(root, slot))]
  const coinbase = makeTransaction({ version: 1, inputs, outputs: [], lockTime: 0 })
  const merkleRoot = differences.merkleRoot ?? merkleBranchRoot(coinbase.txid, coinbaseBranch, 0)
  const parent = makeHeader({ version: parentVersion, prevHash: HASH, merkleRoot, time: 0, bits: 0, nonce: 0 })
  return makeAuxpow({ coinbase, coinbaseBranch, chainBranch, chainIndex, parent })
}

const check = (auxpow: Auxpow, chain = 1): string | undefined =>
  checkAuxpow(auxpow, { hash: HASH, chain }, regtestParams)

const padding = (length: number): Uint8Array => new Uint8Array(length).fill(0x11)

const EARLY = "Aux POW chain merkle root must start in the first 20 bytes of the parent coinbase"
const NO_ROOT = "Aux POW missing chain merkle root in parent coinbase"
const NO_SLOT = "Aux POW missing chain merkle tree size and nonce in parent coinbase"
const BAD_SIZE = "Aux POW merkle branch size does not match parent coinbase"
const NOT_BEFORE = "Merged mining header is not just before chain merkle root"
const TWO_MARKERS = "Multiple merged mining headers in coinbase"

describe("checkAuxpow", () => {
  const chainBranch = branchOf(4)

  it.each<readonly [string, Differences]>([
    ["no branches, with marker", {}],
    ["no branches, without marker", { script: concat }],
    ["A2: a chain branch of 30", { chainBranch: branchOf(30) }],
    ["a coinbase branch of 40", { coinbaseBranch: branchOf(40) }],
    ["padding before the marker", { script: (root, slot) => concat(padding(40), MARKER, root, slot) }],
    ["A6: the root once more at the end", { script: (root, slot) => concat(MARKER, root, slot, root) }],
    ["A9: without marker, root at 20", { script: (root, slot) => concat(padding(20), root, slot) }],
    ["A10: something after the slot", { script: (root, slot) => concat(MARKER, root, slot, padding(9)) }],
    ["A12: a chain branch of 4 in its slot", { chainBranch }],
    ["A1: a parent of another chain", { parentVersion: 0x00020004 }],
    ["A1: a parent whose negative version has no chain id of ours", { parentVersion: -257 }]
  ])("checkAuxpow accepts %s", (_, differences) => {
    assert.isUndefined(check(proof(differences)))
  })

  it.each<readonly [string, string, Differences]>([
    ["A1: a parent with our chain id", "Aux POW parent has our chain ID", { parentVersion: 0x00010004 }],
    ["A1: our chain id and odd bits", "Aux POW parent has our chain ID", { parentVersion: 0x0001fe04 }],
    ["A2: a chain branch of 31", "Aux POW chain merkle branch too long", { chainBranch: branchOf(31), size: 0 }],
    ["A4: a wrong merkle root", "Aux POW merkle root incorrect", { merkleRoot: OTHER }],
    ["A6: no root", NO_ROOT, { script: (_, slot) => concat(MARKER, OTHER, slot) }],
    ["A6: the root in wire order", NO_ROOT, { script: (root, slot) => concat(MARKER, reversed(root), slot) }],
    ["A6: the root cut short", NO_ROOT, { script: (root) => concat(MARKER, root.subarray(0, 31)) }],
    ["A6: an empty script", NO_ROOT, { script: () => EMPTY }],
    ["A7: two markers", TWO_MARKERS, { script: (root, slot) => concat(MARKER, root, slot, MARKER) }],
    ["A7: a marker for something else first", TWO_MARKERS, {
      script: (root, slot) => concat(MARKER, padding(2), MARKER, root, slot)
    }],
    ["A8: a byte between marker and root", NOT_BEFORE, {
      script: (root, slot) => concat(MARKER, padding(1), root, slot)
    }],
    ["A8: a copy of the root before the marker", NOT_BEFORE, {
      script: (root, slot) => concat(root, MARKER, root, slot)
    }],
    ["A8: the marker behind the root", NOT_BEFORE, { script: (root, slot) => concat(root, slot, MARKER) }],
    ["A9: without marker, root at 21", EARLY, { script: (root, slot) => concat(padding(21), root, slot) }],
    ["A10: seven bytes after the root", NO_SLOT, {
      script: (root, slot) => concat(MARKER, root, slot.subarray(0, 7))
    }],
    ["A10: nothing after the root", NO_SLOT, { script: (root) => concat(MARKER, root) }],
    ["A11: size 2 for an empty branch", BAD_SIZE, { size: 2 }],
    ["A11: size 0", BAD_SIZE, { size: 0 }],
    ["A11: size half of the branch's", BAD_SIZE, { chainBranch, size: 8 }],
    ["A12: index 1 with an empty branch", "Aux POW wrong index", { chainIndex: 1 }],
    ["A12: the slot beside", "Aux POW wrong index", { chainBranch, chainIndex: 11 }],
    ["A12: the slot plus 2^height", "Aux POW wrong index", { chainBranch, chainIndex: 10 + 16 }],
    ["A12: index -1, whose root is zero", "Aux POW wrong index", { chainIndex: -1 }]
  ])("checkAuxpow refuses %s", (_, message, differences) => {
    assert.strictEqual(check(proof(differences)), message)
  })

  it("A3: a proof commits only to our hash", () => {
    assert.strictEqual(checkAuxpow(proof(), { hash: OTHER, chain: 1 }, regtestParams), NO_ROOT)
  })

  it("A5: the parent coinbase needs an input", () => {
    const coinbase = makeTransaction({ version: 1, inputs: [], outputs: [], lockTime: 0 })
    const parent = makeHeader({ version: 1, prevHash: HASH, merkleRoot: coinbase.txid, time: 0, bits: 0, nonce: 0 })
    const auxpow = makeAuxpow({ coinbase, coinbaseBranch: [], chainBranch: [], chainIndex: 0, parent })
    assert.strictEqual(check(auxpow), "Aux POW coinbase has no inputs")
  })

  it("A1, A12: a network that is not strict accepts any chain id, and the slot depends on it", () => {
    const own = proof({ chain: 42, chainBranch, parentVersion: 42 << 16 })
    assert.isUndefined(checkAuxpow(own, { hash: HASH, chain: 42 }, testnetParams))
    assert.strictEqual(checkAuxpow(own, { hash: HASH, chain: 1 }, testnetParams), "Aux POW wrong index")
    assert.strictEqual(checkAuxpow(own, { hash: HASH, chain: 42 }, mainnetParams), "Aux POW parent has our chain ID")
  })
})

/** A header with its proof, parsed from hexadecimal digits. */
const headerOf = (hex: string) => readBlockHeader(new Reader(fromHex(hex) ?? EMPTY))

describeShared("real proofs", () => {
  const headers = fixtureJson<Readonly<Record<"mainnet" | "testnet", Readonly<Record<string, string>>>>>(
    "namecoin-mainnet/headers/electrum_nmc_auxpow_headers.json"
  )

  it.each(
    [
      {
        network: "mainnet",
        height: "19414",
        params: mainnetParams,
        parent: "00000000000030ce54a9b0e59fa3d7d622f6812b891ab84ade3eac1965efb0fa"
      },
      {
        network: "mainnet",
        height: "37174",
        params: mainnetParams,
        parent: "00000000000024111173f561b36ad4906df95f52503a79332d7f540c2a57db84"
      },
      { network: "testnet", height: "233281", params: testnetParams, parent: undefined }
    ] as const
  )("A.2, A.4: $network block $height", ({ height, network, params, parent }) => {
    const { auxpow, header } = headerOf(headers[network][height] ?? "")
    assert.isDefined(auxpow)
    if (auxpow === undefined) return
    assert.isUndefined(checkAuxpow(auxpow, { hash: header.hash, chain: chainId(header.version) }, params))
    if (parent !== undefined) assert.strictEqual(displayHash(auxpow.parent.hash), parent)
    assert.strictEqual(checkAuxpow(auxpow, { hash: OTHER, chain: chainId(header.version) }, params), NO_ROOT)
  })

  it("A.2: block 37,174 is in the slot of its nonce", () => {
    const { auxpow } = headerOf(headers.mainnet["37174"] ?? "")
    assert.strictEqual(auxpow?.chainIndex, 11)
    assert.strictEqual(expectedIndex({ nonce: 0, chain: 1, height: 4 }), 11)
  })

  it("A.4: only the proof of block 19,414 matches its header", () => {
    const alone = readAuxpow(new Reader(fixtureBytes("namecoin-mainnet/headers/auxpow_19414.bin")))
    const { header } = headerOf(headers.mainnet["19414"] ?? "")
    assert.isUndefined(checkAuxpow(alone, { hash: header.hash, chain: 1 }, mainnetParams))
  })

  it.each([371337, 748634, 894863])(
    "Dogecoin's block %i is valid with its own chain id and not with ours",
    (height) => {
      const bytes = fixtureBytes(`auxpow-other/dogecoin/dogecoin_block${height}.bin`)
      const { auxpow, header } = readBlockHeader(new Reader(bytes))
      assert.isDefined(auxpow)
      if (auxpow === undefined) return
      assert.strictEqual(chainId(header.version), 98)
      assert.isUndefined(checkAuxpow(auxpow, { hash: header.hash, chain: 98 }, mainnetParams))
      if (auxpow.chainBranch.length > 0) {
        assert.isDefined(checkAuxpow(auxpow, { hash: header.hash, chain: 1 }, mainnetParams))
      }
    }
  )
})
