import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { errorWords } from "../rpc/words.ts"
import type { CallFailed } from "./calls.ts"

/** Errors of RPC and the desk, as sentences for users. */

const OWN = {
  forbidden: "Your user does not have the right to do this. Sign in as a user with this right.",
  changed:
    "The name was changed after you opened this page, perhaps in another window. Open it again, so that the other change is " +
    "not lost."
} as const

type Failure = Pick<CallFailed, "code" | "message" | "reason">

const sentencesOf = ({ code, reason }: Omit<Failure, "message">): string | undefined => {
  if (reason === "changed") return OWN.changed
  if (typeof code === "string") return code === "forbidden" ? OWN.forbidden : undefined
  const words = errorWords({ code, reason })
  return words?.next === undefined ? words?.what : `${words.what} ${words.next}`
}

export interface FailureWords {
  readonly text: string
  /** RPC's text, if the sentence omits something. */
  readonly detail: string | undefined
  /** Certainly nothing was done. */
  readonly nothingDone: boolean
}

/** Codes without their own sentences, refused before anything is sent. */
const HARMLESS: ReadonlySet<CallFailed["code"]> = new Set([
  RPC_CODE.wallet,
  RPC_CODE.insufficientFunds,
  RPC_CODE.verifyError,
  RPC_CODE.verifyRejected,
  RPC_CODE.invalidEncoding
])

/** Codes whose sentences say all that RPC says. */
const WHOLE: ReadonlySet<CallFailed["code"]> = new Set([
  "forbidden",
  RPC_CODE.walletUnlockNeeded,
  RPC_CODE.walletPassphraseIncorrect
])

export const wordsOf = (failure: Failure): FailureWords => {
  const { code, message, reason } = failure
  const nothingDone = HARMLESS.has(code) || sentencesOf({ code }) !== undefined
  const text = sentencesOf(failure)
  return text === undefined
    ? { text: nothingDone ? "The node refused it." : "The node could not complete it.", detail: message, nothingDone }
    : { text, detail: reason !== undefined || WHOLE.has(code) ? undefined : message, nothingDone }
}

/** Whether the user can fix the failure on the confirmation page. */
export const isMendable = ({ code }: Pick<CallFailed, "code">): boolean =>
  code === RPC_CODE.walletUnlockNeeded || code === RPC_CODE.walletPassphraseIncorrect
