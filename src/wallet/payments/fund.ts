import * as Either from "effect/Either"
import { dustThreshold, isDust } from "../../mempool/policy/dust.ts"
import { MAX_STANDARD_WEIGHT } from "../../mempool/policy/limits.ts"
import { trucMaxVsize } from "../../mempool/policy/truc.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  outputSize,
  totalValue,
  type Transaction,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import { FundsMissing, invalidRequest, type InvalidWalletRequest } from "../errors.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { DEFAULT_VERSION, feeOfWeight, valueOf, type WeighedCoin, weightWithoutInputs } from "./Draft.ts"
import type { Funding } from "./fundWith.ts"
import {
  effectiveTotal,
  leavesOutChains,
  maxWeightWith,
  selectInputs,
  type SelectionRequest,
  wouldPay
} from "./selectInputs.ts"
import type { PaymentRequest } from "./WalletPayments.ts"

/** Rates are in smallest units per kvB. */
export interface FundInput {
  readonly request: PaymentRequest
  /** The request's inputs, which come first in their order. */
  readonly preset: ReadonlyArray<WeighedCoin>
  /** Coins that may be added (`eligible`). Names and coins of `preset` are skipped. */
  readonly candidates: ReadonlyArray<WeighedCoin>
  /** Uses coins whose payment the mempool would refuse, if nothing else pays; false if omitted. */
  readonly longChains?: boolean
  readonly feeRate: number
  /** What inputs pay for unconfirmed ancestors, smallest units; 0 if omitted. */
  readonly bumpOf?: (inputs: ReadonlyArray<WeighedCoin>) => number
  /** Change not worth spending at this rate becomes fee. */
  readonly discardRate: number
  readonly longTermRate: number
  /** Outputs not worth spending at this rate are dust. */
  readonly dustRate: number
  /** `spendWeight`: weight of an input that spends the change. */
  readonly change: { readonly script: Bytes; readonly spendWeight: number }
  /** For the lock time; 0 if the node is behind, to hide that. */
  readonly tipHeight: number
  /** Smallest units. */
  readonly maxFee: number
  readonly random: () => number
}

export interface FundedDraft {
  readonly transaction: Transaction
  readonly coins: ReadonlyArray<WalletCoin>
  /** Smallest units. */
  readonly fee: number
  /** -1 without a change output. */
  readonly changePosition: number
  /** Weight of the signed transaction. */
  readonly weight: number
}

type Refused = FundsMissing | InvalidWalletRequest

/** Upstream's texts, known to RPC clients (reference/rpc.md 5). */
const TEXTS = {
  noOutputs: "Transaction must have at least one recipient",
  negative: "Transaction amounts must not be negative",
  dust: "Transaction amount too small",
  noInputs: "Transaction requires one destination of non-zero value, a non-zero feerate, or a pre-selected input",
  belowFee: "The transaction amount is too small to pay the fee",
  dustAfterFee: "The transaction amount is too small to send after the fee has been deducted",
  inputsTooHeavy: "The inputs size exceeds the maximum weight. " +
    "Please try sending a smaller amount or manually consolidating your wallet's UTXOs",
  combinationTooHeavy: "The combination of the pre-selected inputs and the wallet automatic inputs selection exceeds " +
    "the transaction maximum weight. Please try sending a smaller amount or manually consolidating your wallet's UTXOs",
  notCovered: "The preselected coins total amount does not cover the transaction target. " +
    "Please allow other inputs to be automatically selected or include more coins manually",
  longChain:
    "Unconfirmed UTXOs are available, but spending them creates a chain of transactions that will be rejected " +
    "by the mempool",
  outputsTooHeavy: "Maximum transaction weight is less than transaction weight without inputs",
  changeTooHeavy: "Maximum transaction weight is too low, can not accommodate change output",
  tooLarge: "Transaction too large",
  changePosition: "Transaction change output index out of range",
  feePayer: "Invalid parameter, an output that the fee is to be taken from is not there",
  feeTooHigh: "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"
} as const

/** Signals replaceability (BIP 125), or not. Both keep the lock time in force. */
const REPLACEABLE_SEQUENCE = 0xfffffffd
const FINAL_SEQUENCE = 0xfffffffe

const WEIGHT_PER_BYTE = 4

/** Marker and flag of a transaction with witnesses; upstream counts them like other bytes here. */
const WITNESS_MARKER_SIZE = 1

