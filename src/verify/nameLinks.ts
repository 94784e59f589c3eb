import { isExpired } from "../consensus/expiry.ts"
import type { LinkCheck } from "../consensus/nameLink.ts"
import { readersByChain } from "../consensus/readerParams.ts"
import type { Height } from "../protocol/keys.ts"
import { inputSpending } from "../protocol/transaction.ts"
import type { NameProof } from "./nameProof.ts"
import type { ProvenOperation } from "./provenOperation.ts"

/** Signatures that may still be checked in a proof; below zero, the proof asked for more. */
export interface SignatureBudget {
  left: number
}

/** Two operations on a name, and the chain and height of the later one. */
export interface NameLink extends Omit<LinkCheck, "flags"> {
  readonly network: NameProof["network"]
  readonly height: Height
  /** Of all links of a proof. */
  readonly budget: SignatureBudget
}

/**
 * Checks the owner's signature between two operations, within the budget; `svcd/verify/signatures` has it. A link that would
 * cost more leaves the budget below zero.
 */
export type CheckSignature = (link: NameLink) => boolean

/** Signature checks in a proof, at most: two in each of 200 operations. */
const MOST_CHECKS = 400

/** Why an operation does not follow the one before it, apart from its signature. */
export const linkFault = (
  next: ProvenOperation,
  before: ProvenOperation,
  network: NameProof["network"]
): string | undefined => {
  const { height, operation, transaction } = next
  if (operation.op !== "name_update") return `the registration at height ${height} is not the oldest operation`
  if (inputSpending(transaction, before.transaction.txid, before.vout) < 0) {
    return `the operation at height ${height} does not spend the one before`
  }
  return height < before.height || isExpired(before, height, readersByChain[network])
    ? `the name was not alive before height ${height}`
    : undefined
}

/** The links of a proof, with one budget. */
export const linksOf = (
  operations: ReadonlyArray<ProvenOperation>,
  network: NameProof["network"]
): ReadonlyArray<NameLink> => {
  const budget = { left: MOST_CHECKS }
  return operations.slice(0, -1).flatMap(({ height, transaction }, i) => {
    const before = operations[i + 1]
    return before === undefined
      ? []
      : [{
        tx: transaction.bytes,
        before: { tx: before.transaction.bytes, vout: before.vout },
        network,
        height,
        budget
      }]
  })
}

/** Why a signature does not count. */
export const signatureFault = (link: NameLink, check: CheckSignature): string | undefined => {
  if (check(link)) return undefined
  return link.budget.left < 0
    ? `the operation at height ${link.height} has more signatures than a proof may have`
    : `the owner did not sign the operation at height ${link.height}`
}
