import { assert, describe, it } from "@effect/vitest"
import { NO_FLAGS } from "../../src/consensus/flags.ts"
import { historicBugsOf } from "../../src/consensus/historicBugs.ts"
import { checkInputs } from "../../src/consensus/inputs.ts"
import { nameScripts } from "../../src/consensus/names.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { Coin } from "../../src/consensus/view.ts"
import { MAX_MONEY } from "../../src/protocol/amount.ts"
import { displayHash, EMPTY } from "../../src/protocol/bytes.ts"
import { NO_WITNESS, outpoint } from "../../src/protocol/transaction.ts"
import { ANYONE, currency } from "../support/regtest.ts"

const HEIGHT = 1000

const coin = (value: number, overrides: Partial<Coin> = {}): Coin => ({
  value,
  script: ANYONE,
  height: 1,
  coinbase: false,
  ...overrides
})

/** The result for a transaction that spends these coins and pays these values. */
const spend = (coins: ReadonlyArray<Coin | undefined>, values: ReadonlyArray<number>, exempt = false) => {
  const inputs = coins.map((_, i) => ({
    prevout: outpoint(new Uint8Array(32).fill(1), i),
    scriptSig: EMPTY,
    sequence: 0,
    witness: NO_WITNESS
  }))
  const transaction = currency(inputs, values.map((value) => ({ value, script: ANYONE })))
  const bugs = historicBugsOf(exempt ? [[HEIGHT, displayHash(transaction.txid), "ignore"]] : [])
  const result = checkInputs({
    transaction,
    coins,
    scripts: nameScripts(transaction, coins),
    height: HEIGHT,
    params: { ...regtestParams, historicBugs: bugs },
    flags: NO_FLAGS,
    claim: () => undefined
  })
  return "reason" in result ? [result.reason, result.detail] : result.fee
}

describe("checkInputs", () => {
  it("the fee is the difference of the inputs and the outputs", () => {
    assert.strictEqual(spend([coin(5), coin(7)], [3, 4]), 5)
    assert.strictEqual(spend([coin(5)], [5]), 0)
  })

  it("every coin must exist: by the name rules, and for exempt transactions by the rule of missing inputs", () => {
    const missing = "bad-txns-inputs-missingorspent"
    assert.deepStrictEqual(spend([coin(5), undefined], [3]), [missing, "Failed to fetch name input coin"])
    assert.deepStrictEqual(spend([coin(5), undefined], [3], true), [missing, "CheckTxInputs: inputs missing/spent"])
  })

  it.each([
    { depth: 0, coinbase: true, refused: true },
    { depth: 99, coinbase: true, refused: true },
    { depth: 100, coinbase: true, refused: false },
    { depth: 0, coinbase: false, refused: false }
  ])("a coin $depth deep, of a coinbase: $coinbase; refused: $refused", ({ coinbase, depth, refused }) => {
    const result = spend([coin(5, { height: HEIGHT - depth, coinbase })], [1])
    const words = `tried to spend coinbase at depth ${depth}`
    assert.deepStrictEqual(result, refused ? ["bad-txns-premature-spend-of-coinbase", words] : 4)
  })

  it("no coin and no sum of coins exceeds the maximum amount of money", () => {
    assert.strictEqual(spend([coin(MAX_MONEY)], [1]), MAX_MONEY - 1)
    assert.deepStrictEqual(spend([coin(MAX_MONEY + 1)], [1]), ["bad-txns-inputvalues-outofrange", undefined])
    assert.deepStrictEqual(spend([coin(MAX_MONEY), coin(1)], [1]), ["bad-txns-inputvalues-outofrange", undefined])
    assert.deepStrictEqual(spend([coin(-1)], [0]), ["bad-txns-inputvalues-outofrange", undefined])
    assert.deepStrictEqual(spend([coin(5), coin(-1)], [0]), ["bad-txns-inputvalues-outofrange", undefined])
  })

  it.each([
    { value: 40_000_000, out: 40_000_001, words: "value in (0.40) < value out (0.40000001)" },
    { value: 0, out: 1, words: "value in (0.00) < value out (0.00000001)" },
    { value: 1_234_500_000, out: 1_234_567_800, words: "value in (12.345) < value out (12.345678)" },
    { value: 100_000_000, out: 200_000_000, words: "value in (1.00) < value out (2.00)" }
  ])("the outputs are at most the inputs: $words", ({ out, value, words }) => {
    assert.deepStrictEqual(spend([coin(value)], [out]), ["bad-txns-in-belowout", words])
  })

  it("maturity is checked before amounts", () => {
    const young = coin(5, { height: HEIGHT, coinbase: true })
    assert.deepStrictEqual(spend([young], [6]), [
      "bad-txns-premature-spend-of-coinbase",
      "tried to spend coinbase at depth 0"
    ])
  })
})
