import type { TransactionOutput } from "../../protocol/transaction.ts"
import { feeOfWeight, signedWeight, valueOf, type WeighedCoin } from "./Draft.ts"

/** What a transaction comes to with certain inputs. */
export interface Funding {
  readonly inputs: ReadonlyArray<WeighedCoin>
  /** What was asked for, less what receivers pay of the fee; without change. */
  readonly outputs: ReadonlyArray<TransactionOutput>
  /** 0 for none. */
  readonly change: number
  readonly fee: number
  /** Of the transaction when it is signed. */
  readonly weight: number
}

export interface FundingTarget {
  readonly outputs: ReadonlyArray<TransactionOutput>
  /** Indexes of outputs whose receivers pay the fee. */
  readonly subtractFeeFrom: ReadonlyArray<number>
  /** Smallest units a kvB. */
  readonly feeRate: number
  readonly changeScript: TransactionOutput["script"]
  /** The smallest change that is worth having. */
  readonly leastChange: number
}

const sumOf = (outputs: ReadonlyArray<TransactionOutput>): number => outputs.reduce((sum, { value }) => sum + value, 0)

/** Takes a fee from outputs in equal parts, the rest of the division from the first. May leave less than nothing. */
const subtracted = ({ outputs, subtractFeeFrom }: FundingTarget, fee: number): ReadonlyArray<TransactionOutput> => {
  const payers = [...new Set(subtractFeeFrom)].sort((a, b) => a - b)
  const share = Math.floor(fee / payers.length)
  const [first] = payers
  return outputs.map((output, i) =>
    payers.includes(i)
      ? { ...output, value: output.value - share - (i === first ? fee - share * payers.length : 0) }
      : output
  )
}

/**
 * Funds a target with inputs: the fee is what the rate asks for the signed size, exactly where there is change, and at
 * least where what is over is too little to come back. `undefined` where the inputs are not enough.
 */
export const fundWith = (inputs: ReadonlyArray<WeighedCoin>, target: FundingTarget): Funding | undefined => {
  const { changeScript, feeRate, leastChange, outputs } = target
  if (inputs.length === 0) return undefined
  const over = valueOf(inputs) - sumOf(outputs)
  if (over < 0) return undefined
  const receiversPay = target.subtractFeeFrom.length > 0
  const weight = signedWeight(inputs, outputs)
  const fee = feeOfWeight(feeRate, weight)
  const weightWithChange = signedWeight(inputs, [...outputs, { value: 0, script: changeScript }])
  const feeWithChange = feeOfWeight(feeRate, weightWithChange)
  const change = receiversPay ? over : over - feeWithChange
  if (change >= leastChange) {
    const paid = receiversPay ? subtracted(target, feeWithChange) : outputs
    return { inputs, outputs: paid, change, fee: feeWithChange, weight: weightWithChange }
  }
  if (!receiversPay) return over < fee ? undefined : { inputs, outputs, change: 0, fee: over, weight }
  // What is over and too little for change goes to the fee first; nobody gets more than was asked for.
  const due = Math.max(0, fee - over)
  return { inputs, outputs: due === 0 ? outputs : subtracted(target, due), change: 0, fee: over + due, weight }
}
