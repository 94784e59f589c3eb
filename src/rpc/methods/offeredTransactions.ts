import * as Effect from "effect/Effect"
import { MAX_PACKAGE_COUNT } from "../../mempool/policy/limits.ts"
import { fromHex } from "../../protocol/bytes.ts"
import { isUnspendable } from "../../protocol/script.ts"
import { hasValidOperations } from "../../protocol/scriptOperations.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import { BURN_EXCEEDED, NO_INPUTS, PACKAGE_COUNT } from "../contract/mempool/offeredTransactions.ts"
import { RpcError } from "../method/RpcError.ts"
import { decodeWithInputs } from "../shapes/decodeTransaction.ts"

/** Transactions that callers offer to the mempool, and the limits that protect callers from mistakes. */

/** Decodes a transaction; `undefined` if it is malformed. */
export const readOffered = (hexstring: string): Transaction | undefined => {
  const bytes = fromHex(hexstring)
  return bytes === undefined ? undefined : decodeWithInputs(bytes)
}

/** Whether an output's amount is lost, as far as its script shows. */
const burns = ({ script }: TransactionOutput): boolean => isUnspendable(script) || !hasValidOperations(script)

/** Refuses outputs of which more than `most` smallest units would be lost. */
export const checkBurns = ({ outputs }: Transaction, most: number): Effect.Effect<void, RpcError> =>
  outputs.some((output) => burns(output) && output.value > most) ? RpcError.verifyError(BURN_EXCEEDED) : Effect.void

/** Decodes a transaction of several. */
export const decodeOffered = (hexstring: string): Effect.Effect<Transaction, RpcError> => {
  const transaction = readOffered(hexstring)
  return transaction === undefined
    ? RpcError.deserialization(`TX decode failed: ${hexstring} ${NO_INPUTS}`)
    : Effect.succeed(transaction)
}

export const checkPackageCount = ({ length }: ReadonlyArray<string>): Effect.Effect<void, RpcError> =>
  length < 1 || length > MAX_PACKAGE_COUNT ? RpcError.invalidParameter(PACKAGE_COUNT) : Effect.void
