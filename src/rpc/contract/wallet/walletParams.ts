import * as Schema from "effect/Schema"
import { HIGHEST_TARGET } from "../../../mempool/fees/FeeEstimator.ts"
import { readAmount } from "../../json/amounts.ts"
import { JsonObject } from "../../json/json.ts"
import {
  adapted,
  array,
  boolean,
  custom,
  double,
  hexText,
  json,
  jsonObject,
  needing,
  object,
  optional,
  type Param,
  refined,
  string
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { knownDescriptors } from "../chain/scanObjects.ts"

export const NOT_LOADED = "Requested wallet does not exist or is not loaded"

export const LOCKED = "Error: Please enter the wallet passphrase with walletpassphrase first."

export const WATCH_ONLY = "Error: Private keys are disabled for this wallet"

export const WRONG_PASSPHRASE = "Error: The wallet passphrase entered was incorrect."

export const SCANNING = "Wallet is currently rescanning. Abort existing rescan or wait."

export const UNKNOWN_TRANSACTION = "Invalid or non-wallet transaction id"

export const NO_KEYS = "Error: This wallet has no available keys"

export const USED_UP = "Error: Keypool ran out, please call keypoolrefill first"

export const EMPTY_PASSPHRASE = "passphrase cannot be empty"

/** `*` means all labels and is invalid here. Upstream `LabelFromValue`. */
export const label = (description: string) =>
  refined(string(description), (text) => {
    if (text !== "*") return text
    return new RpcError({ code: RPC_CODE.walletInvalidLabel, message: "Invalid label name" })
  })

/** Characters of a comment or descriptor. Every text in wallet.json has a limit. */
export const MAX_TEXT = 10_000

export const MAX_LABEL = 1_000

/** `what` names the text in the error. */
export const bounded = (text: string, most: number, what: string): string | RpcError => {
  if (text.length <= most) return text
  return RpcError.invalidParameter(`Invalid parameter, ${what} is longer than ${most} characters`)
}

export const TOO_LONG_COMMENT = `-8 Invalid parameter, <comment> is longer than ${MAX_TEXT} characters`

export const TOO_LONG_LABEL = `-8 Invalid parameter, label is longer than ${MAX_LABEL} characters`

/** A rate in the smallest unit per virtual byte has three decimals and becomes an integer per 1000 virtual bytes. */
const RATE_DECIMALS = 3

export const CONF_TARGET = optional(
  // A whole number is required only after the mode is read, whose errors come first.
  double(`Target in blocks, 1 to ${HIGHEST_TARGET}.`),
  "the wallet's setting"
)

export const ESTIMATE_MODE = optional(
  string(
    "economical follows falling fees at once, conservative only after a while; unset uses the wallet's setting."
  ),
  "\"unset\""
)

export const FEE_RATE = optional(
  custom({
    kind: "amount",
    words: "numeric or string",
    description: "Fee rate in the smallest unit per virtual byte, with up to three decimals.",
    read: (value) => readAmount(value, RATE_DECIMALS)
  }),
  "by estimate"
)

export const FEE_ERRORS = [
  `-8 Invalid conf_target, must be between 1 and ${HIGHEST_TARGET}`,
  "-8 Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\"",
  "-8 Cannot specify both conf_target and fee_rate. <...>",
  "-8 Cannot specify both estimate_mode and fee_rate"
]

export const NO_AVOID_REUSE = "wallet does not have the \"avoid reuse\" feature enabled"

export const AVOID_REUSE = optional(
  boolean("Whether to leave out coins of addresses that the wallet has spent from; only with avoid_reuse."),
  "that of the wallet"
)

export const FINISHED = Schema.Struct({
  psbt: Schema.optional(Result.string("The PSBT in base64, if signatures are missing or nothing is sent")),
  txid: Schema.optional(Result.hex("The transaction, if it is complete")),
  hex: Schema.optional(Result.hex("The serialized transaction, if it is complete and not sent")),
  complete: Result.boolean("Whether every input is signed")
})

/** As in the reference node. */
export const PAYMENT_VERSION = 1

export const PAYMENT_ERRORS = [
  "-4 Error: Private keys are disabled for this wallet",
  "-6 Insufficient funds",
  "-6 Transaction amount too small",
  "-6 The total exceeds your balance when the <fee> transaction fee is included.",
  `-13 ${LOCKED}`
]

export const feePayers = (description: string) => array(json("The index of an output, or its address."), description)

export const SOLVING_DATA = optional(
  object({
    pubkeys: optional(array(hexText("A public key."), "Public keys.")),
    scripts: optional(array(hexText("A script."), "Scripts.")),
    descriptors: optional(knownDescriptors(array(string("A descriptor."), "Descriptors.")))
  }, "Keys and scripts of coins that are not the wallet's, to know the fee of their inputs. Nothing is signed with it.")
)

export const INPUT_WEIGHTS = optional(
  array(
    json("Object with txid, vout and weight.", { words: "json object" }),
    "Weights of signed inputs, in place of the wallet's estimate."
  )
)

const WEIGHTS_ELSEWHERE = "Input weights should be specified in inputs rather than in options."

/** For methods whose inputs carry their own weights. */
export const withoutWeights = <A>(options: Param<A>): Param<A> =>
  adapted(options, (value) =>
    value instanceof JsonObject && value.get("input_weights") !== undefined
      ? RpcError.invalidParameter(WEIGHTS_ELSEWHERE)
      : value)

export const WRITE_OPTIONS = {
  destAddress: optional(string("The address of the new owner."), "a fresh address of the wallet"),
  sendCoins: needing("spend", optional(jsonObject("Addresses and amounts in NMC to pay in the same transaction.")))
}

/** A missing name may exist while names are not synced. */
export const NOT_KNOWN_YET = "-10 Namecoin is downloading blocks..."

export const WRITE_ERRORS = [
  "-8 the name is too long",
  "-1000 Name/value is invalid for encoding <encoding>",
  "-5 invalid address",
  "-5 Invalid address: <x>",
  "-3 Invalid amount for send",
  "-12 Failed to generate mining address: <why>",
  ...PAYMENT_ERRORS
]
