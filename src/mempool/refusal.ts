import type { Reject } from "../consensus/Reject.ts"
import { displayHash } from "../protocol/bytes.ts"
import type { Transaction } from "../protocol/transaction.ts"
import { type RejectionKind, TransactionRejected } from "./errors.ts"

export const refuse = (
  { txid }: Transaction,
  kind: RejectionKind,
  { detail, reason }: Pick<TransactionRejected, "detail" | "reason">
): TransactionRejected =>
  new TransactionRejected({ txid: displayHash(txid), kind, reason, ...(detail === undefined ? {} : { detail }) })

/** Reasons of consensus rules that may not apply to a later block. */
const KINDS: ReadonlyMap<string, RejectionKind> = new Map([
  ["bad-txns-inputs-missingorspent", "missing-inputs"],
  ["bad-txns-premature-spend-of-coinbase", "premature"]
])

/** A refusal by a rule that blocks must follow too. */
export const refuseByRule = (transaction: Transaction, broken: Reject): TransactionRejected =>
  refuse(transaction, KINDS.get(broken.reason) ?? "consensus", broken)

/** The ids of a transaction, as in refusals about relations between transactions. */
export const idsOf = ({ txid, wtxid }: Transaction): string => `${displayHash(txid)} (wtxid=${displayHash(wtxid)})`
