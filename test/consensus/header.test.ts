import { assert, describe, it } from "@effect/vitest"
import { heightScript } from "../../src/consensus/block.ts"
import { difficultyOf } from "../../src/consensus/difficulty.ts"
import { checkHeaderContext, checkProofOfWork, type HeaderContext } from "../../src/consensus/header.ts"
import { mainnetParams, regtestParams, testnetParams, withOverrides } from "../../src/consensus/params.ts"
import { COIN } from "../../src/protocol/amount.ts"
import { makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type BlockHeader, readBlockHeader } from "../../src/protocol/block.ts"
import { concat, displayHash, EMPTY, fromHex } from "../../src/protocol/bytes.ts"
import { Header, makeHeader } from "../../src/protocol/header.ts"
import { networks } from "../../src/protocol/networks.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { Op } from "../../src/protocol/script.ts"
import { describeShared } from "../support/describeShared.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { coinbaseInput, currency, minimalAuxpow, solve, solveParent } from "../support/regtest.ts"

const REGTEST_BITS = 0x207fffff
const ZERO = new Uint8Array(32)

const parts = { prevHash: ZERO, merkleRoot: ZERO, time: 1_700_000_000, bits: REGTEST_BITS }

/** The parts of a header, for changes. */
const partsOf = ({ bits, merkleRoot, nonce, prevHash, time, version }: Header) => ({
  bits,
  merkleRoot,
  nonce,
  prevHash,
  time,
  version
})

/** A header whose own hash meets its target. */
const plain = (version: number): Header => solve({ ...parts, version })

/** A header whose own hash does not meet its target. */
const unsolved = (version: number, bits = REGTEST_BITS): Header => {
  for (let nonce = 0;; nonce++) {
    const header = makeHeader({ ...parts, version, bits, nonce })
    if ((header.hash[31] ?? 0) >= 0x80) return header
  }
}

const merged = (version: number): BlockHeader => {
  const header = unsolved(version)
  return { header, auxpow: minimalAuxpow(header) }
}

const failed = (detail: string) => `CheckProofOfWork : ${detail}`
const wrongChain = (got: number, version: number): string =>
  failed(`block does not have our chain ID (got ${got}, expected 1, full nVersion ${version})`)

const detailOf = (header: BlockHeader, params = regtestParams): string | undefined => {
  const broken = checkProofOfWork(header, params)
  if (broken === undefined) return undefined
  assert.strictEqual(broken.reason, "high-hash")
  return broken.detail
}

