import { isExpired } from "../consensus/expiry.ts"
import type { LinkCheck } from "../consensus/nameLink.ts"
import { readersByChain } from "../consensus/readerParams.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { witnessVersion } from "../protocol/script.ts"
import { decodeTransaction, inputSpending } from "../protocol/transaction.ts"
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

/** The links of a proof, with one budget, and the script of the owner who signs each. */
export const linksOf = (
  operations: ReadonlyArray<ProvenOperation>,
  network: NameProof["network"]
): ReadonlyArray<{ readonly link: NameLink; readonly owner: Bytes }> => {
  const budget = { left: MOST_CHECKS }
  return operations.slice(0, -1).flatMap(({ height, transaction }, i) => {
    const before = operations[i + 1]
    return before === undefined
      ? []
      : [{
        link: {
          tx: transaction.bytes,
          before: { tx: before.transaction.bytes, vout: before.vout },
          network,
          height,
          budget
        },
        owner: before.address
      }]
  })
}

/** Whether nobody has to sign for the coin of an owner: of a witness version without rules at the height. Mainnet has none above 0. */
const isFree = (version: number, { height, network }: NameLink): boolean =>
  version > 1 || (version === 1 && height < readersByChain[network].activation.taproot)

/**
 * Why a signature does not count; `unknown` where the proof cannot show it. A taproot signature covers all coins that the
 * transaction spends, and those other than the name are not in the proof. With the name alone, the check is complete.
 */
export const signatureFault = (
  link: NameLink,
  owner: Bytes,
  check: CheckSignature
): { readonly fault: string } | "unknown" | undefined => {
  const version = witnessVersion(owner) ?? 0
  if (isFree(version, link)) return "unknown"
  if (check(link)) return undefined
  const lacksCoins = version > 0 && decodeTransaction(link.tx).inputs.length > 1
  return lacksCoins && link.budget.left >= 0 ? "unknown" : { fault: unsigned(link) }
}

const unsigned = (link: NameLink): string => {
  return link.budget.left < 0
    ? `the operation at height ${link.height} has more signatures than a proof may have`
    : `the owner did not sign the operation at height ${link.height}`
}
