import type { Reject } from "../consensus/Reject.ts"
import { displayHash } from "../protocol/bytes.ts"
import type { Transaction } from "../protocol/transaction.ts"
import { type RejectionKind, TransactionRejected } from "./errors.ts"

/** A refusal of a transaction. */
export const refuse = (
  { txid }: Transaction,
  kind: RejectionKind,
  reason: string,
  detail?: string
): TransactionRejected =>
  new TransactionRejected({ txid: displayHash(txid), kind, reason, ...(detail === undefined ? {} : { detail }) })

/** Reasons of the rules that a later block may not give any more. */
const KINDS: ReadonlyMap<string, RejectionKind> = new Map([
  ["bad-txns-inputs-missingorspent", "missing-inputs"],
  ["bad-txns-premature-spend-of-coinbase", "premature"]
])

/** A refusal by a rule that blocks have as well. */
export const refuseByRule = (transaction: Transaction, { detail, reason }: Reject): TransactionRejected =>
  refuse(transaction, KINDS.get(reason) ?? "consensus", reason, detail)

/** A transaction as refusals of relations between transactions name it. */
export const idsOf = ({ txid, wtxid }: Transaction): string => `${displayHash(txid)} (wtxid=${displayHash(wtxid)})`
