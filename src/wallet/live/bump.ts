import * as Effect from "effect/Effect"
import { feeOf, rateOf } from "../../mempool/policy/feeRate.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { outpointKey, type Transaction } from "../../protocol/transaction.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { LedgerEntry } from "../ledger/LedgerEntry.ts"
import type { PaymentRequest, Wallet } from "../Wallet.ts"
import { chooseRate, REPLACEMENT_RATE } from "./feeRate.ts"
import { keyOfTxid, type LiveParts } from "./parts.ts"
import type { Payments } from "./payments.ts"

/** Replacing a payment by one that pays more. Rules and words: upstream `wallet/feebumper.cpp`. */

const refuse = (reason: string): InvalidWalletRequest => new InvalidWalletRequest({ code: "not-eligible", reason })

const coins = (value: number): string => (value / 1e8).toFixed(8)

/** Steps of a registration cannot be replaced: the mempool lets in one at a time (protocol.md 5.6, M1 and M2). */
const registrationProblem = ({ outputs }: Transaction): string | undefined => {
  for (const { script } of outputs) {
    const op = parseNameScript(script)?.operation.op
    if (op === "name_new" || op === "name_firstupdate") {
      return `a ${op} cannot be replaced: the mempool takes no second one for the same name`
    }
  }
  return undefined
}

const problemOf = (
  { ledger, mempool }: LiveParts,
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

/** The payment again, without the change, which is made anew. */
const requestOf = ({ ring }: LiveParts, { inputs, transaction }: LedgerEntry, feeRate: number): PaymentRequest => {
  const isChange = (script: Uint8Array): boolean =>
    parseNameScript(script) === undefined && ring.own(script)?.change === true
  const { outputs, version } = transaction
  const at = outputs.length > 1 ? outputs.findIndex(({ script }) => isChange(script)) : -1
  const change = outputs[at]
  return {
    outputs: outputs.filter((_, vout) => vout !== at),
    inputs: inputs.map((outpoint) => ({ outpoint })),
    version,
    feeRate,
    // What is added has to be confirmed: a replacement may bring no new unconfirmed inputs.
    minConfirmations: 1,
    ...change === undefined ? {} : { changeScript: change.script, changePosition: at }
  }
}

export const makeBump = (parts: LiveParts, payments: Payments): Wallet["bump"] => (txid, choice) =>
  Effect.gen(function*() {
    const { ledger, mempool } = parts
    const entry = ledger.entry(keyOfTxid(txid) ?? "")
    if (entry === undefined) {
      return yield* new InvalidWalletRequest({
        code: "unknown-transaction",
        reason: "Invalid or non-wallet transaction id"
      })
    }
    const problem = problemOf(parts, entry)
    if (problem !== undefined) return yield* refuse(problem)
    const { transaction } = entry
    const spent = entry.inputs.reduce((sum, input) => sum + (ledger.coin(input)?.output.value ?? 0), 0)
    const oldFee = spent - transaction.outputs.reduce((sum, { value }) => sum + value, 0)
    const size = transaction.virtualSize
    const step = Math.max(mempool.info().incrementalFeeRate, REPLACEMENT_RATE)
    const chosen = yield* chooseRate(parts, choice)
    const least = oldFee + feeOf(step, size)
    if (choice.feeRate !== undefined && feeOf(chosen.feeRate, size) < least) {
      const reason = `Insufficient total fee ${coins(feeOf(chosen.feeRate, size))}, must be at least ${coins(least)} ` +
        `(oldFee ${coins(oldFee)} + incrementalFee ${coins(feeOf(step, size))})`
      return yield* new InvalidWalletRequest({ code: "too-small", reason })
    }
    const feeRate = choice.feeRate ?? Math.max(chosen.feeRate, rateOf(oldFee, size) + 1 + step)
    const funded = yield* payments.payAs(requestOf(parts, entry, feeRate), {
      released: new Set(transaction.inputs.map(({ prevout }) => outpointKey(prevout))),
      replaces: displayHash(transaction.txid)
    })
    return { funded, oldFee }
  })
