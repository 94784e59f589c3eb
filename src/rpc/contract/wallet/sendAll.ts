import { walletContract } from "../../method/contract.ts"
import {
  array,
  boolean,
  int32,
  json,
  namedOptions,
  optional,
  orEmpty,
  uint32,
  withDefault
} from "../../method/params.ts"
import { EXAMPLE_ADDRESS } from "../examples.ts"
import { TRANSACTION_PARAMS } from "../transactions/transactionParams.ts"
import {
  ADD_TO_WALLET,
  FEE_OPTIONS,
  FUNDING_ERRORS,
  INCLUDE_WATCHING,
  INPUTS,
  LOCK_TIME,
  MAX_TX_WEIGHT,
  SEND_CHANGE_OPTIONS,
  SEND_FEE_PAYERS,
  SEND_FUNDING_OPTIONS,
  SEND_OUTCOME_OPTIONS,
  withoutOutdated
} from "./fundingOptions.ts"
import {
  CONF_TARGET,
  ESTIMATE_MODE,
  FEE_ERRORS,
  FEE_RATE,
  FINISHED,
  PAYMENT_VERSION,
  withoutWeights
} from "./walletParams.ts"

export const NO_RECIPIENT = "Must provide at least one address without a specified amount"

export const MAX_WITH_INPUTS = "Cannot combine send_max with specific inputs."

export const DEPTH_WITH_INPUTS = "Cannot combine minconf or maxconf with specific inputs."

export const SEND_ALL_TOO_LARGE = "Transaction too large."

export const UNKNOWN_SIZE =
  "Unable to determine the size of the transaction, the wallet contains unsolvable descriptors"

export const TOO_MUCH = "Assigned more value to outputs than available funds."

export const NOTHING_FOR_FEES = "Insufficient funds for fees after creating specified outputs."

export const DUST_LEFT = "Dynamically assigned remainder results in dust output."

export const POOL_TOO_LOW = "Total value of UTXO pool too low to pay for transaction"

export const SENDALL = walletContract({
  name: "sendall",
  right: "spend",
  writes: true,
  summary: "Spends all trusted coins, or the given ones, without change. Recipients without an amount share the " +
    "rest after the other recipients and the fee.",
  params: {
    recipients: array(
      json("An address, or an object with an address and its amount in NMC.", { words: "string or json object" }),
      "The recipients; at least one address has no amount."
    ),
    conf_target: CONF_TARGET,
    estimate_mode: ESTIMATE_MODE,
    fee_rate: FEE_RATE,
    options: orEmpty(withoutOutdated(namedOptions({
      add_to_wallet: ADD_TO_WALLET,
      fee_rate: FEE_RATE,
      include_watching: INCLUDE_WATCHING,
      inputs: INPUTS,
      locktime: LOCK_TIME,
      ...SEND_OUTCOME_OPTIONS,
      send_max: optional(boolean("Whether to leave out coins not worth their fee."), "false"),
      minconf: optional(int32("Minimum confirmations of coins."), "0"),
      maxconf: optional(int32("Maximum confirmations of coins.")),
      version: optional(uint32("Version of the transaction."), String(PAYMENT_VERSION)),
      ...FEE_OPTIONS
    }, "Options.")))
  },
  results: [{ schema: FINISHED }],
  examples: [[[EXAMPLE_ADDRESS]], [[EXAMPLE_ADDRESS], null, "unset", 150]],
  errors: [
    `-8 ${NO_RECIPIENT}`,
    `-8 ${MAX_WITH_INPUTS}`,
    `-8 ${DEPTH_WITH_INPUTS}`,
    "-8 Input not available. UTXO (<txid>:<n>) was already spent.",
    "-8 Input not found. UTXO (<txid>:<n>) is not part of wallet.",
    "-8 Specified output amount to <address> is below dust threshold.",
    `-6 ${POOL_TOO_LOW}<...>`,
    `-6 ${TOO_MUCH}`,
    `-6 ${NOTHING_FOR_FEES}`,
    `-6 ${DUST_LEFT}`,
    `-4 ${SEND_ALL_TOO_LARGE}`,
    `-4 ${UNKNOWN_SIZE}`,
    "-8 Can't spend unconfirmed version <n> pre-selected input with a version <n> tx",
    ...FEE_ERRORS
  ]
})

export const SEND = walletContract({
  name: "send",
  right: "spend",
  writes: true,
  summary: "Pays addresses, with all options. Returns a PSBT if private keys of inputs are missing.",
  params: {
    outputs: TRANSACTION_PARAMS.outputs,
    conf_target: CONF_TARGET,
    estimate_mode: ESTIMATE_MODE,
    fee_rate: FEE_RATE,
    options: orEmpty(withoutWeights(withoutOutdated(namedOptions({
      ...SEND_FUNDING_OPTIONS,
      add_to_wallet: ADD_TO_WALLET,
      ...SEND_CHANGE_OPTIONS,
      fee_rate: FEE_RATE,
      include_watching: INCLUDE_WATCHING,
      inputs: INPUTS,
      locktime: LOCK_TIME,
      ...SEND_OUTCOME_OPTIONS,
      subtract_fee_from_outputs: SEND_FEE_PAYERS,
      max_tx_weight: MAX_TX_WEIGHT,
      ...FEE_OPTIONS
    }, "Options.")))),
    version: withDefault(uint32("Version of the transaction."), PAYMENT_VERSION)
  },
  results: [{ schema: FINISHED }],
  examples: [[[{ [EXAMPLE_ADDRESS]: 0.1 }], 6, "economical"], [{ [EXAMPLE_ADDRESS]: 0.2 }, null, "unset", 150]],
  errors: ["-5 Invalid address: <x>", ...FUNDING_ERRORS, ...FEE_ERRORS, "-8 Specify estimate_mode"]
})