describe("checkProofOfWork", () => {
  it.each([
    { version: 0x00010004, passes: true },
    { version: 1, passes: true },
    { version: 0x0001fe04, passes: true },
    { version: 2, passes: false, got: 0 },
    { version: 0x00020004, passes: false, got: 2 },
    { version: 0x20000000, passes: false, got: 8192 },
    { version: -65532, passes: false, got: 0 },
    { version: -2147418108, passes: false, got: -32766 }
  ])("P1: version $version on a strict network: $passes", ({ got = 0, passes, version }) => {
    const header = { header: plain(version), auxpow: undefined }
    assert.strictEqual(detailOf(header), passes ? undefined : wrongChain(got, version))
    assert.isUndefined(checkProofOfWork(header, { ...regtestParams, strictChainId: false }))
  })

  it("P1: version 1 with the merged-mining flag is not a legacy version", () => {
    assert.strictEqual(detailOf(merged(0x0101)), wrongChain(0, 0x0101))
    assert.isUndefined(detailOf(merged(0x0101), { ...regtestParams, strictChainId: false }))
  })

  it("P2: a plain header must meet its own target", () => {
    const detail = failed("non-AUX proof of work failed")
    assert.strictEqual(detailOf({ header: unsolved(0x00010004), auxpow: undefined }), detail)
    assert.strictEqual(
      checkProofOfWork({ header: unsolved(0x00010004), auxpow: undefined }, regtestParams)?.kind,
      "header"
    )
  })

  it.each([0, 0x20ffffff, 0x21008000, 0xff123456])("P2: bits %i are not a valid target", (bits) => {
    const header = makeHeader({ ...parts, version: 0x00010004, bits, nonce: 0 })
    assert.strictEqual(detailOf({ header, auxpow: undefined }), failed("non-AUX proof of work failed"))
  })

  it("P2: a header with the flag needs a proof", () => {
    const header = plain(0x00010104)
    assert.strictEqual(detailOf({ header, auxpow: undefined }), failed("no auxpow on block with auxpow version"))
  })

  it("P3: a proof needs the flag", () => {
    const header = plain(0x00010004)
    const detail = failed("auxpow on block with non-auxpow version")
    assert.strictEqual(detailOf({ header, auxpow: minimalAuxpow(header) }), detail)
  })

  it("P4: the parent is not a merge-mined block itself, on any network", () => {
    const header = unsolved(0x00010104)
    const auxpow = minimalAuxpow(header)
    const parent = solveParent(auxpow.coinbase, header.bits, 0x101)
    const nested = { header, auxpow: makeAuxpow({ ...auxpow, parent }) }
    const detail = failed("auxpow parent block has auxpow version")
    assert.strictEqual(detailOf(nested), detail)
    assert.strictEqual(detailOf(nested, { ...regtestParams, strictChainId: false }), detail)
  })

  it("P5: the parent's hash meets our target, independent of its own bits and our own hash", () => {
    const block = merged(0x00010104)
    assert.isUndefined(detailOf(block))
    const { auxpow, header } = block
    if (auxpow === undefined) throw new Error("a merge-mined header has a proof")
    for (let nonce = 0;; nonce++) {
      const parent = makeHeader({ ...partsOf(auxpow.parent), nonce })
      if ((parent.hash[31] ?? 0) < 0x80) continue
      const weak = { header, auxpow: makeAuxpow({ ...auxpow, parent }) }
      assert.strictEqual(detailOf(weak), failed("AUX proof of work failed"))
      break
    }
  })

  it("P6: the proof commits to our hash", () => {
    const header = unsolved(0x00010104)
    const other = makeHeader({ ...partsOf(header), time: header.time + 1 })
    const broken = checkProofOfWork({ header, auxpow: minimalAuxpow(other) }, regtestParams)
    assert.strictEqual(broken?.detail, "Aux POW missing chain merkle root in parent coinbase")
  })

  it("2.6: a failure of a proof does not mark the hash invalid", () => {
    const header = unsolved(0x00010104)
    assert.strictEqual(checkProofOfWork({ header, auxpow: undefined }, regtestParams)?.kind, "mutated")
    const other = minimalAuxpow(makeHeader({ ...partsOf(header), time: header.time + 1 }))
    assert.strictEqual(checkProofOfWork({ header, auxpow: other }, regtestParams)?.kind, "mutated")
    assert.isUndefined(checkProofOfWork({ header, auxpow: minimalAuxpow(header) }, regtestParams))
  })

  it("A.5: regtest block 1 with the smallest proof is valid", () => {
    const header =
      "0401010006226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910fdf3db20683e9215144ebf8aee4d36c59" +
      "b18d150da93f51b8926e3b32db8171cd32e8494dffff7f2000000000"
    const coinbase =
      "01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff2928f2553bf57c0fe633" +
      "f93e2cccac041c48233e0cbf16a8d4621c1bfec1d051cb340100000000000000ffffffff0000000000"
    const middle = "00".repeat(32) + "00" + "00000000" + "00" + "00000000"
    const parent =
      "0100000000000000000000000000000000000000000000000000000000000000000000004bef56443e9fd794f62f2df45a216f93" +
      "8575dbeb356434e55bed4009c90b6253000000000000000001000000"
    const block = readBlockHeader(new Reader(fromHex(header + coinbase + middle + parent) ?? EMPTY))
    assert.strictEqual(
      displayHash(block.header.hash),
      "f2553bf57c0fe633f93e2cccac041c48233e0cbf16a8d4621c1bfec1d051cb34"
    )
    assert.isUndefined(checkProofOfWork(block, regtestParams))
    assert.strictEqual(detailOf(block, mainnetParams), failed("AUX proof of work failed"))
  })

  it.each(["mainnet", "testnet", "regtest"] as const)(
    "1.3: the genesis block of %s has its work",
    (name) => {
      const params = { mainnet: mainnetParams, testnet: testnetParams, regtest: regtestParams }[name]
      const block = readBlockHeader(new Reader(networks[name].genesisBlock))
      assert.isUndefined(checkProofOfWork(block, params))
    }
  )
})

describeShared("real headers", () => {
  const headers = fixtureJson<Readonly<Record<"mainnet" | "testnet", Readonly<Record<string, string>>>>>(
    "namecoin-mainnet/headers/electrum_nmc_auxpow_headers.json"
  )
  const read = (network: "mainnet" | "testnet", height: string): BlockHeader =>
    readBlockHeader(new Reader(fromHex(headers[network][height] ?? "") ?? EMPTY))

  it.each([
    { height: "19204", hash: "000000000000122ff239e71146bf57aee28ad913931d672cd124255e91351660" },
    { height: "19414", hash: "5fb89c3b18c27bc38d351d516177cbd3504c95ca0494cbbbbd52f2fb5f2ff1ec" },
    { height: "37174", hash: "65ef89dc3da0c0df9b3d5309f89dd2eaceb81227605ead903d8ef6619d328b39" }
  ])("A.2 to A.4: mainnet block $height has its work", ({ hash, height }) => {
    const block = read("mainnet", height)
    assert.strictEqual(displayHash(block.header.hash), hash)
    assert.isUndefined(checkProofOfWork(block, mainnetParams))
  })

  it("testnet block 233,281 has its work, but not enough for mainnet", () => {
    assert.isUndefined(checkProofOfWork(read("testnet", "233281"), testnetParams))
    const { auxpow, header } = read("testnet", "233281")
    const harder = { header: makeHeader({ ...partsOf(header), bits: 0x1b00b269 }), auxpow }
    assert.isDefined(checkProofOfWork(harder, testnetParams))
  })
})

