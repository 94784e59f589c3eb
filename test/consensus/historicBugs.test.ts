import { assert, describe, it } from "@effect/vitest"
import { historicBug } from "../../src/consensus/historicBugs.ts"
import { mainnetParams, regtestParams, testnetParams } from "../../src/consensus/params.ts"
import { type Bytes, parseDisplayHash } from "../../src/protocol/bytes.ts"
import { describeShared } from "../support/describeShared.ts"
import { fixtureJson } from "../support/fixtures.ts"

const idOf = (display: string): Bytes => {
  const txid = parseDisplayHash(display)
  if (txid === undefined) throw new Error(`no txid: ${display}`)
  return txid
}

const D_BITCOIN = idOf("2f034f2499c136a2c5a922ca4be65c1292815c753bbb100a2a26d5ad532c3919")

describe("historicBug", () => {
  it.each([
    { height: 98_318, txid: "0ae5e958ff05ad8e273222656d98d076097def6d36f781a627c584b859f4727b", bug: "ignore" },
    { height: 99_381, txid: "774d4c446cecfc40b1c02fdc5a13be6d2007233f9d91daefab6b3c2e70042f05", bug: "apply" },
    { height: 139_872, txid: "2f034f2499c136a2c5a922ca4be65c1292815c753bbb100a2a26d5ad532c3919", bug: "utxo" },
    { height: 139_936, txid: "c3e76d5384139228221cce60250397d1b87adf7366086bc8d6b5e6eee03c55c7", bug: "ignore" },
    { height: 204_151, txid: "f31875dfaf94bd3a93cfbed0e22d405d1f2e49b4d0750cb13812adc5e57f1e47", bug: "ignore" }
  ])("4.9 height $height: $bug", ({ bug, height, txid }) => {
    assert.strictEqual(historicBug(height, idOf(txid), mainnetParams), bug)
  })

  it("4.9 an exception holds at its own height only, for its own transaction, on the main network", () => {
    assert.isUndefined(historicBug(139_871, D_BITCOIN, mainnetParams))
    assert.isUndefined(historicBug(139_873, D_BITCOIN, mainnetParams))
    assert.isUndefined(historicBug(139_872, D_BITCOIN.slice().reverse(), mainnetParams))
    assert.isUndefined(historicBug(139_872, D_BITCOIN, testnetParams))
    assert.isUndefined(historicBug(139_872, D_BITCOIN, regtestParams))
  })
})

describeShared("historic_bug_transactions.json", () => {
  const bugs = fixtureJson<
    ReadonlyArray<{ readonly height: number; readonly txid: string; readonly treatment: string }>
  >(
    "namecoin-mainnet/params/historic_bug_transactions.json"
  )

  it.each(bugs)("4.9 $height $txid: $treatment", ({ height, treatment, txid }) => {
    const found = historicBug(height, idOf(txid), mainnetParams)
    assert.isDefined(found)
    assert.isTrue(treatment.startsWith(found ?? "none"), `${found} is not ${treatment}`)
  })

  it("4.9 the list has all 19 exceptions", () => {
    assert.strictEqual(bugs.length, 19)
  })
})
