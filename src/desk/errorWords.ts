import type { CallFailed, FailureCode, FailureReason } from "./calls.ts"

/** The errors of RPC as sentences for users. */

/** Codes after which nothing was sent; `undefined` in the answer of `wordsOf` says that this is unknown. */
const KNOWN: ReadonlyMap<FailureCode, string> = new Map<FailureCode, string>([
  ["forbidden", "Your user may not do this. Log in as a user with the right for it."],
  [-3, "One of the fields has an invalid content."],
  [-5, "The address is not valid on this network."],
  [-8, "One of the fields has an invalid content."],
  [-10, "The node is still downloading blocks, and does not know all names yet. Wait until it is synced."],
  [-12, "The wallet has no unused address. Unlock it, so that it can make more."],
  [-13, "The wallet is locked. Enter its passphrase."],
  [-14, "The passphrase is wrong."],
  [-15, "The wallet is not encrypted, or is encrypted already."],
  [-18, "No wallet is loaded."],
  [-19, "Several wallets are loaded. Choose one."],
  [-22, "The transaction is not valid."],
  [-27, "This payment is in a block already."],
  [-28, "The node is starting."],
  [-32601, "The node does not have this function now: its wallets are turned off."]
])

/** What helps a wallet that may give out no more addresses. */
export const USE_UNPAID = "Give payers an address again that was shown before and was not paid."

/** Sentences for failures whose code has many causes. */
const REASONS: Readonly<Record<FailureReason, string>> = {
  "beyond-words":
    `The recovery words would not find a payment to another new address, since too many were not paid. ${USE_UNPAID}`,
  changed:
    "The name was changed after this page was made, perhaps from another window. Open it again, so that the other change is " +
    "not lost.",
  "coin-spent":
    "The coins of this page, or the name, were used meanwhile: another transaction spends them. Start again if you still want to.",
  "fee-too-high": "The fee would be higher than the most that the wallet may pay (-maxtxfee).",
  "funds-missing":
    "The wallet has not enough coins for it. Coins from payments that no block holds yet may be missing.",
  "in-use": "Another transaction spends the same coins. See the payments before you start again.",
  "inputs-missing":
    "The coins of this page were used meanwhile, perhaps by the same payment from another window. See the payments before you start " +
    "again.",
  "long-chain":
    "Too many payments of the wallet wait for a block, and each one depends on another. Wait for the next block, and start again.",
  "name-pending": "The name has other changes that wait for a block. Wait for it, and start again.",
  "name-registering": "The wallet is registering this name already: see its registrations.",
  "name-taken": "The name was registered meanwhile, by another owner or by you. Choose another one.",
  "name-unknown": "The name has expired, or no longer belongs to the wallet.",
  "no-fee-estimate": "The node has no estimate of the fee yet. Set -fallbackfee, or wait.",
  "no-private-keys": "The wallet has no private keys: it only watches.",
  "renewals-only": "The wallet is unlocked for renewals only. Enter its passphrase.",
  "too-small": "The amount is too small to be sent."
}

export interface FailureWords {
  /** Sentences. */
  readonly text: string
  /** What RPC said, if the sentence leaves something out. */
  readonly detail: string | undefined
  /** Whether nothing was done for certain. */
  readonly nothingDone: boolean
}

/** Codes of refusals before anything is sent. -4 is a failure of the wallet, which it states. */
const HARMLESS: ReadonlySet<FailureCode> = new Set([...KNOWN.keys(), -4, -6, -25, -26, -1000])

export const wordsOf = ({ code, message, reason }: Pick<CallFailed, "code" | "message" | "reason">): FailureWords => {
  const nothingDone = HARMLESS.has(code)
  if (reason !== undefined) return { text: REASONS[reason], detail: undefined, nothingDone }
  const known = KNOWN.get(code)
  return known === undefined
    ? { text: nothingDone ? "The node refused it." : "The node could not finish it.", detail: message, nothingDone }
    : {
      text: known,
      detail: typeof code === "number" && code !== -13 && code !== -14 ? message : undefined,
      nothingDone
    }
}

/** Whether the user can mend a failure on the page that asks for confirmation. */
export const isMendable = ({ code }: Pick<CallFailed, "code">): boolean => code === -13 || code === -14
