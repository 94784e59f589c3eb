import { blockFlags } from "../consensus/flags.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { SighashContext } from "../consensus/sighash.ts"
import { verifyInput } from "../consensus/verifyInput.ts"
import type { Coin } from "../consensus/view.ts"
import { heightOfOperation } from "../names/NameEntry.ts"
import { EMPTY } from "../protocol/bytes.ts"
import { decodeTransaction } from "../protocol/transaction.ts"
import type { Link } from "./WindowFile.ts"

/** A coin that is not in the window: what other inputs of a transaction spend. */
const UNKNOWN: Coin = { value: 0, script: EMPTY, height: 0, coinbase: false }

/**
 * Whether the owner of a name signed an operation: the script of the input that spends the operation before it. A
 * signature of taproot covers all coins that a transaction spends; the window does not have them, so it counts as missing.
 */
export const verifyLink = ({ amount, id, input, script, tx }: Link, params: ConsensusParams): boolean => {
  const transaction = decodeTransaction(Uint8Array.from(tx))
  const spent: Coin = { ...UNKNOWN, value: amount, script: Uint8Array.from(script) }
  const coins = transaction.inputs.map((_, index) => index === input ? spent : UNKNOWN)
  const flags = blockFlags(heightOfOperation(id), params)
  return verifyInput({ context: new SighashContext(transaction, coins), index: input, flags }) === undefined
}
