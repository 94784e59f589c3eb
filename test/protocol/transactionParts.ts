import { assert } from "@effect/vitest"
import { toHex } from "../../src/protocol/bytes.ts"
import { makeTransaction, type Transaction } from "../../src/protocol/transaction.ts"

/** Comparisons of transactions, part by part. */

/** The parts of a transaction, bytes as text, for comparisons. */
export const partsOf = ({ inputs, lockTime, outputs, version }: Transaction): object => ({
  version,
  lockTime,
  inputs: inputs.map(({ prevout, scriptSig, sequence, witness }) => [
    toHex(prevout),
    toHex(scriptSig),
    sequence,
    witness.map(toHex)
  ]),
  outputs: outputs.map(({ script, value }) => [value, toHex(script)])
})

/** Built again from its parts, a transaction is the same, hashes and sizes included. */
export const survivesRoundTrip = (transaction: Transaction): void => {
  const { inputs, lockTime, outputs, version } = transaction
  const again = makeTransaction({ version, inputs, outputs, lockTime })
  assert.strictEqual(toHex(again.bytes), toHex(transaction.bytes))
  assert.deepStrictEqual(partsOf(again), partsOf(transaction))
  for (const key of ["hasWitness", "size", "strippedSize", "weight", "virtualSize", "isCoinbase", "txidKey"] as const) {
    assert.strictEqual(again[key], transaction[key], key)
  }
  assert.strictEqual(toHex(again.wtxid), toHex(transaction.wtxid))
}
