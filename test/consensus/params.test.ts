import { assert, describe, it } from "@effect/vitest"
import { encodeCompact } from "../../src/consensus/difficulty.ts"
import { MAX_NAME_LENGTH, MAX_VALUE_LENGTH, MIN_FIRSTUPDATE_DEPTH, minNameAmount } from "../../src/consensus/names.ts"
import { mainnetParams, paramsOf, regtestParams, testnetParams, withOverrides } from "../../src/consensus/params.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { networks } from "../../src/protocol/networks.ts"
import { describeShared } from "../support/describeShared.ts"
import { fixtureJson } from "../support/fixtures.ts"

interface Facts {
  readonly pow_limit?: string
  readonly auxpow_chain_id: number
  readonly auxpow_start_height?: number
  readonly bip16_height?: number
  readonly bip34_height: number
  readonly bip65_height?: number
  readonly bip66_height?: number
  readonly csv_height?: number
  readonly segwit_height: number
  readonly subsidy_halving_interval?: number
  readonly minimum_chain_work?: string
  readonly assume_valid?: { readonly hash: string }
  readonly fixed_chain_id_strict?: boolean
  readonly legacy_blocks_before?: number
}

describe("paramsOf", () => {
  it.each(["mainnet", "testnet", "regtest"] as const)("paramsOf returns the rules of %s", (name) => {
    assert.strictEqual(paramsOf(networks[name]).network, networks[name])
  })

  it.each([
    { params: mainnetParams, compact: 0x1d00ffff },
    { params: testnetParams, compact: 0x1d0fffff },
    { params: regtestParams, compact: 0x207fffff }
  ])("the largest target of $params.network.name has its compact form", ({ compact, params }) => {
    assert.strictEqual(encodeCompact(params.powLimit), compact)
  })

  it("all networks have whole retarget periods", () => {
    for (const { retargetInterval, targetSpacing, targetTimespan } of [mainnetParams, testnetParams, regtestParams]) {
      assert.strictEqual(retargetInterval * targetSpacing, targetTimespan)
    }
    assert.strictEqual(mainnetParams.retargetInterval, 2016)
    assert.strictEqual(testnetParams.retargetInterval, 2016)
    assert.strictEqual(regtestParams.retargetInterval, 144)
  })

  it("only regtest activates taproot", () => {
    assert.strictEqual(mainnetParams.activation.taproot, Infinity)
    assert.strictEqual(testnetParams.activation.taproot, Infinity)
    assert.strictEqual(regtestParams.activation.taproot, 0)
  })
})

describeShared("network_params.json", () => {
  const facts = fixtureJson<Readonly<Record<"mainnet" | "testnet" | "regtest", Facts>>>(
    "namecoin-mainnet/params/network_params.json"
  )

  it.each([mainnetParams, testnetParams, regtestParams])(
    "the parameters agree with the rules of $network.name",
    (params) => {
      const { activation, assumeValid } = params
      const ours: Facts = {
        pow_limit: params.powLimit.toString(16).padStart(64, "0"),
        auxpow_chain_id: params.auxpowChainId,
        auxpow_start_height: params.auxpowStartHeight,
        bip16_height: activation.bip16,
        bip34_height: activation.bip34,
        bip65_height: activation.bip65,
        bip66_height: activation.bip66,
        csv_height: activation.csv,
        segwit_height: activation.segwit,
        subsidy_halving_interval: params.halvingInterval,
        minimum_chain_work: params.minimumChainWork.toString(16).padStart(64, "0"),
        fixed_chain_id_strict: params.strictChainId,
        legacy_blocks_before: params.legacyBlocksBefore
      }
      const theirs = facts[params.network.name]
      for (const [key, value] of Object.entries(ours)) {
        const given = Object.entries(theirs).find(([name]) => name === key)?.[1]
        if (given !== undefined) assert.strictEqual(value, given, key)
      }
      if (theirs.assume_valid !== undefined) {
        assert.strictEqual(assumeValid === undefined ? "" : displayHash(assumeValid), theirs.assume_valid.hash)
      }
    }
  )

  it("the parameters agree with the limits of names", () => {
    const limits = fixtureJson<{ readonly mainnet: Readonly<Record<string, unknown>> }>(
      "namecoin-mainnet/params/network_params.json"
    ).mainnet
    assert.strictEqual(limits["max_name_length"], MAX_NAME_LENGTH)
    assert.strictEqual(limits["max_value_length_consensus"], MAX_VALUE_LENGTH)
    assert.strictEqual(limits["min_firstupdate_depth"], MIN_FIRSTUPDATE_DEPTH)
    assert.strictEqual(limits["name_locked_amount_satoshi"], minNameAmount(1_000_000, mainnetParams))
  })
})

describe("withOverrides", () => {
  it("withOverrides changes only the named heights", () => {
    const moved = withOverrides(regtestParams, { activation: { csv: 500, taproot: Infinity } })
    assert.deepStrictEqual(moved.activation, { ...regtestParams.activation, csv: 500, taproot: Infinity })
    assert.deepStrictEqual({ ...moved, activation: regtestParams.activation }, regtestParams)
    assert.strictEqual(regtestParams.activation.csv, 1)
  })

  it("withOverrides without overrides changes nothing", () => {
    assert.deepStrictEqual(withOverrides(regtestParams, {}), regtestParams)
  })
})
