import { isExpired } from "../consensus/expiry.ts"
import type { LinkCheck } from "../consensus/nameLink.ts"
import { readersByChain } from "../consensus/readerParams.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { witnessVersion } from "../protocol/script.ts"
import { decodeTransaction, inputSpending } from "../protocol/transaction.ts"
import type { NameProof } from "./nameProof.ts"
import type { ProvenOperation } from "./provenOperation.ts"

/** Signature checks left. A negative value means that the proof exceeded the limit. */
export interface SignatureBudget {
  left: number
}

/** Two operations on a name, and the chain and height of the later one. */
export interface NameLink extends Omit<LinkCheck, "flags"> {
  readonly network: NameProof["network"]
  readonly height: Height
  /** Shared by all links of a proof. */
  readonly budget: SignatureBudget
}

/**
 * Checks the owner's signature between two operations, within the budget. A link that would cost more leaves the budget
 * negative. `svcd/verify/signatures` exports this check.
 */
export type CheckSignature = (link: NameLink) => boolean

/** Maximum number of signature checks in a proof: two for each of 200 operations. */
const MOST_CHECKS = 400

/** The reason why an operation does not follow the one before, apart from its signature. */
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

/** The links of a proof, which share one budget, each with the script of the signing owner. */
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

/**
 * Whether the owner's witness version has no rules at that height, so that anyone can spend the coin. On mainnet, this
 * applies to every version above 0.
 */
const isFree = (version: number, { height, network }: NameLink): boolean =>
  version > 1 || (version === 1 && height < readersByChain[network].activation.taproot)

/**
 * The reason why a signature is invalid; `unknown` if the proof cannot show it. A taproot signature covers all coins
 * that the transaction spends, and the proof has only the coin of the name. If the transaction spends no other, the
 * check is complete.
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
    ? `the operation at height ${link.height} exceeds the limit of signatures in a proof`
    : `the owner did not sign the operation at height ${link.height}`
}
