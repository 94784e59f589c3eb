import { refined, string } from "../../method/params.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"

export const NOT_LOADED = "Requested wallet does not exist or is not loaded"

export const LOCKED = "Error: Please enter the wallet passphrase with walletpassphrase first."

export const WATCH_ONLY = "Error: Private keys are disabled for this wallet"

export const WRONG_PASSPHRASE = "Error: The wallet passphrase entered was incorrect."

export const SCANNING = "Wallet is currently rescanning. Abort existing rescan or wait."

export const UNKNOWN_TRANSACTION = "Invalid or non-wallet transaction id"

export const NO_KEYS = "Error: This wallet has no available keys"

export const USED_UP = "Error: Keypool ran out, please call keypoolrefill first"

export const EMPTY_PASSPHRASE = "passphrase cannot be empty"

/** Reads a label; `*`, which means all labels, is invalid. Upstream `LabelFromValue`. */
export const label = (description: string) =>
  refined(string(description), (text) => {
    if (text !== "*") return text
    return new RpcError({ code: RPC_CODE.walletInvalidLabel, message: "Invalid label name" })
  })
