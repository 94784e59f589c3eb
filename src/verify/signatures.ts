/**
 * `svcd/verify/signatures`: the check of owners' signatures for `verifyNameProof`. It is a separate module, because
 * scripts and curves are more than half of the code.
 *
 * ```ts
 * import { verifyNameProof } from "svcd/verify"
 * import { signatures } from "svcd/verify/signatures"
 *
 * verifyNameProof(proof, { signatures })
 * ```
 */

import { blockFlags, Flag } from "../consensus/flags.ts"
import { isSigned } from "../consensus/nameLink.ts"
import { readersByChain } from "../consensus/readerParams.ts"
import { mostSignatureChecks } from "../consensus/sigops.ts"
import { EMPTY } from "../protocol/bytes.ts"
import { decodeTransaction, inputSpending } from "../protocol/transaction.ts"
import type { CheckSignature, NameLink } from "./nameLinks.ts"

/** Maximum number of checks in one operation: those of the largest multisignature. */
const MOST_IN_LINK = 20

/** Maximum number of signature checks in a link. */
const checksOf = ({ before, tx }: NameLink): number => {
  const transaction = decodeTransaction(tx)
  const spent = decodeTransaction(before.tx)
  const input = transaction.inputs[inputSpending(transaction, spent.txid, before.vout)]
  return input === undefined ? 0 : mostSignatureChecks(input, spent.outputs[before.vout]?.script ?? EMPTY)
}

/**
 * Rules without which anyone could spend a script hash or a witness program. They apply at every height, because a
 * forged block can claim a height before their activation.
 */
const ALWAYS = Flag.P2SH | Flag.WITNESS

/** Runs the script of the name's coin that an operation spends. */
export const signatures: CheckSignature = (link) => {
  const { before, budget, height, network, tx } = link
  const checks = checksOf(link)
  budget.left = checks > MOST_IN_LINK ? -1 : budget.left - checks
  return budget.left >= 0 && isSigned({ tx, before, flags: ALWAYS | blockFlags(height, readersByChain[network]) })
}
