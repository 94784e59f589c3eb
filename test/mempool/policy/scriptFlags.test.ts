import { assert, describe, it } from "@effect/vitest"
import { blockFlags, flagNames } from "../../../src/consensus/flags.ts"
import { mainnetParams, regtestParams, testnetParams, withOverrides } from "../../../src/consensus/params.ts"
import { consensusFlags, mandatoryFlags, standardFlags } from "../../../src/mempool/policy/scriptFlags.ts"

const MANDATORY = [
  "CHECKLOCKTIMEVERIFY",
  "CHECKSEQUENCEVERIFY",
  "DERSIG",
  "NAMES_MEMPOOL",
  "NULLDUMMY",
  "P2SH",
  "TAPROOT",
  "WITNESS"
]

const STANDARD = [
  ...MANDATORY,
  "CLEANSTACK",
  "CONST_SCRIPTCODE",
  "DISCOURAGE_OP_SUCCESS",
  "DISCOURAGE_UPGRADABLE_NOPS",
  "DISCOURAGE_UPGRADABLE_PUBKEYTYPE",
  "DISCOURAGE_UPGRADABLE_TAPROOT_VERSION",
  "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM",
  "LOW_S",
  "MINIMALDATA",
  "MINIMALIF",
  "NAMES_LONG_SALT",
  "NULLFAIL",
  "STRICTENC",
  "WITNESS_PUBKEYTYPE"
].sort()

describe("standardFlags", () => {
  it("applies on every network and at every height, with taproot and the long salt", () => {
    for (const params of [mainnetParams, testnetParams, regtestParams]) {
      for (const height of [0, 300_000, 900_000]) {
        assert.deepStrictEqual(flagNames(standardFlags(height, params)), STANDARD)
      }
    }
  })
})

describe("mandatoryFlags", () => {
  it("leaves out flags of policy, and the long salt if blocks do not require it", () => {
    assert.deepStrictEqual(flagNames(mandatoryFlags(900_000, mainnetParams)), MANDATORY)
    assert.deepStrictEqual(
      flagNames(mandatoryFlags(1, regtestParams)),
      [...MANDATORY, "NAMES_LONG_SALT"].sort()
    )
    const withoutTaproot = withOverrides(regtestParams, { activation: { taproot: Infinity } })
    assert.deepStrictEqual(flagNames(mandatoryFlags(1, withoutTaproot)), MANDATORY)
  })
})

describe("consensusFlags", () => {
  it("has the flags of a block at the height, and the mempool rules of names", () => {
    assert.deepStrictEqual(flagNames(consensusFlags(0, mainnetParams)), ["NAMES_MEMPOOL"])
    assert.deepStrictEqual(
      flagNames(consensusFlags(475_000, mainnetParams)),
      MANDATORY.filter((name) => name !== "TAPROOT")
    )
  })

  it("is never more than the standard flags", () => {
    for (const height of [0, 250_000, 335_000, 475_000]) {
      assert.strictEqual(blockFlags(height, mainnetParams) & ~standardFlags(height, mainnetParams), 0)
    }
  })
})
