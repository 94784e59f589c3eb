import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type Auxpow, makeAuxpow, normalizeAuxpow, readAuxpow } from "../../src/protocol/auxpow.ts"
import { encodeBlockHeader, readBlockHeader } from "../../src/protocol/block.ts"
import { type Bytes, concat, displayHash, toHex } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { merkleBranchRoot } from "../../src/protocol/merkle.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { decodeTransaction, makeTransaction } from "../../src/protocol/transaction.ts"
import { bytesOf, everyTruncationFails, hex } from "../support/bytes.ts"
import { fixtureBytes, fixtureJson, hasShared } from "../support/fixtures.ts"

const decodeAuxpow = (bytes: Bytes): Auxpow => {
  const reader = new Reader(bytes)
  const auxpow = readAuxpow(reader)
  reader.end("auxpow")
  return auxpow
}

/** The branch leads from the parent coinbase to the parent's merkle root. */
const foldsToParent = ({ coinbase, coinbaseBranch, parent }: Auxpow): void =>
  assert.strictEqual(toHex(merkleBranchRoot(coinbase.txid, coinbaseBranch, 0)), toHex(parent.merkleRoot))

const COINBASE = hex(
  "01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff2928f2553bf57c0fe633f93e2cccac04" +
    "1c48233e0cbf16a8d4621c1bfec1d051cb340100000000000000ffffffff0000000000"
)
const PARENT = hex(
  "0100000000000000000000000000000000000000000000000000000000000000000000004bef56443e9fd794f62f2df45a216f938575dbeb35" +
    "6434e55bed4009c90b6253000000000000000001000000"
)

/**
 * Regtest block 1 with the smallest proof (reference/protocol.md A.5). `ignored` are the two fields that no rule
 * checks.
 */
const minimal = (ignored = { hash: "00".repeat(32), index: "00000000" }): Uint8Array =>
  concat(COINBASE, hex(`${ignored.hash}00${ignored.index}0000000000`), PARENT)

describe("the minimal proof (reference/protocol.md A.5)", () => {
  it("the proof is decoded into its parts", () => {
    const auxpow = decodeAuxpow(minimal())
    assert.strictEqual(toHex(auxpow.coinbase.bytes), toHex(COINBASE))
    assert.deepStrictEqual([auxpow.coinbaseBranch.length, auxpow.chainBranch.length, auxpow.chainIndex], [0, 0, 0])
    assert.strictEqual(
      displayHash(auxpow.parent.hash),
      "4d24f043637c34d5e476fcb811f4e705b10955b53516ac0436b936b307d2ce4e"
    )
    foldsToParent(auxpow)
    assert.strictEqual(normalizeAuxpow(auxpow), auxpow)
    everyTruncationFails(auxpow.bytes, decodeAuxpow)
  })

  it.each([
    { hash: "11".repeat(32), index: "00000000" },
    { hash: "00".repeat(32), index: "01000000" },
    { hash: `${"00".repeat(31)}01`, index: "00000080" },
    { hash: "ff".repeat(32), index: "ffffffff" }
  ])("hash $hash and index $index are accepted and written as zeros", (ignored) => {
    const auxpow = decodeAuxpow(minimal(ignored))
    const normal = normalizeAuxpow(auxpow)
    assert.strictEqual(toHex(normal.bytes), toHex(minimal()))
    assert.strictEqual(toHex(auxpow.bytes), toHex(minimal(ignored)))
    assert.strictEqual(normalizeAuxpow(normal), normal)
  })
})

const branches = FastCheck.oneof(
  FastCheck.array(bytesOf(32), { maxLength: 5 }),
  FastCheck.constantFrom(
    // Lengths with a CompactSize of one and of three bytes.
    Array.from({ length: 252 }, () => new Uint8Array(32)),
    Array.from({ length: 253 }, () => new Uint8Array(32))
  )
)

