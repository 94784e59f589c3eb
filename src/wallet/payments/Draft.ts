import { feeOf } from "../../mempool/policy/feeRate.ts"
import { witnessVersion } from "../../protocol/script.ts"
import { outputSize, type TransactionOutput } from "../../protocol/transaction.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import type { WalletCoin } from "../Wallet.ts"
import { vsizeOf } from "./Candidate.ts"

/** A coin and what spending it takes. */
export interface WeighedCoin {
  readonly coin: WalletCoin
  /** Weight units of the signed input. */
  readonly weight: number
  /** Where it is not the transaction's usual one. */
  readonly sequence?: number
  /** Whether its input has a witness; judged by its script where it is left out. */
  readonly witness?: boolean
}

const WITNESS_TYPES: ReadonlySet<string> = new Set(["p2sh-segwit", "bech32", "bech32m"])

/** Whether an input that spends a coin has a witness. */
export const hasWitness = ({ coin, witness }: WeighedCoin): boolean =>
  witness ??
    (WITNESS_TYPES.has(coin.own.type) || coin.own.witnessScript !== undefined ||
      witnessVersion(coin.own.script) !== -1)

/** Version and lock time. */
const FIXED_SIZE = 8
const WEIGHT_PER_BYTE = 4
/** Marker and flag of BIP 144; they count once. */
const WITNESS_MARKER_WEIGHT = 2

/** The weight of a transaction apart from its inputs, with the count of them. */
export const weightWithoutInputs = (
  outputs: ReadonlyArray<TransactionOutput>,
  inputCount: number,
  witness: boolean
): number => {
  let size = FIXED_SIZE + compactSizeLength(inputCount) + compactSizeLength(outputs.length)
  for (const output of outputs) size += outputSize(output)
  return size * WEIGHT_PER_BYTE + (witness ? WITNESS_MARKER_WEIGHT : 0)
}

/** The weight of an input in a transaction that has witnesses or has none: one without a witness has a count of zero. */
export const inputWeight = (coin: WeighedCoin, inWitnessTransaction: boolean): number =>
  coin.weight + (inWitnessTransaction && !hasWitness(coin) ? 1 : 0)

/** The weight of a transaction when it is signed. Exact for signatures of the sizes that its inputs are weighed with. */
export const signedWeight = (inputs: ReadonlyArray<WeighedCoin>, outputs: ReadonlyArray<TransactionOutput>): number => {
  const witness = inputs.some(hasWitness)
  let weight = weightWithoutInputs(outputs, inputs.length, witness)
  for (const coin of inputs) weight += inputWeight(coin, witness)
  return weight
}

/** The fee for a weight at a rate in smallest units a kvB, rounded up. */
export const feeOfWeight = (feeRate: number, weight: number): number => feeOf(feeRate, vsizeOf(weight))

export const valueOf = (inputs: ReadonlyArray<WeighedCoin>): number =>
  inputs.reduce((sum, { coin }) => sum + coin.output.value, 0)
