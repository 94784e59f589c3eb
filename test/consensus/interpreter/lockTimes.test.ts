import { assert, describe, it } from "@effect/vitest"
import { Flag } from "../../../src/consensus/flags.ts"
import { concat } from "../../../src/protocol/bytes.ts"
import { parseScript, pushNumber } from "../../support/scriptAssembly.ts"
import type { Unlock } from "../../support/spending.ts"
import { run, runText } from "./running.ts"

describe("evaluate: lock times", () => {
  const cltv = (wanted: number, unlock: Unlock): string =>
    run(concat(pushNumber(wanted), parseScript("CHECKLOCKTIMEVERIFY DROP")), {
      flags: Flag.CHECKLOCKTIMEVERIFY,
      unlock: { sequence: 0, ...unlock }
    })

  it.each([
    { wanted: 100, lockTime: 100, sequence: 0, result: "" },
    { wanted: 101, lockTime: 100, sequence: 0, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 100, lockTime: 100, sequence: 0xfffffffe, result: "" },
    { wanted: 100, lockTime: 100, sequence: 0xffffffff, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 499_999_999, lockTime: 499_999_999, sequence: 0, result: "" },
    { wanted: 499_999_999, lockTime: 500_000_000, sequence: 0, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 500_000_000, lockTime: 500_000_000, sequence: 0, result: "" },
    { wanted: 0xffffffff, lockTime: 0xffffffff, sequence: 0, result: "" },
    { wanted: 0xffffffff, lockTime: 0xfffffffe, sequence: 0, result: "UNSATISFIED_LOCKTIME" },
    { wanted: -1, lockTime: 100, sequence: 0, result: "NEGATIVE_LOCKTIME" }
  ])(
    "CLTV $wanted in a transaction for $lockTime with sequence $sequence: $result",
    ({ result, wanted, ...unlock }) => {
      assert.strictEqual(cltv(wanted, unlock), result)
    }
  )

  const csv = (wanted: number, unlock: Unlock): string =>
    run(concat(pushNumber(wanted), parseScript("CHECKSEQUENCEVERIFY DROP")), {
      flags: Flag.CHECKSEQUENCEVERIFY,
      unlock
    })

  it.each([
    { wanted: 100, sequence: 100, version: 2, result: "" },
    { wanted: 101, sequence: 100, version: 2, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 100, sequence: 100, version: 1, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 100, sequence: 100, version: 0x7100, result: "" },
    { wanted: 100, sequence: 100, version: 0xffffffff, result: "" },
    { wanted: 100, sequence: 0x80000064, version: 2, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 0x80000065, sequence: 100, version: 1, result: "" },
    { wanted: 0x400064, sequence: 0x400064, version: 2, result: "" },
    { wanted: 0x400064, sequence: 100, version: 2, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 100, sequence: 0x400064, version: 2, result: "UNSATISFIED_LOCKTIME" },
    { wanted: 0x01bf0064, sequence: 100, version: 2, result: "" },
    { wanted: 100, sequence: 0x01bf0064, version: 2, result: "" },
    { wanted: -1, sequence: 100, version: 2, result: "NEGATIVE_LOCKTIME" }
  ])("CSV $wanted with sequence $sequence and version $version: $result", ({ result, wanted, ...unlock }) => {
    assert.strictEqual(csv(wanted, unlock), result)
  })

  it("CSV uses the low 32 bits of a longer number, CLTV all of it", () => {
    const long = "0x05 0x0000000001"
    assert.strictEqual(
      runText(`${long} CHECKSEQUENCEVERIFY`, { flags: Flag.CHECKSEQUENCEVERIFY, unlock: { sequence: 0, version: 2 } }),
      "0000000001"
    )
    assert.strictEqual(
      runText(`${long} CHECKLOCKTIMEVERIFY`, { flags: Flag.CHECKLOCKTIMEVERIFY, unlock: { sequence: 0, lockTime: 5 } }),
      "UNSATISFIED_LOCKTIME"
    )
  })

  it("a lock time has at most five bytes, if the rule is active", () => {
    const flags = Flag.CHECKLOCKTIMEVERIFY | Flag.CHECKSEQUENCEVERIFY
    for (const word of ["CHECKLOCKTIMEVERIFY", "CHECKSEQUENCEVERIFY"]) {
      assert.strictEqual(runText(`0x06 0x000000000000 ${word}`, { flags }), "SCRIPTNUM")
      assert.strictEqual(runText(word, { flags }), "INVALID_STACK_OPERATION")
      assert.strictEqual(runText(`0x06 0x000000000000 ${word}`), "000000000000")
      assert.strictEqual(runText(word, { flags: Flag.DISCOURAGE_UPGRADABLE_NOPS }), "")
    }
  })
})
