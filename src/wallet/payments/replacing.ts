import { displayHash } from "../../protocol/bytes.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { LedgerEntry } from "../ledger/LedgerEntry.ts"
import type { WalletParts } from "../WalletParts.ts"

/**
 * The steps of a registration cannot be replaced: the mempool accepts only one at a time (reference/protocol.md 5.6, M1
 * and M2).
 */
const registrationProblem = ({ outputs }: Transaction): string | undefined => {
  for (const { script } of outputs) {
    const op = parseNameScript(script)?.operation.op
    if (op === "name_new" || op === "name_firstupdate") {
      return `a ${op} cannot be replaced: the mempool takes no second one for the same name`
    }
  }
  return undefined
}

/** Why a wallet transaction cannot be replaced; `undefined` if it can. */
export const replacementProblem = (
  { ledger, mempool }: WalletParts,
  { inputs, key, notes, outpoints, state, transaction }: LedgerEntry
) => {
  if (outpoints.some((outpoint) => ledger.isSpent(outpoint))) return "Transaction has descendants in the wallet"
  if (mempool.descendants(key).length > 0) return "Transaction has descendants in the mempool"
  if (state.type === "confirmed" || state.type === "conflicted") {
    return "Transaction has been mined, or is conflicted with a mined transaction"
  }
  if (notes.replacedBy !== undefined) {
    return `Cannot bump transaction ${displayHash(transaction.txid)} which was already bumped by transaction ` +
      notes.replacedBy
  }
  if (inputs.length === 0 || inputs.some((input) => ledger.coin(input) === undefined)) {
    return "Transaction contains inputs that don't belong to this wallet"
  }
  return registrationProblem(transaction)
}
