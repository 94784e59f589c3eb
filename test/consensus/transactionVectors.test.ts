import { assert, describe, it } from "@effect/vitest"
import { Flag, flagNames, parseFlagNames } from "../../src/consensus/flags.ts"
import { checkTransaction } from "../../src/consensus/transaction.ts"
import { verifyTransaction } from "../../src/consensus/verifyInput.ts"
import type { ScriptCheck } from "../../src/consensus/view.ts"
import { fromHex, parseDisplayHash } from "../../src/protocol/bytes.ts"
import { decodeTransaction, outpoint, outpointKey } from "../../src/protocol/transaction.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"
import { parseScript } from "../support/scriptAssembly.ts"
import { coinOf } from "../support/spending.ts"

/**
 * The reference node's tx_valid.json and tx_invalid.json: the outputs that are spent, a transaction, and flags: those
 * under which it is not valid, or under which it is invalid. Namecoin enforces all of them.
 * Rules of the format: upstream `test/transaction_tests.cpp`.
 */

type Spent = readonly [txid: string, index: number, script: string, amount?: number]

type Row = readonly [string] | readonly [spent: ReadonlyArray<Spent>, transaction: string, flags: string]

interface Case {
  readonly title: string
  readonly check: ScriptCheck
  /** From the row; `undefined` for a transaction that is malformed independent of its scripts. */
  readonly flags: number | undefined
}

const ALL_FLAGS = Object.values(Flag).reduce((all, flag) => all | flag, 0)

const readCheck = (spent: ReadonlyArray<Spent>, hex: string): ScriptCheck => {
  const coins = new Map(spent.map(([txid, index, script, amount]) => {
    const hash = parseDisplayHash(txid)
    if (hash === undefined) throw new Error(`no txid: ${txid}`)
    return [outpointKey(outpoint(hash, index)), coinOf(parseScript(script), amount)]
  }))
  const bytes = fromHex(hex)
  if (bytes === undefined) throw new Error(`no transaction: ${hex}`)
  const transaction = decodeTransaction(bytes)
  return {
    transaction,
    coins: transaction.inputs.map(({ prevout }) => coins.get(outpointKey(prevout)) ?? coinOf(bytes))
  }
}

const readCases = (file: string): ReadonlyArray<Case> =>
  fixtureJson<Array<Row>>(file).flatMap((row): ReadonlyArray<Case> => {
    if (row.length === 1) return []
    const [spent, hex, names] = row
    if (names === "BADTX") return [{ title: hex, check: readCheck(spent, hex), flags: undefined }]
    const flags = parseFlagNames(names.split(",").filter((name) => name !== "" && name !== "NONE"))
    if (flags === undefined) throw new Error(`unknown flags: ${names}`)
    return [{ title: hex, check: readCheck(spent, hex), flags }]
  })

/** Removes the flags that need missing flags. */
const trim = (flags: number): number => {
  const witness = (flags & Flag.P2SH) === 0 ? flags & ~Flag.WITNESS : flags
  return (witness & Flag.WITNESS) === 0 ? witness & ~Flag.CLEANSTACK : witness
}

/** Adds the flags that others need. */
const fill = (flags: number): number => {
  const clean = (flags & Flag.CLEANSTACK) === 0 ? flags : flags | Flag.WITNESS
  return (clean & Flag.WITNESS) === 0 ? clean : clean | Flag.P2SH
}

const without = (flags: number): ReadonlyArray<number> => [
  ...new Set(Object.values(Flag).map((flag) => trim(flags & ~flag)).filter((fewer) => fewer !== flags))
]

const isValid = ({ check }: Case, flags: number): boolean => verifyTransaction(check, flags) === undefined

const names = (flags: number): string => flagNames(flags).join(",")

describe.skipIf(!hasShared)("tx_valid.json", () => {
  const cases = hasShared ? readCases("core/unit/tx_valid.json") : []

  it("the file has 121 transactions", () => assert.strictEqual(cases.length, 121))

  it("every transaction is valid under all flags except those of its row, and under fewer", () => {
    for (const row of cases) {
      const excluded = row.flags ?? 0
      assert.isUndefined(checkTransaction(row.check.transaction), row.title)
      assert.isTrue(isValid(row, ALL_FLAGS & ~excluded), row.title)
      for (const flag of Object.values(Flag)) {
        assert.isTrue(isValid(row, trim(ALL_FLAGS & ~(excluded | flag))), `${names(flag)} for ${row.title}`)
      }
    }
  })

  it("every transaction is invalid under any flag of its row", () => {
    for (const row of cases) {
      for (const excluded of without(row.flags ?? 0)) {
        assert.isFalse(isValid(row, ALL_FLAGS & ~excluded), `without ${names(excluded)}: ${row.title}`)
      }
    }
  })
})

describe.skipIf(!hasShared)("tx_invalid.json", () => {
  const all = hasShared ? readCases("core/unit/tx_invalid.json") : []
  const cases = all.filter((row) => row.flags !== undefined)

  it("the file has 93 transactions, 9 of them malformed", () => {
    assert.strictEqual(all.length, 93)
    assert.strictEqual(all.length - cases.length, 9)
  })

  it("the malformed transactions are refused independent of their scripts", () => {
    for (const row of all) {
      assert.strictEqual(checkTransaction(row.check.transaction) === undefined, row.flags !== undefined, row.title)
    }
  })

  it("every other transaction is invalid under the flags of its row, and under more", () => {
    for (const row of cases) {
      const flags = row.flags ?? 0
      assert.isFalse(isValid(row, flags), row.title)
      for (const flag of Object.values(Flag)) {
        assert.isFalse(isValid(row, fill(flags | flag)), `${names(flag)} for ${row.title}`)
      }
    }
  })

  it("every other transaction is valid without any one flag of its row", () => {
    for (const row of cases) {
      for (const fewer of without(row.flags ?? 0)) {
        assert.isTrue(isValid(row, fewer), `${names(fewer)} for ${row.title}`)
      }
    }
  })
})
