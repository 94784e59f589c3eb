import { rejectionText, type TransactionRejected } from "../../mempool/errors.ts"
import type { RawEstimate } from "../../mempool/fees/FeeHistory.ts"
import type { FeeRange } from "../../mempool/fees/FeeHorizon.ts"
import type { Trial } from "../../mempool/Mempool.ts"
import { feeOf } from "../../mempool/policy/feeRate.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { Amount } from "../json/encodeJson.ts"
import type { Members } from "./context.ts"

/** Mempool verdicts and fee estimates in answers (reference/rpc.md 3.4, 3.8, 3.10). */

const acceptedJson = (trial: Extract<Trial, { readonly type: "accepted" }>): Members => {
  const { effectiveFeeRate, entry: { fee, transaction, vsize } } = trial
  return {
    allowed: true,
    vsize,
    fees: {
      base: new Amount(fee),
      "effective-feerate": new Amount(effectiveFeeRate),
      "effective-includes": [displayHash(transaction.wtxid)]
    }
  }
}

const rejectedJson = (rejected: TransactionRejected): Members =>
  rejected.kind === "missing-inputs"
    ? { allowed: false, "reject-reason": "missing-inputs" }
    : { allowed: false, "reject-reason": rejected.reason, "reject-details": rejectionText(rejected) }

const verdictJson = (trial: Trial): Members => {
  switch (trial.type) {
    case "accepted":
      return acceptedJson(trial)
    case "rejected":
      return rejectedJson(trial.rejected)
    case "unjudged":
      return { "package-error": trial.packageError }
  }
}

/** Whether the pool would accept a transaction that pays more than its caller allows. */
const paysTooMuch = (trial: Trial | undefined, maxFeeRate: number): boolean => {
  if (trial?.type !== "accepted") return false
  const maxFee = feeOf(maxFeeRate, trial.entry.vsize)
  return maxFee > 0 && trial.entry.fee > maxFee
}

/**
 * The verdicts on transactions of one call. After a transaction that pays more than `maxFeeRate` (smallest units per
 * kvB, 0 for no limit), the later ones have no verdict. Source: upstream `rpc/mempool.cpp`, `testmempoolaccept`.
 */
export const trialJson = (
  transactions: ReadonlyArray<Transaction>,
  trials: ReadonlyArray<Trial>,
  maxFeeRate: number
): ReadonlyArray<Members> => {
  let exceeded = false
  return transactions.map(({ txid, wtxid }, at): Members => {
    const ids = { txid: displayHash(txid), wtxid: displayHash(wtxid) }
    const trial = trials[at]
    if (exceeded || trial === undefined) return ids
    exceeded = paysTooMuch(trial, maxFeeRate)
    return exceeded
      ? { ...ids, allowed: false, "reject-reason": "max-fee-exceeded" }
      : { ...ids, ...verdictJson(trial) }
  })
}

const hundredths = (count: number): number => Math.round(count * 100) / 100

/** The placeholder of the reference node for a missing range. */
const NO_RANGE: FeeRange = { start: -1, end: -1, withinTarget: 0, confirmed: 0, inPool: 0, left: 0 }

const rangeJson = (range: FeeRange): Members => ({
  startrange: Math.round(range.start),
  endrange: Math.round(range.end),
  withintarget: hundredths(range.withinTarget),
  totalconfirmed: hundredths(range.confirmed),
  inmempool: hundredths(range.inPool),
  leftmempool: hundredths(range.left)
})

/** The estimate of one horizon. Source: upstream `rpc/fees.cpp`, `estimaterawfee`. */
export const rawEstimateJson = ({ decay, fail, feeRate, pass, scale }: RawEstimate): Members =>
  feeRate === undefined
    ? {
      decay,
      scale,
      fail: rangeJson(fail ?? NO_RANGE),
      errors: ["Insufficient data or no feerate found which meets threshold"]
    }
    : {
      feerate: new Amount(feeRate),
      decay,
      scale,
      pass: rangeJson(pass ?? NO_RANGE),
      fail: fail && rangeJson(fail)
    }
