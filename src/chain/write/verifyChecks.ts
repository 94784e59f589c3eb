import { verifyTransaction } from "../../consensus/verifyInput.ts"
import type { ScriptCheck } from "../../consensus/view.ts"
import type { ScriptFailure } from "./verifyMessage.ts"

/** Checks the scripts of some transactions of one block. Returns the first failure. */
export const verifyChecks = (
  checks: ReadonlyArray<ScriptCheck>,
  { block, flags }: { readonly block: number; readonly flags: number }
): ScriptFailure | undefined => {
  for (const check of checks) {
    const failed = verifyTransaction(check, flags)
    if (failed !== undefined) {
      return { block, txid: check.transaction.txid, input: failed.index, error: failed.message, flags }
    }
  }
  return undefined
}