it("proofs of any shape are decoded again, and normal ones do not change", () => {
  const parts = FastCheck.record({
    witness: FastCheck.array(bytesOf(0, 10), { maxLength: 2 }),
    coinbaseBranch: branches,
    chainBranch: branches,
    chainIndex: FastCheck.integer(),
    time: FastCheck.integer({ min: 0, max: 0xffffffff })
  })
  FastCheck.assert(
    FastCheck.property(parts, bytesOf(36), ({ chainBranch, chainIndex, coinbaseBranch, time, witness }, junk) => {
      const zero = new Uint8Array(32)
      const coinbase = makeTransaction({
        version: 1,
        inputs: [{ prevout: new Uint8Array(36), scriptSig: zero, sequence: 0, witness }],
        outputs: [],
        lockTime: 0
      })
      const parent = makeHeader({ version: 1, prevHash: zero, merkleRoot: zero, time, bits: 0, nonce: 0 })
      const made = makeAuxpow({ coinbase, coinbaseBranch, chainBranch, chainIndex, parent })
      const read = decodeAuxpow(made.bytes)
      assert.strictEqual(toHex(read.coinbase.bytes), toHex(coinbase.bytes))
      assert.deepStrictEqual(read.coinbaseBranch.map(toHex), coinbaseBranch.map(toHex))
      assert.deepStrictEqual(read.chainBranch.map(toHex), chainBranch.map(toHex))
      assert.strictEqual(read.chainIndex, chainIndex)
      assert.strictEqual(toHex(read.parent.bytes), toHex(parent.bytes))
      assert.strictEqual(normalizeAuxpow(read), read)
      // The same with junk in the fields that no rule checks: sizes stay the same, the fields become zeros.
      const bytes = made.bytes.slice()
      const hashAt = coinbase.size
      bytes.set(junk.subarray(0, 32), hashAt)
      bytes.set(junk.subarray(32), hashAt + 32 + (coinbaseBranch.length < 253 ? 1 : 3) + 32 * coinbaseBranch.length)
      assert.strictEqual(toHex(normalizeAuxpow(decodeAuxpow(bytes)).bytes), toHex(made.bytes))
    }),
    { numRuns: 60 }
  )
})

