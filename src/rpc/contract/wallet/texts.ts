import { RpcError } from "../../method/RpcError.ts"

/** Limits of texts in wallet.json, where every member has one. */

/** Maximum characters of a comment, and of a descriptor. */
export const MAX_TEXT = 10_000

export const MAX_LABEL = 1_000

/** Returns a text that is not too long. `what` names it in the error. */
export const bounded = (text: string, most: number, what: string): string | RpcError => {
  if (text.length <= most) return text
  return RpcError.invalidParameter(`Invalid parameter, ${what} is longer than ${most} characters`)
}

export const TOO_LONG_COMMENT = `-8 Invalid parameter, <comment> is longer than ${MAX_TEXT} characters`

export const TOO_LONG_LABEL = `-8 Invalid parameter, label is longer than ${MAX_LABEL} characters`