/** A valid regtest header, after a block at height 999. */
const context = (overrides: Partial<HeaderContext> & { readonly parts?: Partial<Header> } = {}): HeaderContext => {
  const prev = { height: 999, time: 1_700_000_000, bits: REGTEST_BITS }
  const { parts: given = {}, ...rest } = overrides
  const header = makeHeader({ ...parts, version: 0x00010004, time: prev.time + 600, nonce: 0, ...given })
  return {
    header,
    prev,
    medianTimePast: prev.time - 3000,
    ancestor: (height) => ({ ...(rest.prev ?? prev), height }),
    params: regtestParams,
    now: 1_700_001_000,
    ...rest
  }
}

const verdict = (overrides?: Parameters<typeof context>[0]) => {
  const broken = checkHeaderContext(context(overrides))
  return broken === undefined ? undefined : `${broken.kind}: ${broken.reason}`
}

describe("checkHeaderContext", () => {
  const LEGACY = "header: late-legacy-block"
  const mainnet = withOverrides(mainnetParams, { activation: { bip34: Infinity, bip66: Infinity, bip65: Infinity } })
  const testnet = withOverrides(testnetParams, { activation: { bip34: Infinity, bip66: Infinity, bip65: Infinity } })
  const before = (height: number) => ({ height: height - 1, time: 1_700_000_000, bits: REGTEST_BITS })

  it.each([
    { params: mainnet, height: 19_199, reason: undefined },
    { params: mainnet, height: 19_200, reason: LEGACY },
    { params: testnet, height: 19_200, reason: undefined },
    { params: testnet, height: 1_000_000, reason: undefined },
    { params: regtestParams, height: 1, reason: LEGACY }
  ])("rule 5: a legacy block at height $height of $params.network.name: $reason", ({ height, params, reason }) => {
    const prev = before(height)
    assert.strictEqual(verdict({ parts: { version: 1 }, prev, params }), reason)
    const modern = { version: 0x00010004 }
    assert.isUndefined(verdict({ parts: modern, prev, params }))
  })

  it("rule 6: the bits must be the required ones", () => {
    assert.isUndefined(verdict())
    assert.strictEqual(verdict({ parts: { bits: 0x207ffffe } }), "header: bad-diffbits")
    assert.strictEqual(verdict({ parts: { bits: 0x1f7fffff } }), "header: bad-diffbits")
  })

  it("rule 7: the time is later than the median time past", () => {
    const medianTimePast = 1_699_990_000
    assert.isUndefined(verdict({ parts: { time: medianTimePast + 1 }, medianTimePast }))
    assert.strictEqual(verdict({ parts: { time: medianTimePast }, medianTimePast }), "header: time-too-old")
  })

  it("rule 8: only with BIP 94 is there a lower bound at the first block of a period", () => {
    const at = (height: number, before: number, limitsTimewarp = true) => {
      const prev = { height: height - 1, time: 1_700_000_000, bits: REGTEST_BITS }
      const params = withOverrides(regtestParams, { limitsTimewarp })
      return verdict({ parts: { time: prev.time - before }, prev, medianTimePast: prev.time - 3000, params })
    }
    assert.isUndefined(at(144, 601, false))
    assert.strictEqual(at(144, 601), "header: time-timewarp-attack")
    assert.isUndefined(at(144, 600))
    assert.isUndefined(at(145, 601))
  })

  it("rule 9: the time is at most two hours ahead of the clock, and the refusal is temporary", () => {
    const now = 1_700_001_000
    assert.isUndefined(verdict({ parts: { time: now + 7200 }, now }))
    assert.strictEqual(verdict({ parts: { time: now + 7201 }, now }), "time-future: time-too-new")
  })

  it.each([
    { version: 0x00010004, at: 1000, reason: undefined },
    { version: 0x00010003, at: 1000, reason: "header: bad-version(0x00010003)" },
    { version: 0x00010003, at: 999, reason: undefined },
    { version: 0x00010002, at: 999, reason: undefined },
    { version: 0x000100ff, at: 1000, reason: undefined },
    { version: 0x00010100, at: 1000, reason: "header: bad-version(0x00010100)" },
    { version: -1, at: 1000, reason: "header: bad-version(0xffffffff)" }
  ])("rule 10: version $version where BIP 65 holds from $at of height 1000: $reason", ({ at, reason, version }) => {
    const activation = { bip34: Infinity, bip66: Infinity, bip65: at === 1000 ? 1000 : 1001 }
    assert.strictEqual(verdict({ parts: { version }, params: withOverrides(regtestParams, { activation }) }), reason)
  })

  it.each(
    [
      { rule: "bip34", least: 2 },
      { rule: "bip66", least: 3 },
      { rule: "bip65", least: 4 }
    ] as const
  )("rule 10: $rule demands base version $least", ({ least, rule }) => {
    const none = { bip34: Infinity, bip66: Infinity, bip65: Infinity }
    const at = (height: number) => withOverrides(regtestParams, { activation: { ...none, [rule]: height } })
    const version = 0x00010000 + least
    assert.isUndefined(verdict({ parts: { version }, params: at(1000) }))
    assert.isUndefined(verdict({ parts: { version: version - 1 }, params: at(1001) }))
    const reason = `header: bad-version(0x0001000${least - 1})`
    assert.strictEqual(verdict({ parts: { version: version - 1 }, params: at(1000) }), reason)
  })

  it("3.5: the first violated rule gives the reason", () => {
    const wrong = { version: 1, bits: 0x1f7fffff, time: 0 }
    assert.strictEqual(verdict({ parts: wrong }), LEGACY)
    assert.strictEqual(verdict({ parts: { ...wrong, version: 0x00010001 } }), "header: bad-diffbits")
    assert.strictEqual(verdict({ parts: { time: 0, version: 0x00010001 } }), "header: time-too-old")
    const future = { time: 1_800_000_000, version: 0x00010001 }
    assert.strictEqual(verdict({ parts: future }), "time-future: time-too-new")
  })
})

