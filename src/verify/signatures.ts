/**
 * `svcd/verify/signatures`: the check of owners' signatures for `verifyNameProof`, in a module of its own, as scripts
 * and curves are more than half of the code.
 *
 * ```ts
 * import { verifyNameProof } from "svcd/verify"
 * import { signatures } from "svcd/verify/signatures"
 *
 * verifyNameProof(proof, { signatures })
 * ```
 */

import { blockFlags } from "../consensus/flags.ts"
import { isSigned } from "../consensus/nameLink.ts"
import { readersByChain } from "../consensus/readerParams.ts"
import type { CheckSignature } from "./verifyNameProof.ts"

/** Runs the script of the coin that each operation spends. */
export const signatures: CheckSignature = ({ before, height, network, tx }) =>
  isSigned({ tx, before, flags: blockFlags(height, readersByChain[network]) })
