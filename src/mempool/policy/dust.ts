import { WITNESS_SCALE_FACTOR } from "../../consensus/params.ts"
import { type Reject, reject } from "../../consensus/Reject.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import { isUnspendable, witnessVersion } from "../../protocol/script.ts"
import {
  outpoint,
  outpointKey,
  outputSize,
  type Transaction,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import type { PoolEntry } from "../PoolEntry.ts"
import { feeOf } from "./feeRate.ts"
import { DUST_FEE_RATE } from "./limits.ts"

// Outputs that cost more to spend than their value. A transaction without a fee may have one if every transaction that
// spends any of its outputs spends that one too: such dust does not outlive its block.

/** Bytes of an input without its signature data: outpoint, script length, sequence. */
const INPUT_SIZE = 32 + 4 + 1 + 4

/** Bytes of a signature and a key with their lengths. In a witness they count for a quarter. */
const UNLOCK_SIZE = 107
const WITNESS_UNLOCK_SIZE = Math.floor(UNLOCK_SIZE / WITNESS_SCALE_FACTOR)

/**
 * The smallest value, in smallest units, at which an output is worth spending; 0 if unspendable. A name prefix counts
 * as bytes; the script after it decides on the witness discount. Source: upstream `policy/policy.cpp`,
 * `GetDustThreshold`.
 */
export const dustThreshold = (output: TransactionOutput, feeRate = DUST_FEE_RATE): number => {
  if (isUnspendable(output.script)) return 0
  const hasWitness = witnessVersion(addressScript(output.script)) !== -1
  return feeOf(feeRate, outputSize(output) + INPUT_SIZE + (hasWitness ? WITNESS_UNLOCK_SIZE : UNLOCK_SIZE))
}

/** Whether an output is worth less than it costs to spend. */
export const isDust = (output: TransactionOutput, feeRate = DUST_FEE_RATE): boolean =>
  output.value < dustThreshold(output, feeRate)

export const dustOutputs = ({ outputs }: Transaction, feeRate = DUST_FEE_RATE): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (const [i, output] of outputs.entries()) if (isDust(output, feeRate)) found.push(i)
  return found
}

export type DustPayer = Pick<PoolEntry, "transaction" | "fee" | "modifiedFee">

/**
 * Refuses dust in a transaction with a fee or fee delta, as no miner may gain from mining it without its spender.
 * Source: upstream `policy/ephemeral_policy.cpp`, `PreCheckEphemeralTx`.
 */
export const checkDustFee = (
  { fee, modifiedFee, transaction }: DustPayer,
  dustRate = DUST_FEE_RATE
): Reject | undefined =>
  (fee !== 0 || modifiedFee !== 0) && dustOutputs(transaction, dustRate).length > 0
    ? reject("dust", "tx with dust output must be 0-fee")
    : undefined

/**
 * Refuses a transaction that spends from one of `parents`, in the pool or its package, but leaves its dust unspent.
 * Source: upstream `policy/ephemeral_policy.cpp`, `CheckEphemeralSpends`.
 */
export const checkDustSpent = (
  transaction: Transaction,
  parents: Iterable<Transaction>,
  dustRate = DUST_FEE_RATE
): Reject | undefined => {
  const unspent = new Set<OutpointKey>()
  for (const parent of parents) {
    for (const index of dustOutputs(parent, dustRate)) unspent.add(outpointKey(outpoint(parent.txid, index)))
  }
  if (unspent.size === 0) return undefined
  for (const { prevout } of transaction.inputs) unspent.delete(outpointKey(prevout))
  if (unspent.size === 0) return undefined
  const ids = `tx ${displayHash(transaction.txid)} (wtxid=${displayHash(transaction.wtxid)})`
  return reject("missing-ephemeral-spends", `${ids} did not spend parent's ephemeral dust`)
}
