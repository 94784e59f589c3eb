import { MAX_BLOCK_WEIGHT } from "../../consensus/params.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { MAX_SCRIPT_SIZE } from "../../protocol/script.ts"
import { hasValidOperations } from "../../protocol/scriptOperations.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"

/** Transactions as callers hand them in, where the bytes of one without inputs can be read in two ways. */

/** Bytes of a transaction: no block has room for more, as every byte weighs at least 1. */
const MAX_TRANSACTION = MAX_BLOCK_WEIGHT

const attempt = (bytes: Bytes, witness: boolean): Transaction | undefined => {
  try {
    return decodeTransaction(bytes, witness)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

const isSaneScript = (script: Bytes): boolean => script.length <= MAX_SCRIPT_SIZE && hasValidOperations(script)

/** Whether all its scripts can be read, so that the bytes were hardly taken for what they are not. */
const isSane = (transaction: Transaction): boolean =>
  (transaction.isCoinbase || transaction.inputs.every(({ scriptSig }) => isSaneScript(scriptSig))) &&
  transaction.outputs.every(({ script }) => isSaneScript(script))

/**
 * Reads a transaction that fills its bytes; `undefined` if they are none. What begins like the extended format of
 * BIP 144 may be a transaction without inputs: the reading whose scripts make sense is taken, the extended one where
 * both or none do. `witness` allows one format alone. Source: upstream `core_io.cpp`, `DecodeTx`.
 */
export const decodeAnyTransaction = (bytes: Bytes, witness?: boolean): Transaction | undefined => {
  if (bytes.length > MAX_TRANSACTION) return undefined
  const extended = witness === false ? undefined : attempt(bytes, true)
  if (extended !== undefined && isSane(extended)) return extended
  const legacy = witness === true ? undefined : attempt(bytes, false)
  return legacy !== undefined && (extended === undefined || isSane(legacy)) ? legacy : extended
}