describe.skipIf(!hasShared)("headers of the main and test network", () => {
  const headers = (): Record<"mainnet" | "testnet", Record<string, string>> =>
    fixtureJson("namecoin-mainnet/headers/electrum_nmc_auxpow_headers.json")

  const read = (network: "mainnet" | "testnet", height: number) => {
    const bytes = hex(headers()[network][height] ?? assert.fail(`no header ${height}`))
    const reader = new Reader(bytes)
    const header = readBlockHeader(reader)
    reader.end("header")
    return { ...header, bytes }
  }

  it("37174: marker, five and four branches (reference/protocol.md A.2)", () => {
    const { auxpow, bytes, header } = read("mainnet", 37174)
    assert.strictEqual(bytes.length, 1728)
    assert.strictEqual(displayHash(header.hash), "65ef89dc3da0c0df9b3d5309f89dd2eaceb81227605ead903d8ef6619d328b39")
    assert.strictEqual(
      displayHash(header.prevHash),
      "8adc6de6bd46c73aa631a72b29e21e84e49a06ce99002a77dce0b5aca4bf81d6"
    )
    assert.deepStrictEqual([header.version, header.time, header.bits, header.nonce], [
      0x00010101,
      1326093624,
      0x1a242a4a,
      0
    ])
    if (auxpow === undefined) return assert.fail("no proof")
    assert.strictEqual(
      displayHash(auxpow.coinbase.txid),
      "8a3164be45a621f85318647d425fe9f45837b8e42ec4fdd902d7f64daf61ff4a"
    )
    assert.strictEqual(
      toHex(auxpow.coinbase.inputs[0]?.scriptSig ?? hex("")),
      "07456c696769757303f8a7022cfabe6d6d2d27ea3a0cbe9d4edcecb32f6ed254b2bd017cb1f13258c9fd040b20519cbae41000000000000000"
    )
    assert.deepStrictEqual([auxpow.coinbaseBranch.length, auxpow.chainBranch.length, auxpow.chainIndex], [5, 4, 11])
    assert.strictEqual(
      displayHash(merkleBranchRoot(header.hash, auxpow.chainBranch, auxpow.chainIndex)),
      "2d27ea3a0cbe9d4edcecb32f6ed254b2bd017cb1f13258c9fd040b20519cbae4"
    )
    assert.strictEqual(
      displayHash(auxpow.parent.hash),
      "00000000000024111173f561b36ad4906df95f52503a79332d7f540c2a57db84"
    )
    foldsToParent(auxpow)
    // The proof has the parent's hash; it is served with zeros of the same length.
    const served = encodeBlockHeader({ header, auxpow })
    assert.strictEqual(served.length, bytes.length)
    assert.notStrictEqual(toHex(served), toHex(bytes))
    const zeroed = bytes.slice()
    zeroed.fill(0, 80 + auxpow.coinbase.size, 80 + auxpow.coinbase.size + 32)
    assert.strictEqual(toHex(served), toHex(zeroed))
    everyTruncationFails(bytes, (part) => readBlockHeader(new Reader(part)))
  })

  it("19414: no marker, no chain branch (reference/protocol.md A.4)", () => {
    const { auxpow, bytes, header } = read("mainnet", 19414)
    assert.strictEqual(bytes.length, 2248)
    assert.strictEqual(displayHash(header.hash), "5fb89c3b18c27bc38d351d516177cbd3504c95ca0494cbbbbd52f2fb5f2ff1ec")
    if (auxpow === undefined) return assert.fail("no proof")
    assert.deepStrictEqual([auxpow.coinbaseBranch.length, auxpow.chainBranch.length, auxpow.chainIndex], [4, 0, 0])
    assert.strictEqual(
      displayHash(auxpow.parent.hash),
      "00000000000030ce54a9b0e59fa3d7d622f6812b891ab84ade3eac1965efb0fa"
    )
    foldsToParent(auxpow)
    assert.strictEqual(
      toHex(decodeAuxpow(fixtureBytes("namecoin-mainnet/headers/auxpow_19414.bin")).bytes),
      toHex(auxpow.bytes)
    )
  })

  it("19204: no proof (reference/protocol.md A.3)", () => {
    const { auxpow, bytes, header } = read("mainnet", 19204)
    assert.isUndefined(auxpow)
    assert.strictEqual(encodeBlockHeader({ header, auxpow }), header.bytes)
    assert.strictEqual(toHex(header.bytes), toHex(bytes))
  })

  it("testnet 233281: a parent coinbase without outputs", () => {
    const { auxpow } = read("testnet", 233281)
    if (auxpow === undefined) return assert.fail("no proof")
    assert.strictEqual(auxpow.coinbase.outputs.length, 0)
    foldsToParent(auxpow)
  })
})

describe.skipIf(!hasShared)("a second family of proofs (auxpow-other)", () => {
  it("a stand-alone proof with two branches", () => {
    const auxpow = decodeAuxpow(fixtureBytes("auxpow-other/libdohj/auxpow_header.bin"))
    foldsToParent(auxpow)
    assert.strictEqual(toHex(decodeTransaction(auxpow.coinbase.bytes).txid), toHex(auxpow.coinbase.txid))
  })

  it.each([["auxpow_merkle_branch", 3, 0], ["auxpow_merkle_branch2", 6, 56]])(
    "%s: hashes and an index",
    (file, length, index) => {
      const reader = new Reader(fixtureBytes(`auxpow-other/libdohj/${file}.bin`))
      assert.strictEqual(reader.count("branch", 32), length)
      reader.skip(32 * length, "branch")
      assert.strictEqual(reader.i32("index"), index)
      reader.end("branch")
    }
  )
})
