import * as Schema from "effect/Schema"
import { rejectionText, type TransactionRejected } from "../../mempool/errors.ts"
import type { RawEstimate } from "../../mempool/fees/FeeHistory.ts"
import type { FeeRange } from "../../mempool/fees/FeeHorizon.ts"
import type { Trial } from "../../mempool/Mempool.ts"
import { feeOf } from "../../mempool/policy/feeRate.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { Amount } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"

/** Mempool verdicts and fee estimates (reference/rpc.md 3.4, 3.8, 3.10). */

export const TRIAL = Schema.Struct({
  txid: Result.hex("The transaction"),
  wtxid: Result.hex("Its hash with witnesses"),
  "package-error": Schema.optional(Result.string("Error of the transactions as a package")),
  allowed: Schema.optional(Result.boolean("Whether the mempool would accept it; missing if another one fails")),
  vsize: Schema.optional(Result.integer("Virtual bytes, adjusted for signature operations")),
  fees: Schema.optional(Schema.Struct({
    base: Result.amount("Fee of the transaction"),
    "effective-feerate": Result.amount("Effective fee rate in NMC per 1000 virtual bytes"),
    "effective-includes": Schema.Array(Result.hex("A transaction included in that rate, by its hash with witnesses"))
  })),
  "reject-reason": Schema.optional(Result.string("Reason of the refusal")),
  "reject-details": Schema.optional(Result.string("Reason with details"))
})

type Verdict = Omit<Result.ValueOf<typeof TRIAL>, "txid" | "wtxid">

const acceptedJson = (trial: Extract<Trial, { readonly type: "accepted" }>): Verdict => {
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

const rejectedJson = (rejected: TransactionRejected): Verdict =>
  rejected.kind === "missing-inputs"
    ? { allowed: false, "reject-reason": "missing-inputs" }
    : { allowed: false, "reject-reason": rejected.reason, "reject-details": rejectionText(rejected) }

const verdictJson = (trial: Trial): Verdict => {
  switch (trial.type) {
    case "accepted":
      return acceptedJson(trial)
    case "rejected":
      return rejectedJson(trial.rejected)
    case "unjudged":
      return { "package-error": trial.packageError }
  }
}

const paysTooMuch = (trial: Trial | undefined, maxFeeRate: number): boolean => {
  if (trial?.type !== "accepted") return false
  const maxFee = feeOf(maxFeeRate, trial.entry.vsize)
  return maxFee > 0 && trial.entry.fee > maxFee
}

/**
 * After a transaction above `maxFeeRate` (smallest units per kvB, 0 for no limit), the later ones have no verdict.
 * Source: upstream `rpc/mempool.cpp`, `testmempoolaccept`.
 */
export const trialJson = (
  transactions: ReadonlyArray<Transaction>,
  trials: ReadonlyArray<Trial>,
  maxFeeRate: number
): ReadonlyArray<Result.ValueOf<typeof TRIAL>> => {
  let exceeded = false
  return transactions.map(({ txid, wtxid }, at) => {
    const ids = { txid: displayHash(txid), wtxid: displayHash(wtxid) }
    const trial = trials[at]
    if (exceeded || trial === undefined) return ids
    exceeded = paysTooMuch(trial, maxFeeRate)
    return exceeded
      ? { ...ids, allowed: false, "reject-reason": "max-fee-exceeded" }
      : { ...ids, ...verdictJson(trial) }
  })
}

const RANGE = Schema.Struct({
  startrange: Result.number("Start of the range of fee rates, in the smallest unit per 1000 virtual bytes"),
  endrange: Result.number("End of the range"),
  withintarget: Result.number("Transactions mined within the target, with lower weight for older ones"),
  totalconfirmed: Result.number("All mined transactions"),
  inmempool: Result.number("Transactions unconfirmed for the target or longer"),
  leftmempool: Result.number("Transactions that left the mempool unmined after the target")
})

export const RAW_ESTIMATE = Schema.Struct({
  feerate: Schema.optional(Result.amount("Fee rate in NMC per 1000 virtual bytes")),
  decay: Result.number("Factor of each count for one more block"),
  scale: Result.integer("Resolution of the target in blocks"),
  pass: Schema.optional(RANGE.annotations({ description: "The lowest range of fee rates that meets the threshold" })),
  fail: Schema.optional(RANGE.annotations({ description: "The highest range below that fails the threshold" })),
  errors: Schema.optional(Schema.Array(Result.string("Reason why there is no fee rate")))
})

const hundredths = (count: number): number => Math.round(count * 100) / 100

/** The reference node's placeholder for a missing range. */
const NO_RANGE: FeeRange = { start: -1, end: -1, withinTarget: 0, confirmed: 0, inPool: 0, left: 0 }

const rangeJson = (range: FeeRange): Result.ValueOf<typeof RANGE> => ({
  startrange: Math.round(range.start),
  endrange: Math.round(range.end),
  withintarget: hundredths(range.withinTarget),
  totalconfirmed: hundredths(range.confirmed),
  inmempool: hundredths(range.inPool),
  leftmempool: hundredths(range.left)
})

/** Source: upstream `rpc/fees.cpp`, `estimaterawfee`. */
export const rawEstimateJson = (
  { decay, fail, feeRate, pass, scale }: RawEstimate
): Result.ValueOf<typeof RAW_ESTIMATE> =>
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
