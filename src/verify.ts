/**
 * `svcd/verify`: checks portable proofs of names without a chain. Plain functions without Node.js and Effect, for
 * browsers too.
 *
 * ```ts
 * import { verifyNameProof } from "svcd/verify"
 * ```
 */

export { NAME_PROOF, type NameProof, type NameProofOperation, type ProofFailure } from "./verify/nameProof.ts"
export {
  type CheckSignature,
  type ProofOptions,
  type ProofProblem,
  type VerifiedName,
  verifyNameProof
} from "./verify/verifyNameProof.ts"
