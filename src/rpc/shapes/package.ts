import * as Schema from "effect/Schema"
import { rejectionText } from "../../mempool/errors.ts"
import type { PackageOutcome, PackageResult } from "../../mempool/Mempool.ts"
import { displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { type TxidKey, wtxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { Amount } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"

/** Source: upstream `rpc/mempool.cpp`, `submitpackage` (reference/rpc.md 3.4). */

const MEMBER = Schema.Struct({
  txid: Result.hex("The transaction"),
  "other-wtxid": Schema.optional(
    Result.hex("Hash with witnesses of a transaction in the mempool that differs in its witness; this one was ignored")
  ),
  vsize: Schema.optional(Result.integer("Virtual bytes, adjusted for signature operations")),
  fees: Schema.optional(Schema.Struct({
    base: Result.amount("Fee of the transaction"),
    "effective-feerate": Schema.optional(
      Result.amount("Effective fee rate in NMC per 1000 virtual bytes, unless the mempool had the transaction before")
    ),
    "effective-includes": Schema.optional(
      Schema.Array(Result.hex("A transaction included in that rate, by its hash with witnesses"))
    )
  })),
  error: Schema.optional(Result.string("Reason of the refusal"))
})

export const PACKAGE = Schema.Struct({
  package_msg: Result.string("success if the mempool has all the transactions, otherwise the reason of the refusal"),
  "tx-results": Result.map("hash with witnesses", MEMBER),
  "replaced-transactions": Schema.Array(Result.hex("A transaction that left the mempool for them"))
})

type Verdict = Omit<Result.ValueOf<typeof MEMBER>, "txid">

const outcomeJson = (outcome: PackageOutcome | undefined): Verdict => {
  switch (outcome?.type) {
    case "accepted":
      return {
        vsize: outcome.entry.vsize,
        fees: {
          base: new Amount(outcome.entry.fee),
          "effective-feerate": new Amount(outcome.effectiveFeeRate),
          "effective-includes": outcome.includes.map(({ wtxid }) => displayHash(wtxid))
        }
      }
    case "present":
      return { vsize: outcome.entry.vsize, fees: { base: new Amount(outcome.entry.fee) } }
    case "other-witness":
      return { "other-wtxid": displayHash(outcome.entry.transaction.wtxid) }
    case "rejected":
      return { error: rejectionText(outcome.rejected) }
    case undefined:
      return { error: "package-not-validated" }
  }
}

export const packageJson = (
  transactions: ReadonlyArray<Transaction>,
  { outcomes, refused }: PackageResult
): Result.ValueOf<typeof PACKAGE> => {
  const replaced = new Set<TxidKey>()
  for (const outcome of outcomes.values()) {
    if (outcome.type !== "accepted") continue
    for (const { transaction } of outcome.replaced) replaced.add(transaction.txidKey)
  }
  return {
    package_msg: refused ?? "success",
    "tx-results": new Map(transactions.map(({ txid, wtxid }) => [
      displayHash(wtxid),
      { txid: displayHash(txid), ...outcomeJson(outcomes.get(wtxidKey(wtxid))) }
    ])),
    "replaced-transactions": [...replaced].sort().map((key) => displayHash(fromBinaryString(key)))
  }
}
