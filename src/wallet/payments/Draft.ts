import { feeOf } from "../../mempool/policy/feeRate.ts"
import { witnessVersion } from "../../protocol/script.ts"
import { outputSize, type TransactionOutput } from "../../protocol/transaction.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { vsizeOf } from "./Candidate.ts"

export const DEFAULT_VERSION = 2

export interface WeighedCoin {
  readonly coin: WalletCoin
  /** Weight of the signed input. */
  readonly weight: number
  readonly sequence?: number
  /**
   * For an unconfirmed coin: the share of the mempool's limits for dependent transactions that a payment with it would
   * use. Above 1 the mempool would refuse it. 0 if omitted.
   */
  readonly chain?: number
  /** What a payment with this coin alone pays for unconfirmed ancestors (`bumpFeeOf`); 0 if omitted. */
  readonly bump?: number
  /** Derived from the coin's script if omitted. */
  readonly witness?: boolean
}

const WITNESS_TYPES: ReadonlySet<string> = new Set(["p2sh-segwit", "bech32", "bech32m"])

export const hasWitness = ({ coin, witness }: WeighedCoin): boolean =>
  witness ??
    (WITNESS_TYPES.has(coin.own.type) || coin.own.witnessScript !== undefined ||
      witnessVersion(coin.own.script) !== -1)

/** Bytes of version and lock time. */
const FIXED_SIZE = 8
const WEIGHT_PER_BYTE = 4
/** Marker and flag of BIP 144: one weight unit per byte. */
const WITNESS_MARKER_WEIGHT = 2

/** Includes the input count. */
export const weightWithoutInputs = (
  outputs: ReadonlyArray<TransactionOutput>,
  inputCount: number,
  witness: boolean
): number => {
  let size = FIXED_SIZE + compactSizeLength(inputCount) + compactSizeLength(outputs.length)
  for (const output of outputs) size += outputSize(output)
  return size * WEIGHT_PER_BYTE + (witness ? WITNESS_MARKER_WEIGHT : 0)
}

/** In a transaction with witnesses, an input without one adds a zero count. */
export const inputWeight = (coin: WeighedCoin, inWitnessTransaction: boolean): number =>
  coin.weight + (inWitnessTransaction && !hasWitness(coin) ? 1 : 0)

/** Exact for signatures of the sizes in the input weights. */
export const signedWeight = (inputs: ReadonlyArray<WeighedCoin>, outputs: ReadonlyArray<TransactionOutput>): number => {
  const witness = inputs.some(hasWitness)
  let weight = weightWithoutInputs(outputs, inputs.length, witness)
  for (const coin of inputs) weight += inputWeight(coin, witness)
  return weight
}

/** Smallest units per kvB, rounded up. */
export const feeOfWeight = ({ feeRate, weight }: { readonly feeRate: number; readonly weight: number }): number =>
  feeOf(feeRate, vsizeOf(weight))

export const isChild = (inputs: ReadonlyArray<WeighedCoin>): boolean =>
  inputs.some(({ coin }) => coin.height === undefined)

export const valueOf = (inputs: ReadonlyArray<WeighedCoin>): number =>
  inputs.reduce((sum, { coin }) => sum + coin.output.value, 0)
