import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { blockFlags, Flag, flagNames, NO_FLAGS, parseFlagNames } from "../../src/consensus/flags.ts"
import { mainnetParams, regtestParams, testnetParams, withOverrides } from "../../src/consensus/params.ts"

const MAINNET_STEPS = [
  { height: 249_999, names: [] },
  { height: 250_000, names: ["DERSIG"] },
  { height: 334_999, names: ["DERSIG"] },
  { height: 335_000, names: ["CHECKLOCKTIMEVERIFY", "DERSIG"] },
  { height: 474_999, names: ["CHECKLOCKTIMEVERIFY", "DERSIG"] },
  {
    height: 475_000,
    names: ["CHECKLOCKTIMEVERIFY", "CHECKSEQUENCEVERIFY", "DERSIG", "NULLDUMMY", "P2SH", "WITNESS"]
  },
  {
    height: 10_000_000,
    names: ["CHECKLOCKTIMEVERIFY", "CHECKSEQUENCEVERIFY", "DERSIG", "NULLDUMMY", "P2SH", "WITNESS"]
  }
]

describe("blockFlags", () => {
  it.each(MAINNET_STEPS)("5.1 mainnet at height $height: $names", ({ height, names }) => {
    assert.deepStrictEqual(flagNames(blockFlags(height, mainnetParams)), names)
  })

  it.each([
    { height: 129_999, names: [] },
    { height: 130_000, names: ["CHECKLOCKTIMEVERIFY", "DERSIG"] },
    { height: 231_999, names: ["CHECKLOCKTIMEVERIFY", "DERSIG"] },
    {
      height: 232_000,
      names: ["CHECKLOCKTIMEVERIFY", "CHECKSEQUENCEVERIFY", "DERSIG", "NULLDUMMY", "P2SH", "WITNESS"]
    }
  ])("5.1 testnet at height $height: $names", ({ height, names }) => {
    assert.deepStrictEqual(flagNames(blockFlags(height, testnetParams)), names)
  })

  it("5.1 regtest has all flags from block 1 on, in the reference node's order", () => {
    assert.deepStrictEqual(flagNames(blockFlags(1, regtestParams)), [
      "CHECKLOCKTIMEVERIFY",
      "CHECKSEQUENCEVERIFY",
      "DERSIG",
      "NAMES_LONG_SALT",
      "NULLDUMMY",
      "P2SH",
      "TAPROOT",
      "WITNESS"
    ])
  })

  it("5.1 the long-salt rule activates with taproot", () => {
    const params = withOverrides(regtestParams, { activation: { taproot: 100 } })
    assert.strictEqual(blockFlags(99, params) & (Flag.TAPROOT | Flag.NAMES_LONG_SALT), 0)
    const both = Flag.TAPROOT | Flag.NAMES_LONG_SALT
    assert.strictEqual(blockFlags(100, params) & both, both)
  })
})

describe("flagNames and parseFlagNames", () => {
  const anyFlags = FastCheck.integer({ min: 0, max: Object.values(Flag).reduce((all, flag) => all | flag, 0) })

  it.prop("flagNames and parseFlagNames are inverse functions", { flags: anyFlags }, ({ flags }) => {
    assert.strictEqual(parseFlagNames(flagNames(flags)), flags)
  })

  it("parseFlagNames accepts no flags, and refuses unknown ones", () => {
    assert.strictEqual(parseFlagNames([]), NO_FLAGS)
    assert.isUndefined(parseFlagNames(["P2SH", "p2sh"]))
  })

  it("every flag has its own bit", () => {
    const bits = Object.values(Flag)
    assert.strictEqual(new Set(bits).size, bits.length)
    for (const bit of bits) assert.strictEqual(bit & (bit - 1), 0)
  })
})
