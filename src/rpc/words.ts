import type { RegistrationStep } from "../wallet/names/WalletNames.ts"
import { RPC_CODE, type RpcReason } from "./method/RpcError.ts"

/** The texts for errors and states on the node's pages, the desk and svcd-cli. */

export interface ProblemWords {
  readonly what: string
  /** What to do, on a page. */
  readonly next?: string
  /** What to do, in a terminal. */
  readonly command?: string
}

/** For a wallet that may give out no more addresses. */
export const USE_UNPAID = "Reuse an earlier address that was not paid."

const NEXT_BLOCK = "Wait for the next block, and start again."

/** Where a code has many causes. */
const REASONS: Readonly<Record<RpcReason, ProblemWords>> = {
  "beyond-words": {
    what: "A recovery would not find a payment to another new address, because too many addresses are unpaid.",
    next: USE_UNPAID
  },
  "coin-spent": {
    what: "Another transaction has spent the coins or the name meanwhile.",
    next: "Start again if you still want to."
  },
  "coins-in-use": {
    what: "Another transaction spends the same coins.",
    next: "Check your payments before you start again."
  },
  "disk-full": { what: "The disk is full.", next: "Make room there." },
  "file-exists": { what: "There is a file of this name already." },
  "file-refused": { what: "The node cannot write there." },
  "fee-too-high": { what: "The fee would exceed the wallet's limit (-maxtxfee)." },
  "funds-missing": {
    what: "The wallet does not have enough coins.",
    next: "Coins from payments that no block holds yet may be missing.",
    command: "\"svcd-cli receive\" creates an address to fund it."
  },
  "inputs-missing": {
    what: "The coins were used meanwhile, perhaps by the same payment from another window.",
    next: "See the payments before you start again."
  },
  "long-chain": {
    what: "Too many payments of the wallet wait for a block, and each one depends on another.",
    next: NEXT_BLOCK,
    command: "Too many payments of the wallet are unconfirmed: retry after the next block."
  },
  "name-pending": { what: "The name has other unconfirmed changes.", next: NEXT_BLOCK },
  "name-registering": { what: "The wallet is already registering this name. See its registrations." },
  "name-taken": {
    what: "The name was registered in the meantime, by someone else or by you.",
    next: "Choose another one."
  },
  "name-unknown": { what: "The name has expired, or no longer belongs to the wallet." },
  "no-fee-estimate": {
    what: "The node has no estimate of the fee yet.",
    next: "Set -fallbackfee, or wait.",
    command: "Set -fallbackfee, or wait."
  },
  "no-private-keys": { what: "The wallet is watch-only and has no private keys." },
  "proof-unavailable": { what: "The node does not store what a proof of this name needs." },
  "renewals-only": { what: "The wallet is unlocked for renewals only.", next: "Enter its passphrase." },
  "too-small": { what: "The amount is too small to send." }
}

const INVALID_FIELD: ProblemWords = { what: "One of the fields is invalid." }

/** Where a code has one meaning for users. */
const CODES: ReadonlyMap<number, ProblemWords> = new Map<number, ProblemWords>([
  [RPC_CODE.type, INVALID_FIELD],
  [RPC_CODE.invalidAddressOrKey, { what: "The address is not valid on this network." }],
  [RPC_CODE.invalidParameter, INVALID_FIELD],
  [RPC_CODE.initialDownload, {
    what: "The node is still downloading blocks, and does not know all names yet.",
    next: "Wait until it is synced.",
    command: "\"svcd-cli status -wait\" waits until the node knows all names."
  }],
  [RPC_CODE.keypoolRanOut, {
    what: "The wallet has no unused address.",
    next: "Unlock it, so that it can make more."
  }],
  [RPC_CODE.walletUnlockNeeded, {
    what: "The wallet is locked.",
    next: "Enter its passphrase.",
    command: "\"svcd-cli unlock\" unlocks it."
  }],
  [RPC_CODE.walletPassphraseIncorrect, { what: "The passphrase is wrong." }],
  [RPC_CODE.walletWrongEncryptionState, { what: "The wallet is not encrypted, or is already encrypted." }],
  [RPC_CODE.walletNotFound, {
    what: "No wallet is loaded.",
    command:
      "\"svcd-cli listwallets\" lists the loaded wallets, and -rpcwallet NAME selects one, -rpcwallet '' wallet.json."
  }],
  [RPC_CODE.walletNotSpecified, { what: "Several wallets are loaded.", next: "Choose one." }],
  [RPC_CODE.deserialization, { what: "The transaction is not valid." }],
  [RPC_CODE.verifyAlreadyInUtxoSet, { what: "This payment is already in a block." }],
  [RPC_CODE.warmUp, { what: "The node is starting.", command: "-rpcwait waits until the daemon has started." }],
  [RPC_CODE.methodNotFound, { what: "The node's wallets are turned off." }]
])

/** The remedy in a terminal, which a reason may not repeat. */
const commandOf = (code: number): Pick<ProblemWords, "command"> => {
  const command = CODES.get(code)?.command
  return command === undefined ? {} : { command }
}

/** `undefined` if the error's own text must do. */
export const errorWords = (
  { code, reason }: { readonly code: number; readonly reason?: RpcReason | undefined }
): ProblemWords | undefined => reason === undefined ? CODES.get(code) : { ...commandOf(code), ...REASONS[reason] }

export const STEP_WORDS: Readonly<Record<RegistrationStep, readonly [step: string, text: string]>> = {
  committed: ["step 1 of 3", "the commitment, which hides the name, is unconfirmed"],
  maturing: ["step 2 of 3", "the commitment is in a block"],
  revealed: ["step 3 of 3", "the name is unconfirmed"],
  done: ["done", "the name is yours"],
  failed: ["failed", "the registration cannot be finished"]
}

export const NAME_STATES = { active: "active", soon: "expires soon", expired: "expired" } as const

export type ExpiryState = keyof typeof NAME_STATES
