import { MAX_STANDARD_WEIGHT } from "../../../mempool/policy/limits.ts"
import { JsonObject } from "../../json/json.ts"
import {
  adapted,
  amount,
  array,
  boolean,
  int32,
  int64,
  json,
  notNull,
  optional,
  type Param,
  string
} from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"
import { CONF_TARGET, ESTIMATE_MODE, FEE_RATE, feePayers, INPUT_WEIGHTS, SOLVING_DATA } from "./walletParams.ts"

const ADD_INPUTS = "Whether to add wallet coins if the given inputs are not enough."

/** `null` has the wrong type here, as upstream, which only asks whether the option is present. */
const option = <A>(param: Param<A>, text = ""): Param<A | undefined> => notNull(optional(param, text))

const CHANGE_ADDRESS = option(string("Address for change."), "a fresh address of the wallet")

const CHANGE_POSITION = option(int32("Index of the change output."), "random")

const LOCK_UNSPENTS = option(boolean("Whether to lock the chosen coins."), "false")

export const INCLUDE_WATCHING = optional(boolean("No effect."), "false")

const FEE_PAYERS = optional(
  feePayers("The outputs, excluding change, that share the fee equally."),
  "none (the sender pays)"
)

const CHOICE_OF_COINS = {
  include_unsafe: option(boolean("Whether unconfirmed coins from others may be spent."), "false"),
  minconf: option(int32("Minimum confirmations of added coins."), "0"),
  maxconf: option(int32("Maximum confirmations of added coins."))
}

const CHANGE_TYPE = option(
  string("Type of the change address: legacy, p2sh-segwit, bech32 or bech32m."),
  "the node's setting"
)

export const MAX_TX_WEIGHT = option(int32("Maximum weight of the transaction."), String(MAX_STANDARD_WEIGHT))

const REPLACEABLE = option(boolean("Whether the transaction may be replaced (BIP 125)."), "true")

export const FEE_OPTIONS = {
  conf_target: CONF_TARGET,
  estimate_mode: ESTIMATE_MODE,
  replaceable: REPLACEABLE,
  solving_data: SOLVING_DATA
}

const OLD_STYLE_OPTIONS = {
  ...CHOICE_OF_COINS,
  changeAddress: CHANGE_ADDRESS,
  changePosition: CHANGE_POSITION,
  change_type: CHANGE_TYPE,
  includeWatching: INCLUDE_WATCHING,
  lockUnspents: LOCK_UNSPENTS,
  fee_rate: FEE_RATE,
  feeRate: option(amount("Fee rate in NMC per 1000 virtual bytes."), "by estimate"),
  subtractFeeFromOutputs: FEE_PAYERS
}

export const FUND_OPTIONS = {
  add_inputs: option(boolean(ADD_INPUTS), "true"),
  ...OLD_STYLE_OPTIONS,
  input_weights: INPUT_WEIGHTS,
  max_tx_weight: MAX_TX_WEIGHT,
  ...FEE_OPTIONS
}

export const FUND_PSBT_OPTIONS = {
  add_inputs: option(boolean(ADD_INPUTS), "true if no inputs are given"),
  ...OLD_STYLE_OPTIONS,
  max_tx_weight: MAX_TX_WEIGHT,
  ...FEE_OPTIONS
}

const OUTDATED_OPTIONS: ReadonlyArray<readonly [name: string, instead: string]> = [
  ["feeRate", "fee_rate (sat/vB)"],
  ["changeAddress", "change_address"],
  ["changePosition", "change_position"],
  ["lockUnspents", "lock_unspents"],
  ["subtractFeeFromOutputs", "subtract_fee_from_outputs"]
]

/** Rejects outdated camel-case option names, and names the replacement. Upstream `PreventOutdatedOptions`. */
export const withoutOutdated = <A>(options: Param<A>): Param<A> =>
  adapted(options, (value) => {
    const outdated = OUTDATED_OPTIONS.find(([name]) => value instanceof JsonObject && value.get(name) !== undefined)
    return outdated === undefined ? value : RpcError.invalidParameter(`Use ${outdated[1]} instead of ${outdated[0]}`)
  })

export const SEND_FUNDING_OPTIONS = {
  add_inputs: option(boolean(ADD_INPUTS), "true if no inputs are given"),
  ...CHOICE_OF_COINS
}

export const SEND_CHANGE_OPTIONS = {
  change_address: CHANGE_ADDRESS,
  change_position: CHANGE_POSITION,
  change_type: CHANGE_TYPE
}

export const SEND_OUTCOME_OPTIONS = {
  lock_unspents: LOCK_UNSPENTS,
  psbt: optional(
    boolean("Whether to always return a PSBT, without sending anything."),
    "only if signatures are missing"
  )
}

export const ADD_TO_WALLET = optional(
  boolean("Whether to store and send the transaction instead of returning it."),
  "true"
)

export const INPUTS = optional(
  array(
    json("Object with txid, vout and optionally sequence and weight.", { words: "json object" }),
    "The outputs to spend."
  ),
  "the wallet chooses"
)

export const LOCK_TIME = optional(int64("Lock time."), "close to the height of the tip")

export const SEND_FEE_PAYERS = FEE_PAYERS

export const FUNDING_ERRORS = [
  "-5 Change address must be a valid address",
  "-5 Unknown change type '<x>'",
  "-8 Cannot specify both change address and address type options",
  "-8 changePosition out of bounds",
  "-8 Negative minconf",
  "-8 maxconf can't be lower than minconf: <n> < <m>",
  "-8 TX must have at least one output",
  "-8 Invalid parameter 'subtract fee from output', <reason>",
  "-3 Unexpected key <x>",
  "-4 Insufficient funds",
  "-4 Maximum transaction weight must be between 260 and 400000"
]
