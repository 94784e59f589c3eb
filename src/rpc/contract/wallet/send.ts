import { contract } from "../../method/contract.ts"
import { json, namedOptions, orEmpty, uint32, withDefault } from "../../method/params.ts"
import { CONF_TARGET, ESTIMATE_MODE, FEE_ERRORS, FEE_RATE } from "./feeParams.ts"
import { FINISHED } from "./finishing.ts"
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
import { withoutWeights } from "./solvingData.ts"
import { PAYMENT_VERSION } from "./spending.ts"

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

export const SEND = contract({
  name: "send",
  group: "Wallet",
  right: "spend",
  writes: true,
  summary: "Pays addresses, with all options. Returns a PSBT if private keys of inputs are missing.",
  params: {
    outputs: json(
      "Objects with one member each: an address and its amount in NMC, or data and hexadecimal digits; or one " +
        "object with all members.",
      { words: "json array or object" }
    ),
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
  examples: [[[{ [ADDRESS]: 0.1 }], 6, "economical"], [{ [ADDRESS]: 0.2 }, null, "unset", 150]],
  errors: ["-5 Invalid address: <x>", ...FUNDING_ERRORS, ...FEE_ERRORS, "-8 Specify estimate_mode"]
})