/** Problems that do not depend on the coins. */
const refusalOf = ({ dustRate, feeRate, preset, request }: FundInput): InvalidWalletRequest | undefined => {
  const { changePosition, outputs, subtractFeeFrom = [] } = request
  if (outputs.length === 0) return invalidRequest("nothing-paid", TEXTS.noOutputs)
  for (const output of outputs) {
    if (output.value < 0) return invalidRequest("too-small", TEXTS.negative)
    if (isDust(output, dustRate)) return invalidRequest("too-small", TEXTS.dust)
  }
  if (subtractFeeFrom.some((i) => outputs[i] === undefined)) return invalidRequest("range", TEXTS.feePayer)
  // Nothing to pay for: a transaction needs an input.
  const isFree = feeRate === 0 || subtractFeeFrom.length > 0
  if (preset.length === 0 && isFree && outputs.every(({ value }) => value === 0)) {
    return invalidRequest("nothing-paid", TEXTS.noInputs)
  }
  const inRange = changePosition === undefined || changePosition >= 0 && changePosition <= outputs.length
  return inRange ? undefined : invalidRequest("range", TEXTS.changePosition)
}

/** Change must exceed the cost of spending it, and must not be dust at either rate. */
const leastChangeOf = ({ change, discardRate, dustRate }: FundInput): number => {
  const output = { value: 0, script: change.script }
  return Math.max(
    feeOfWeight({ feeRate: discardRate, weight: change.spendWeight }) + 1,
    dustThreshold(output, discardRate),
    dustThreshold(output, dustRate)
  )
}

const maxWeightOf = (
  { maxWeight = MAX_STANDARD_WEIGHT, version = DEFAULT_VERSION }: PaymentRequest,
  isChild: boolean
) => Math.min(maxWeight, MAX_STANDARD_WEIGHT, trucMaxVsize(version, isChild) * WEIGHT_PER_BYTE)

const selectionOf = (input: FundInput): SelectionRequest => {
  const { change, discardRate, feeRate, preset, request } = input
  const given = new Set(preset.map(({ coin }) => coin.outpoint))
  const candidates = request.addInputs === false
    ? []
    : input.candidates.filter(({ coin }) => coin.name === undefined && !given.has(coin.outpoint))
  const changeWeight = outputSize({ value: 0, script: change.script }) * WEIGHT_PER_BYTE
  return {
    target: {
      outputs: request.outputs,
      subtractFeeFrom: request.subtractFeeFrom ?? [],
      feeRate,
      bumpOf: input.bumpOf,
      changeScript: change.script,
      leastChange: leastChangeOf(input)
    },
    preset,
    candidates,
    grouped: request.avoidPartialSpends === true,
    longChains: input.longChains === true,
    longTermRate: input.longTermRate,
    costOfChange: feeOfWeight({ feeRate, weight: changeWeight }) +
      feeOfWeight({ feeRate: discardRate, weight: change.spendWeight }),
    changeWeight,
    maxWeight: maxWeightOf(request, false),
    maxChildWeight: maxWeightOf(request, true),
    random: input.random
  }
}

/** Without inputs, as upstream counts it. */
const frameWeight = (outputs: ReadonlyArray<TransactionOutput>): number =>
  weightWithoutInputs(outputs, 1, false) + WITNESS_MARKER_SIZE * WEIGHT_PER_BYTE

/** The input count and the witness marker take two bytes. */
const tooHeavy = (selection: SelectionRequest): InvalidWalletRequest => {
  const { candidates, changeWeight, preset, target } = selection
  const left = maxWeightWith(selection, [...preset, ...candidates]) - frameWeight(target.outputs)
  if (left <= 0) return invalidRequest("too-large", TEXTS.outputsTooHeavy)
  if (left < changeWeight) return invalidRequest("too-large", TEXTS.changeTooHeavy)
  const both = preset.length > 0 && candidates.length > 0
  return invalidRequest("too-large", both ? TEXTS.combinationTooHeavy : TEXTS.inputsTooHeavy)
}

/** If only the fee is lacking, the error has the fee without input fees. */
const shortage = (selection: SelectionRequest, { request }: FundInput): Refused => {
  const { candidates, preset, target } = selection
  const needed = totalValue(target.outputs)
  if (preset.length + candidates.length > 0 && wouldPay(selection)) {
    return leavesOutChains(selection) ? invalidRequest("long-chain", TEXTS.longChain) : tooHeavy(selection)
  }
  if (request.addInputs === false) return invalidRequest("too-large", TEXTS.notCovered)
  const available = valueOf([...preset, ...candidates])
  if (target.subtractFeeFrom.length > 0 || available < needed) return new FundsMissing({ needed, available })
  return new FundsMissing({
    needed,
    available: effectiveTotal([...preset, ...candidates], target.feeRate),
    fee: feeOfWeight({ feeRate: target.feeRate, weight: frameWeight(target.outputs) })
  })
}

