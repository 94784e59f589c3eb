import { assert, describe, it } from "@effect/vitest"
import { Flag } from "../../src/consensus/flags.ts"
import { SighashContext } from "../../src/consensus/sighash.ts"
import { verifyInput, verifyTransaction } from "../../src/consensus/verifyInput.ts"
import { type Bytes, concat, EMPTY, fromHex } from "../../src/protocol/bytes.ts"
import { addressScript, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { decodeTransaction } from "../../src/protocol/transaction.ts"
import { bitcoinChecks } from "../support/bitcoinBlocks.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"
import { coinOf } from "../support/spending.ts"

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

/** The rules of the networks at the heights of the blocks below. */
const SEGWIT = Flag.P2SH | Flag.DERSIG | Flag.CHECKLOCKTIMEVERIFY | Flag.CHECKSEQUENCEVERIFY | Flag.WITNESS |
  Flag.NULLDUMMY

interface NameSpend {
  readonly source: string
  readonly tx: string
  readonly input: number
  readonly prevout_script: string
  readonly signature_valid: boolean
}

describe.skipIf(!hasShared)("namecoin-mainnet/transactions/name_spend_signature_vectors.json", () => {
  const rows = hasShared
    ? fixtureJson<Array<NameSpend>>("namecoin-mainnet/transactions/name_spend_signature_vectors.json")
    : []

  const verify = (row: NameSpend, script: Bytes, flags: number) => {
    const transaction = decodeTransaction(bytes(row.tx))
    const coins = transaction.inputs.map((_, i) => coinOf(i === row.input ? script : EMPTY))
    return verifyInput({ context: new SighashContext(transaction, coins), index: row.input, flags })
  }

  it("verifyInput accepts every real spend", () => {
    assert.strictEqual(rows.length, 11)
    for (const row of rows) {
      assert.isTrue(row.signature_valid)
      assert.isUndefined(verify(row, bytes(row.prevout_script), SEGWIT), row.source)
    }
  })

  it("verifyInput refuses the spends without the name prefix, which the signature covers", () => {
    const named = rows.filter((row) => parseNameScript(bytes(row.prevout_script)) !== undefined)
    assert.strictEqual(named.length, 8)
    for (const row of named) {
      const script = addressScript(bytes(row.prevout_script))
      assert.strictEqual(verify(row, script, SEGWIT), "EVAL_FALSE", row.source)
    }
  })

  it("verifyInput refuses the spends with another name", () => {
    for (const row of rows) {
      const script = bytes(row.prevout_script)
      if (parseNameScript(script) === undefined) continue
      const other = concat(script.subarray(0, 2), Uint8Array.of((script[2] ?? 0) ^ 1), script.subarray(3))
      assert.strictEqual(verify(row, other, SEGWIT), "EVAL_FALSE", row.source)
    }
  })
})

/**
 * Namecoin has no blocks this full: real ones of Bitcoin, with every output that they spend. The others in the folder
 * come without those.
 */
describe.skipIf(!hasShared)("bitcoin-blocks/bcoin", () => {
  it.each([
    { name: "block300025", flags: Flag.P2SH, inputs: 1427 },
    { name: "block928849", flags: SEGWIT, inputs: 8594 },
    { name: "block928927", flags: SEGWIT, inputs: 9983 },
    { name: "block1087400", flags: SEGWIT, inputs: 205 }
  ])("verifyInput accepts the $inputs inputs of $name", ({ flags, inputs, name }) => {
    const checks = bitcoinChecks(name)
    assert.strictEqual(checks.reduce((sum, { coins }) => sum + coins.length, 0), inputs)
    assert.deepStrictEqual(checks.flatMap((check) => verifyTransaction(check, flags) ?? []), [])
  })
})
