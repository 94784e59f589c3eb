import { MAX_BLOCK_WEIGHT } from "../../consensus/params.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { MAX_SCRIPT_SIZE } from "../../protocol/script.ts"
import { hasValidOperations } from "../../protocol/scriptOperations.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"

/** Reads callers' transactions. The bytes of a transaction without inputs have two possible readings. */

/** Maximum bytes of a transaction: every byte weighs at least 1, so no block has room for more. */
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

/** Whether all scripts of the transaction parse, which makes a wrong reading unlikely. */
const isSane = (transaction: Transaction): boolean =>
  (transaction.isCoinbase || transaction.inputs.every(({ scriptSig }) => isSaneScript(scriptSig))) &&
  transaction.outputs.every(({ script }) => isSaneScript(script))

/**
 * Reads a transaction that takes all the bytes; `undefined` if they are not one. Bytes that begin like the extended
 * format of BIP 144 may be a transaction without inputs. The reading with sane scripts is used, and the extended one if
 * both or neither have them. `witness` restricts reading to one format. Source: upstream `core_io.cpp`, `DecodeTx`.
 */
export const decodeAnyTransaction = (bytes: Bytes, witness?: boolean): Transaction | undefined => {
  if (bytes.length > MAX_TRANSACTION) return undefined
  const extended = witness === false ? undefined : attempt(bytes, true)
  if (extended !== undefined && isSane(extended)) return extended
  const legacy = witness === true ? undefined : attempt(bytes, false)
  return legacy !== undefined && (extended === undefined || isSane(legacy)) ? legacy : extended
}

/**
 * Reads a transaction that has inputs; `undefined` if the bytes are not one. For methods that do not build transactions:
 * upstream reads the format with witnesses alone there, in which bytes without inputs are something else.
 */
export const decodeWithInputs = (bytes: Bytes): Transaction | undefined => {
  const transaction = decodeAnyTransaction(bytes, true)
  return transaction === undefined || transaction.inputs.length === 0 ? undefined : transaction
}
