/**
 * `svcd/verify`: checks portable proofs of names without a chain, and resolves names over Electrum servers that prove
 * their answers. Needs neither Node.js nor Effect, so it also runs in browsers. Bundlers include only what you import.
 *
 * ```ts
 * import { identity, resolve, verifyNameProof } from "svcd/verify"
 * ```
 */

export type { DomainRecord, DomainStatus } from "./dns/domainRecord.ts"
export { type RecordsFault, recordsOfValue as records, type ValueRecords } from "./dns/recordsOfValue.ts"
export { type Identity, identity } from "./values/nostr.ts"

export type { CheckSignature, NameLink, SignatureBudget } from "./verify/nameLinks.ts"
export {
  NAME_PROOF,
  type NameProof,
  type NameProofOperation,
  type ProofFailure,
  type ProofTip
} from "./verify/nameProof.ts"
export {
  resolve,
  type ResolvedName,
  type ResolveProofOptions,
  type ServerAnswer,
  type UnresolvedName
} from "./verify/resolve.ts"
export { type ProofOptions, type ProofProblem, type VerifiedName, verifyNameProof } from "./verify/verifyNameProof.ts"
