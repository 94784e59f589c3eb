import { blockFlags } from "../consensus/flags.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { SighashContext } from "../consensus/sighash.ts"
import { verifyInput } from "../consensus/verifyInput.ts"
import type { Coin } from "../consensus/view.ts"
import { heightOfOperation } from "../names/NameEntry.ts"
import { EMPTY } from "../protocol/bytes.ts"
import { decodeTransaction } from "../protocol/transaction.ts"
import type { Link, Proof } from "./WindowFile.ts"

/** Whether all known operations on a name are signed, and none is known to be missing. */
export const allSigned = ({ broken, tail, unchecked }: Proof): boolean =>
  tail === undefined && unchecked === 0 && broken === undefined

/** A link with the rules of its block: what a worker thread needs. */
export interface LinkCheck extends Pick<Link, "amount" | "input" | "script" | "tx"> {
  readonly flags: number
}

/** A coin that is not in the window: what other inputs of a transaction spend. */
const UNKNOWN: Coin = { value: 0, script: EMPTY, height: 0, coinbase: false }

export const checkOf = ({ amount, id, input, script, tx }: Link, params: ConsensusParams): LinkCheck => ({
  amount,
  input,
  script,
  tx,
  flags: blockFlags(heightOfOperation(id), params)
})

/**
 * Whether the owner of a name signed an operation: the script of the input that spends the operation before it. A
 * signature of taproot covers all coins that a transaction spends; the window does not have them, so it counts as missing.
 */
export const isSigned = ({ amount, flags, input, script, tx }: LinkCheck): boolean => {
  const transaction = decodeTransaction(Uint8Array.from(tx))
  const spent: Coin = { ...UNKNOWN, value: amount, script: Uint8Array.from(script) }
  const coins = transaction.inputs.map((_, index) => index === input ? spent : UNKNOWN)
  return verifyInput({ context: new SighashContext(transaction, coins), index: input, flags }) === undefined
}

export const verifyLink = (link: Link, params: ConsensusParams): boolean => isSigned(checkOf(link, params))
