import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import { decodeTransaction, inputSpending } from "../protocol/transaction.ts"
import { SighashContext } from "./sighash.ts"
import { verifyInput } from "./verifyInput.ts"
import type { Coin } from "./view.ts"

// Whether the owner of a name allowed the next operation. Operations on a name form a chain: each NAME_UPDATE spends
// the output of the one before, with the owner's signature in that input.

/** A NAME_UPDATE, the operation that it must spend, and the rules of its block. Plain data for worker threads. */
export interface LinkCheck {
  readonly tx: Bytes
  readonly before: { readonly tx: Bytes; readonly vout: number }
  /** `blockFlags` of its block. */
  readonly flags: number
}

/** Stands for unknown coins, which other inputs spend. */
const UNKNOWN: Coin = { value: 0, script: EMPTY, height: 0, coinbase: false }

/**
 * Whether an operation spends the previous one with a valid script in that input. Taproot signatures cover all spent
 * coins, which are unknown here, so they count as missing.
 */
export const isSigned = ({ before, flags, tx }: LinkCheck): boolean => {
  const transaction = decodeTransaction(tx)
  const spent = decodeTransaction(before.tx)
  const index = inputSpending(transaction, spent.txid, before.vout)
  const output = spent.outputs[before.vout]
  if (index < 0 || output === undefined) return false
  const coins = transaction.inputs.map((_, i) => i === index ? { ...UNKNOWN, ...output } : UNKNOWN)
  return verifyInput({ context: new SighashContext(transaction, coins), index, flags }) === undefined
}
