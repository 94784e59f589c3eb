import { transactionSigopCost } from "../../consensus/sigops.ts"
import { policyWeight, rateOf, virtualSize } from "../../mempool/policy/feeRate.ts"
import { isMoney } from "../../protocol/amount.ts"
import type { Psbt } from "../../protocol/psbt/Psbt.ts"
import { isUnspendable } from "../../protocol/script.ts"
import { mapSteps, type Steps } from "../../protocol/steps.ts"
import type { TransactionOutput } from "../../protocol/transaction.ts"
import { spentOutput } from "./psbtData.ts"
import type { Missing } from "./SignatureData.ts"
import { SIGNING_FLAGS, type SigningContext } from "./SigningContext.ts"
import { NO_PROVIDER } from "./SigningProvider.ts"
import { extractTransaction, isSpendableInput, psbtContext, signPsbtInput } from "./signPsbt.ts"

/** Upstream `node/psbt.cpp`, `AnalyzePSBT`. */

/** In working order. */
export const PSBT_ROLES = ["creator", "updater", "signer", "finalizer", "extractor"] as const

export type PsbtRole = (typeof PSBT_ROLES)[number]

export interface InputAnalysis {
  readonly hasUtxo: boolean
  readonly isFinal: boolean
  readonly next: PsbtRole
  readonly missing: Missing | undefined
}

export interface PsbtAnalysis {
  readonly inputs: ReadonlyArray<InputAnalysis>
  readonly next: PsbtRole
  /** Smallest units; `undefined` unless all spent outputs are known. */
  readonly fee: number | undefined
  readonly estimatedVirtualSize: number | undefined
  /** Smallest units per kvB. */
  readonly estimatedFeeRate: number | undefined
  readonly error: string | undefined
}

const invalid = (problem: string): PsbtAnalysis => ({
  inputs: [],
  next: "creator",
  fee: undefined,
  estimatedVirtualSize: undefined,
  estimatedFeeRate: undefined,
  error: `PSBT is not valid. ${problem}`
})

/** Or the index of the first amount that is invalid or makes the sum invalid. */
const sumOf = (outputs: ReadonlyArray<TransactionOutput | undefined>): { sum: number; bad: number | undefined } => {
  let sum = 0
  for (const [at, output] of outputs.entries()) {
    if (output === undefined) continue
    if (!isMoney(output.value) || !isMoney(sum + output.value)) return { sum, bad: at }
    sum += output.value
  }
  return { sum, bad: undefined }
}

const nextAfter = ({ pubkeys, redeemScript, signatures, witnessScript }: Missing): PsbtRole => {
  const onlySignatures = pubkeys.length === 0 && redeemScript === undefined && witnessScript === undefined
  return onlySignatures && signatures.length > 0 ? "signer" : "updater"
}

const analyzeInput = (context: SigningContext, psbt: Psbt, index: number): InputAnalysis => {
  const hasUtxo = context.spent[index] !== undefined
  const input = psbt.inputs[index]
  if (!hasUtxo || input === undefined) {
    return { hasUtxo, isFinal: false, next: "updater", missing: undefined }
  }
  if (isSpendableInput(context, index, input)) return { hasUtxo, isFinal: true, next: "extractor", missing: undefined }
  const { missing, status } = signPsbtInput({ context, psbt, index }, NO_PROVIDER)
  if (status === "complete") return { hasUtxo, isFinal: false, next: "finalizer", missing: undefined }
  return { hasUtxo, isFinal: false, next: nextAfter(missing), missing }
}

function* estimateSize(
  context: SigningContext,
  psbt: Psbt,
  spent: ReadonlyArray<TransactionOutput>
): Steps<number | undefined> {
  const signed = yield* mapSteps(
    psbt.inputs,
    (_, index) => signPsbtInput({ context, psbt, index }, NO_PROVIDER, { dummy: true })
  )
  if (signed.some(({ status }) => status !== "complete")) return undefined
  const transaction = extractTransaction({ ...psbt, inputs: signed.map(({ input }) => input) })
  const coins = spent.map(({ script, value }) => ({ script, value, height: 1, coinbase: false }))
  return virtualSize(
    policyWeight(transaction, { cost: transactionSigopCost(transaction, { coins, flags: SIGNING_FLAGS }) })
  )
}

export function* analyzePsbtSteps(psbt: Psbt): Steps<PsbtAnalysis> {
  const spent = yield* mapSteps(psbt.inputs, (_, index) => spentOutput(psbt, index))
  const { bad, sum } = sumOf(spent)
  const unspendable = spent.findIndex((output) => output !== undefined && isUnspendable(output.script))
  if (unspendable >= 0 && (bad === undefined || unspendable < bad)) {
    return invalid(`Input ${unspendable} spends unspendable output`)
  }
  if (bad !== undefined) return invalid(`Input ${bad} has invalid value`)
  const context = psbtContext(psbt)
  const inputs = yield* mapSteps(psbt.inputs, (_, index) => analyzeInput(context, psbt, index))
  const next = PSBT_ROLES[inputs.reduce((least, { next }) => Math.min(least, PSBT_ROLES.indexOf(next)), 4)] ??
    "extractor"
  const known = spent.filter((output) => output !== undefined)
  if (known.length < spent.length) {
    return {
      inputs,
      next,
      fee: undefined,
      estimatedVirtualSize: undefined,
      estimatedFeeRate: undefined,
      error: undefined
    }
  }
  const paid = sumOf(psbt.transaction.outputs)
  if (paid.bad !== undefined) return invalid("Output amount invalid")
  const fee = sum - paid.sum
  const size = yield* estimateSize(context, psbt, known)
  const estimatedFeeRate = size === undefined ? undefined : rateOf({ fee, vsize: size })
  return { inputs, next, fee, estimatedVirtualSize: size, estimatedFeeRate, error: undefined }
}
