import * as Effect from "effect/Effect"
import { feeOf, rateOf } from "../../mempool/policy/feeRate.ts"
import { formatMoney } from "../../protocol/amount.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import { type OutpointKey, type TxidKey, txidKey } from "../../protocol/keys.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { outpointText, totalValue, type TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { invalidRequest, InvalidWalletRequest } from "../errors.ts"
import type { LedgerEntry } from "../ledger/LedgerEntry.ts"
import { NO_PROVIDER } from "../signing/SigningProvider.ts"
import type { WalletParts } from "../WalletParts.ts"
import { bumpFeeOf } from "./bumpFee.ts"
import { vsizeOf } from "./Candidate.ts"
import { signedWeight } from "./Draft.ts"
import { nodeCoin, weightSignedAgain } from "./externalInputs.ts"
import { chooseRate, REPLACEMENT_RATE, requiredRate } from "./feeRate.ts"
import { replacementProblem } from "./replacing.ts"
import type { Spending } from "./spending.ts"
import type { BumpChoice, PaymentRequest, SpendFailure, WalletPayments } from "./WalletPayments.ts"

/** Fee bumps. Rules, their order and error texts: upstream `wallet/feebumper.cpp`. */

const alreadySpent = (outpoint: OutpointKey): InvalidWalletRequest => {
  const prevout = fromBinaryString(outpoint)
  return invalidRequest("spent", `${outpointText(prevout)} is already spent`)
}

const spentBy = (
  parts: WalletParts,
  { inputs }: LedgerEntry
): Effect.Effect<ReadonlyArray<TransactionOutput>, InvalidWalletRequest | StorageFailure> =>
  Effect.forEach(inputs, (outpoint) =>
    Effect.flatMap(
      nodeCoin(parts, outpoint),
      (coin) => coin === undefined ? alreadySpent(outpoint) : Effect.succeed(coin.output)
    ))

type Recipients = Pick<PaymentRequest, "outputs" | "changeScript" | "changePosition" | "subtractFeeFrom">

/** If there is only change, it is the recipient and pays the fee. */
const recipientsOf = (
  { ring }: WalletParts,
  outputs: ReadonlyArray<TransactionOutput>,
  changeIndex: number | undefined
): Recipients | InvalidWalletRequest => {
  const isChange = ({ script }: TransactionOutput, at: number): boolean =>
    changeIndex === undefined
      ? parseNameScript(script) === undefined && ring.own(script)?.change === true
      : changeIndex === at
  const others = outputs.filter((output, at) => !isChange(output, at))
  const at = outputs.findLastIndex(isChange)
  const change = outputs[at]
  if (change === undefined) {
    if (others.length > 0) return { outputs: others }
    return invalidRequest("range", "Unable to create transaction. Transaction must have at least one recipient")
  }
  return others.length > 0
    ? { outputs: others, changeScript: change.script, changePosition: Math.min(at, others.length) }
    : { outputs: [{ value: totalValue(outputs), script: change.script }], subtractFeeFrom: [0] }
}

/** A caller's fee rate, and the size it applies to. */
interface GivenRate {
  readonly feeRate: number
  readonly oldFee: number
  /** Virtual bytes as signed. */
  readonly vsize: number
  /** What unconfirmed ancestors need, smallest units. */
  readonly bump: number
}

/** It must suffice for the mempool; no more is required. */
const rateProblem = (parts: WalletParts, { bump, feeRate, oldFee, vsize }: GivenRate) => {
  const { mempool, rules } = parts
  const { incrementalFeeRate, minFeeRate, minRelayFeeRate } = mempool.info()
  // The rolling minimum of a full pool. Below the relay minimum, the fee checks refuse it.
  if (feeRate < minFeeRate && minFeeRate > minRelayFeeRate) {
    const reason = `New fee rate (${formatMoney(feeRate)}) is lower than the minimum fee rate ` +
      `(${formatMoney(minFeeRate)}) to get into the mempool -- `
    return invalidRequest("not-eligible", reason)
  }
  const fee = feeOf(feeRate, vsize) + bump
  const step = feeOf(incrementalFeeRate, vsize)
  if (fee < oldFee + step) {
    const reason = `Insufficient total fee ${formatMoney(fee)}, must be at least ${formatMoney(oldFee + step)} ` +
      `(oldFee ${formatMoney(oldFee)} + incrementalFee ${formatMoney(step)})`
    return invalidRequest("range", reason)
  }
  const required = feeOf(requiredRate(parts), vsize)
  if (fee < required) {
    return invalidRequest("range", `Insufficient total fee (cannot be less than required fee ${formatMoney(required)})`)
  }
  if (fee <= rules.maxTxFee) return undefined
  const reason = `Specified or calculated fee ${formatMoney(fee)} is too high (cannot be higher than -maxtxfee ` +
    `${formatMoney(rules.maxTxFee)})`
  return invalidRequest("not-eligible", reason)
}

interface Plan {
  readonly request: PaymentRequest
  readonly released: ReadonlySet<OutpointKey>
  readonly oldFee: number
}

export const makeBump = (
  parts: WalletParts,
  { fundAs, payAs, presetOf }: Pick<Spending, "fundAs" | "payAs" | "presetOf">
): Pick<WalletPayments, "bump" | "replacement"> => {
  const { ledger, mempool } = parts

  /** The caller's rate if sufficient; else one above the old rate, or that of a new payment. */
  const rateOfBump = (
    { feeRate, ...choice }: BumpChoice,
    { transaction }: LedgerEntry,
    { oldFee, released, request }: Plan
  ): Effect.Effect<number, SpendFailure> =>
    Effect.gen(function*() {
      const { virtualSize: vsize } = transaction
      if (feeRate === undefined) {
        const step = Math.max(mempool.info().incrementalFeeRate, REPLACEMENT_RATE)
        return Math.max((yield* chooseRate(parts, choice)).feeRate, rateOf({ fee: oldFee, vsize }) + 1 + step)
      }
      const inputs = yield* presetOf(request, { released })
      const unconfirmed = inputs.flatMap(({ coin }) => coin.height === undefined ? txidKey(coin.txid) : [])
      const signed = vsizeOf(signedWeight(inputs, choice.outputs ?? transaction.outputs))
      const bump = bumpFeeOf(mempool, unconfirmed, feeRate)
      const problem = rateProblem(parts, { feeRate, oldFee, vsize: signed, bump })
      return problem === undefined ? feeRate : yield* problem
    })

  /** `sends` as in `replacementProblem`. */
  const planOf = (txid: TxidKey, choice: BumpChoice, sends: boolean): Effect.Effect<Plan, SpendFailure> =>
    Effect.gen(function*() {
      const entry = ledger.entry(txid)
      if (entry === undefined) {
        return yield* invalidRequest("unknown-transaction", "Invalid or non-wallet transaction id")
      }
      const { inputs, notes, transaction } = entry
      const { changeIndex, outputs = transaction.outputs, replaceable = true } = choice
      if (changeIndex !== undefined && changeIndex >= transaction.outputs.length) {
        return yield* invalidRequest("range", "Change position is out of range")
      }
      const spent = yield* spentBy(parts, entry)
      const problem = replacementProblem(parts, entry, sends)
      if (problem !== undefined) return yield* problem
      const recipients = recipientsOf(parts, outputs, changeIndex)
      if (recipients instanceof InvalidWalletRequest) return yield* recipients
      const weights = new Map(inputs.flatMap((outpoint, i) => {
        const input = transaction.inputs[i]
        return input === undefined || ledger.coin(outpoint) !== undefined
          ? []
          : [[outpoint, weightSignedAgain(input)] as const]
      }))
      const plan: Plan = {
        request: {
          ...recipients,
          inputs: inputs.map((outpoint) => ({ outpoint })),
          external: { known: NO_PROVIDER, weights },
          version: transaction.version,
          replaceable,
          // Unconfirmed coins could depend on the replaced transaction.
          minConfirmations: 1,
          ...notes.comment === undefined ? {} : { comment: notes.comment },
          ...notes.commentTo === undefined ? {} : { commentTo: notes.commentTo }
        },
        released: new Set(inputs),
        oldFee: totalValue(spent) - totalValue(transaction.outputs)
      }
      return { ...plan, request: { ...plan.request, feeRate: yield* rateOfBump(choice, entry, plan) } }
    })

  return {
    replacement: (txid, choice) =>
      Effect.gen(function*() {
        const { oldFee, released, request } = yield* planOf(txid, choice, false)
        return { funded: yield* fundAs(request, { released }), oldFee }
      }),
    bump: (txid, choice) =>
      Effect.gen(function*() {
        const { oldFee, released, request } = yield* planOf(txid, choice, true)
        return { funded: yield* payAs(request, { released, replaces: txid }), oldFee }
      })
  }
}
