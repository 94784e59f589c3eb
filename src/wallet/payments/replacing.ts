import { displayHash } from "../../protocol/bytes.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { invalidRequest, type InvalidWalletRequest } from "../errors.ts"
import type { LedgerEntry } from "../ledger/LedgerEntry.ts"
import type { WalletParts } from "../WalletParts.ts"

/** The mempool accepts only one transaction per registration step at a time (reference/protocol.md 5.6, M1 and M2). */
const registrationProblem = ({ outputs }: Transaction): string | undefined => {
  for (const { script } of outputs) {
    const op = parseNameScript(script)?.operation.op
    if (op === "name_new" || op === "name_firstupdate") {
      return `a ${op} cannot be replaced: the mempool takes no second one for the same name`
    }
  }
  return undefined
}

type Entry = Pick<LedgerEntry, "inputs" | "key" | "notes" | "outpoints" | "state" | "transaction">

const mined = "Transaction has been mined, or is conflicted with a mined transaction"

/** With `sends`, all inputs must belong to the wallet. Upstream `wallet/feebumper.cpp`, `PreconditionChecks`. */
export const replacementProblem = (
  { ledger, mempool }: Pick<WalletParts, "ledger" | "mempool">,
  { inputs, key, notes, outpoints, state, transaction }: Entry,
  sends: boolean
): InvalidWalletRequest | undefined => {
  if (outpoints.some((outpoint) => ledger.isSpent(outpoint))) {
    return invalidRequest("range", "Transaction has descendants in the wallet")
  }
  if (mempool.descendants(key).length > 0) return invalidRequest("range", "Transaction has descendants in the mempool")
  if (state.type === "confirmed" || state.type === "conflicted") return invalidRequest("not-eligible", mined)
  if (notes.replacedBy !== undefined) {
    return invalidRequest(
      "not-eligible",
      `Cannot bump transaction ${displayHash(transaction.txid)} which was already bumped by transaction ` +
        notes.replacedBy
    )
  }
  if (sends && inputs.some((input) => ledger.coin(input) === undefined)) {
    return invalidRequest("not-eligible", "Transaction contains inputs that don't belong to this wallet")
  }
  const registers = registrationProblem(transaction)
  return registers === undefined ? undefined : invalidRequest("not-eligible", registers)
}
