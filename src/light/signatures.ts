import { expirationDepth, isExpired } from "../consensus/expiry.ts"
import { blockFlags } from "../consensus/flags.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { SighashContext } from "../consensus/sighash.ts"
import { verifyInput } from "../consensus/verifyInput.ts"
import type { Coin } from "../consensus/view.ts"
import { heightOfOperation } from "../names/NameEntry.ts"
import { EMPTY } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { decodeTransaction, outpoint, outpointKey, type Transaction } from "../protocol/transaction.ts"
import type { LinkRow, Proof, WindowOperation } from "./WindowFile.ts"

// Whether each owner of a name allowed the next operation. Operations on a name form a chain: each NAME_UPDATE spends
// the output of the one before, with the owner's signature in that input.

/** Whether all operations on a name are checked and allowed by their owners. */
export const allSigned = ({ invalid, unchecked }: Proof): boolean => unchecked === 0 && invalid === 0

/** A NAME_UPDATE, the operation that it must spend, and the rules of its block, for a worker thread. */
export interface LinkCheck extends Pick<WindowOperation, "tx"> {
  readonly before: Pick<WindowOperation, "tx" | "vout">
  readonly flags: number
}

export interface LinkRules {
  readonly params: ConsensusParams
  readonly low: Height
}

/** The verdict on an operation if no signature decides it, else the check of the signature. */
export const checkOf = ({ before, first, id, tx }: LinkRow, { low, params }: LinkRules): LinkCheck | boolean => {
  const height = heightOfOperation(id)
  // The previous operation may be below the window. Then this one is taken from the chain on trust, unless a living
  // name would have it in the window: then there is nothing to update.
  if (before === undefined) return first || low > Math.max(1, height - expirationDepth(height, params) + 1)
  const lived = !isExpired({ height: heightOfOperation(before.id) }, height, params)
  // A name must be free to be registered. An expired name cannot be updated, even by its owner.
  if (first || !lived) return first && !lived
  return { tx, before: { tx: before.tx, vout: before.vout }, flags: blockFlags(height, params) }
}

/** The input that spends an output; -1 for none. */
const inputSpending = ({ inputs }: Transaction, { txid }: Transaction, vout: number): number => {
  const key = outpointKey(outpoint(txid, vout))
  return inputs.findIndex(({ prevout }) => outpointKey(prevout) === key)
}

/** Stands for coins outside the window, which other inputs spend. */
const UNKNOWN: Coin = { value: 0, script: EMPTY, height: 0, coinbase: false }

/**
 * Whether an operation spends the previous one with a valid script in that input. Taproot signatures cover all spent
 * coins, which the window lacks, so they count as missing.
 */
export const isSigned = ({ before, flags, tx }: LinkCheck): boolean => {
  const transaction = decodeTransaction(tx)
  const spent = decodeTransaction(before.tx)
  const index = inputSpending(transaction, spent, before.vout)
  const output = spent.outputs[before.vout]
  if (index < 0 || output === undefined) return false
  const coins = transaction.inputs.map((_, i) => i === index ? { ...UNKNOWN, ...output } : UNKNOWN)
  return verifyInput({ context: new SighashContext(transaction, coins), index, flags }) === undefined
}

export const verifyLink = (link: LinkRow, rules: LinkRules): boolean => {
  const check = checkOf(link, rules)
  return typeof check === "boolean" ? check : isSigned(check)
}