const flawOf = (
  { dustRate, maxFee, request }: FundInput,
  { fee, inputs, outputs, weight }: Funding,
  limits: Pick<SelectionRequest, "maxWeight" | "maxChildWeight">
): InvalidWalletRequest | undefined => {
  for (const i of request.subtractFeeFrom ?? []) {
    const output = outputs[i]
    if (output === undefined || !isDust(output, dustRate) && output.value >= 0) continue
    return output.value < 0
      ? invalidRequest("below-fee", TEXTS.belowFee)
      : invalidRequest("too-small", TEXTS.dustAfterFee)
  }
  if (weight > maxWeightWith(limits, inputs)) return invalidRequest("overweight", TEXTS.tooLarge)
  return fee > maxFee ? invalidRequest("fee-too-high", TEXTS.feeTooHigh) : undefined
}

/**
 * The height of the tip, so that mining the tip again gains nothing; sometimes a few blocks lower, so that delayed
 * transactions do not stand out. 0 if an input has its own sequence number, which the caller may rely on. Source:
 * upstream `wallet/spend.cpp`, `DiscourageFeeSniping`.
 */
const lockTimeOf = ({ preset, random, request, tipHeight }: FundInput): number => {
  if (request.lockTime !== undefined) return request.lockTime
  if (preset.some(({ sequence }) => sequence !== undefined)) return 0
  return Math.floor(random() * 10) === 0 ? Math.max(0, tipHeight - Math.floor(random() * 100)) : tipHeight
}

const assemble = (input: FundInput, funding: Funding): FundedDraft => {
  const { change, random, request } = input
  const { fee, inputs } = funding
  const sequence = request.replaceable === false ? FINAL_SEQUENCE : REPLACEABLE_SEQUENCE
  const outputs: Array<TransactionOutput> = [...funding.outputs]
  let changePosition = -1
  if (funding.change > 0) {
    changePosition = request.changePosition ?? Math.min(outputs.length, Math.floor(random() * (outputs.length + 1)))
    outputs.splice(changePosition, 0, { value: funding.change, script: change.script })
  }
  const transaction = makeTransaction({
    version: request.version ?? DEFAULT_VERSION,
    inputs: inputs.map((weighed) => ({
      prevout: outpoint(weighed.coin.txid, weighed.coin.vout),
      scriptSig: new Uint8Array(0),
      sequence: weighed.sequence ?? sequence,
      witness: NO_WITNESS
    })),
    outputs,
    lockTime: lockTimeOf(input)
  })
  return { transaction, coins: inputs.map(({ coin }) => coin), fee, changePosition, weight: funding.weight }
}

const typesOf = ({ coins }: FundedDraft): number => new Set(coins.map(({ own }) => own.type)).size

/**
 * Prefers a result that spends all coins of each script, if it costs at most `extra` more (smallest units) and mixes no
 * more address types. Upstream `wallet/spend.cpp`, `CreateTransaction`, which mixes.
 */
export const fundGrouped = (input: FundInput, extra: number): ReturnType<typeof fundTransaction> => {
  const funded = fundTransaction(input)
  if (Either.isLeft(funded) || funded.right.fee === 0 || input.request.avoidPartialSpends === true) return funded
  const grouped = fundTransaction({ ...input, request: { ...input.request, avoidPartialSpends: true } })
  if (Either.isLeft(grouped) || grouped.right.fee > funded.right.fee + extra) return funded
  return typesOf(grouped.right) <= typesOf(funded.right) ? grouped : funded
}

/**
 * Selects additional inputs, adds change, and sets the fee by the signed size: exactly the fee rate with change, at
 * least that without. Deterministic for the same input and `random`. reference/protocol.md 9.3, 9.4; upstream
 * `wallet/spend.cpp`.
 */
export const fundTransaction = (input: FundInput): Either.Either<FundedDraft, Refused> => {
  const refused = refusalOf(input)
  if (refused !== undefined) return Either.left(refused)
  const selection = selectionOf(input)
  const funding = selectInputs(selection)
  if (funding === undefined) return Either.left(shortage(selection, input))
  const flaw = flawOf(input, funding, selection)
  return flaw === undefined ? Either.right(assemble(input, funding)) : Either.left(flaw)
}
