import { expirationDepth, isExpired } from "../consensus/expiry.ts"
import { blockFlags } from "../consensus/flags.ts"
import { isSigned, type LinkCheck } from "../consensus/nameLink.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { heightOfOperation } from "../names/NameEntry.ts"
import type { Height } from "../protocol/keys.ts"
import type { LinkRow, Proof } from "./WindowFile.ts"

/** Whether all operations on a name are checked and allowed by their owners. */
export const allSigned = ({ invalid, unchecked }: Proof): boolean => unchecked === 0 && invalid === 0

export interface LinkRules {
  readonly params: ConsensusParams
  readonly low: Height
}

/** The verdict on an operation if no signature decides it, else the check of the signature. */
export const checkOf = ({ before, first, id, tx }: LinkRow, { low, params }: LinkRules): LinkCheck | boolean => {
  const height = heightOfOperation(id)
  // The previous operation may be below the window. Then this one is taken from the chain on trust, unless a living
  // name would have it in the window: then there is nothing to update.
  if (before === undefined) return first || low > Math.max(1, height - expirationDepth(height, params) + 1)
  const lived = !isExpired({ height: heightOfOperation(before.id) }, height, params)
  // A name must be free to be registered. An expired name cannot be updated, even by its owner.
  if (first || !lived) return first && !lived
  return { tx, before: { tx: before.tx, vout: before.vout }, flags: blockFlags(height, params) }
}

export const verifyLink = (link: LinkRow, rules: LinkRules): boolean => {
  const check = checkOf(link, rules)
  return typeof check === "boolean" ? check : isSigned(check)
}
