import { MAX_BLOCK_WEIGHT } from "../../consensus/params.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodedIf } from "../../protocol/Reader.ts"
import { MAX_SCRIPT_SIZE } from "../../protocol/script.ts"
import { hasValidOperations } from "../../protocol/scriptOperations.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"

/** Bytes. Each weighs at least 1, so nothing longer fits into a block. */
const MAX_TRANSACTION = MAX_BLOCK_WEIGHT

const attempt = (bytes: Bytes, witness: boolean): Transaction | undefined =>
  decodedIf(() => decodeTransaction(bytes, witness))

const isSaneScript = (script: Bytes): boolean => script.length <= MAX_SCRIPT_SIZE && hasValidOperations(script)

/** A wrong reading rarely leaves all scripts parsable. */
const isSane = (transaction: Transaction): boolean =>
  (transaction.isCoinbase || transaction.inputs.every(({ scriptSig }) => isSaneScript(scriptSig))) &&
  transaction.outputs.every(({ script }) => isSaneScript(script))

/**
 * Reads a transaction that takes all the bytes. Bytes that start like the extended format of BIP 144 may be a
 * transaction without inputs: prefers the reading with sane scripts, and the extended format otherwise. `witness` fixes
 * the format. Source: upstream `core_io.cpp`, `DecodeTx`.
 */
export const decodeAnyTransaction = (bytes: Bytes, witness?: boolean): Transaction | undefined => {
  if (bytes.length > MAX_TRANSACTION) return undefined
  const extended = witness === false ? undefined : attempt(bytes, true)
  if (extended !== undefined && isSane(extended)) return extended
  const legacy = witness === true ? undefined : attempt(bytes, false)
  return legacy !== undefined && (extended === undefined || isSane(legacy)) ? legacy : extended
}

/** Reads a transaction with inputs, in the format with witnesses only, as upstream does in methods that build none. */
export const decodeWithInputs = (bytes: Bytes): Transaction | undefined => {
  const transaction = decodeAnyTransaction(bytes, true)
  return transaction === undefined || transaction.inputs.length === 0 ? undefined : transaction
}
