import { totalValue, type TransactionOutput } from "../../protocol/transaction.ts"
import { feeOfWeight, signedWeight, valueOf, type WeighedCoin } from "./Draft.ts"

export interface Funding {
  readonly inputs: ReadonlyArray<WeighedCoin>
  /** Without the change output. The fee that recipients pay is already subtracted. */
  readonly outputs: ReadonlyArray<TransactionOutput>
  /** 0 without a change output. */
  readonly change: number
  readonly fee: number
  /** Weight of the signed transaction. */
  readonly weight: number
}

export interface FundingTarget {
  readonly outputs: ReadonlyArray<TransactionOutput>
  /** Indexes of the outputs whose recipients pay the fee. */
  readonly subtractFeeFrom: ReadonlyArray<number>
  /** Smallest units per kvB. */
  readonly feeRate: number
  readonly changeScript: TransactionOutput["script"]
  /** Fee that the inputs add for unconfirmed ancestors, in smallest units; 0 if omitted. */
  readonly bumpOf?: ((inputs: ReadonlyArray<WeighedCoin>) => number) | undefined
  readonly leastChange: number
}

/** Splits the fee equally. The first paying output also pays the remainder. Results may be negative. */
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
 * With change, the fee is exact for the signed size. Without change, it may be higher. Returns `undefined` if the
 * inputs are insufficient.
 */
export const fundWith = (inputs: ReadonlyArray<WeighedCoin>, target: FundingTarget): Funding | undefined => {
  const { bumpOf = () => 0, changeScript, feeRate, leastChange, outputs } = target
  if (inputs.length === 0) return undefined
  const over = valueOf(inputs) - totalValue(outputs)
  if (over < 0) return undefined
  const receiversPay = target.subtractFeeFrom.length > 0
  const weight = signedWeight(inputs, outputs)
  const bump = bumpOf(inputs)
  const fee = feeOfWeight({ feeRate, weight }) + bump
  const weightWithChange = signedWeight(inputs, [...outputs, { value: 0, script: changeScript }])
  const feeWithChange = feeOfWeight({ feeRate, weight: weightWithChange }) + bump
  const change = receiversPay ? over : over - feeWithChange
  if (change >= leastChange) {
    const paid = receiversPay ? subtracted(target, feeWithChange) : outputs
    return { inputs, outputs: paid, change, fee: feeWithChange, weight: weightWithChange }
  }
  if (!receiversPay) return over < fee ? undefined : { inputs, outputs, change: 0, fee: over, weight }
  // An excess too small for change goes toward the fee, so that no output gets more than requested.
  const due = Math.max(0, fee - over)
  return { inputs, outputs: due === 0 ? outputs : subtracted(target, due), change: 0, fee: over + due, weight }
}