describeShared(
  "mainnet_alt.json: a chain of 2,016 blocks with real work, on top of Bitcoin's genesis block",
  () => {
    const BITCOIN_GENESIS =
      "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e6776" +
      "8f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c"
    const PAYEE = fromHex("76a914eadbac7f36c37e39361168b7aaee3cb24a25312d88ac") ?? EMPTY
    const chain = fixtureJson<Readonly<Record<"timestamps" | "nonces", ReadonlyArray<number>>>>(
      "core/functional/mainnet_alt.json"
    )
    // The parent chain has no chain ids; up to here it retargets as Namecoin does.
    const params = { ...mainnetParams, strictChainId: false }

    /** The file has the times and nonces; all other fields follow from the height. */
    const headers = () => {
      const built = [new Header(fromHex(BITCOIN_GENESIS) ?? EMPTY)]
      for (const [i, time] of chain.timestamps.entries()) {
        const height = i + 1
        const script = concat(heightScript(height), height <= 16 ? Uint8Array.of(Op.OP_0) : EMPTY)
        const coinbase = currency([coinbaseInput(script)], [{ value: 50 * COIN, script: PAYEE }])
        built.push(makeHeader({
          version: 0x20000000,
          prevHash: built[i]?.hash ?? ZERO,
          merkleRoot: coinbase.txid,
          time,
          bits: height < 2016 ? 0x1d00ffff : 0x1c3fffc0,
          nonce: chain.nonces[i] ?? 0
        }))
      }
      return built
    }

    it("the chain follows all rules, and the difficulty rises to four times as much at its end", () => {
      const built = headers()
      const point = (height: number) => ({ height, time: built[height]?.time ?? 0, bits: built[height]?.bits ?? 0 })
      for (const [height, header] of built.entries()) {
        assert.isUndefined(checkProofOfWork({ header, auxpow: undefined }, params), `work of ${height}`)
        if (height === 0) continue
        const past = built.slice(Math.max(0, height - 11), height).map(({ time }) => time).sort((a, b) => a - b)
        const place = { prev: point(height - 1), medianTimePast: past[past.length >> 1] ?? 0, ancestor: point, params }
        assert.isUndefined(checkHeaderContext({ header, now: 1_300_000_000, ...place }), `place of ${height}`)
        const softer = makeHeader({ ...partsOf(header), bits: 0x1d00fffe })
        assert.strictEqual(checkHeaderContext({ header: softer, now: 1_300_000_000, ...place })?.reason, "bad-diffbits")
      }
      assert.strictEqual(built.length, 2017)
      assert.strictEqual(difficultyOf(built[2016]?.bits ?? 0), 4)
    })
  }
)
