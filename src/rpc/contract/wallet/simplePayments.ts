import * as Schema from "effect/Schema"
import { walletContract } from "../../method/contract.ts"
import {
  amount,
  boolean,
  freeText,
  int32,
  jsonObject,
  optional,
  refined,
  string,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EXAMPLE_ADDRESS } from "../examples.ts"
import {
  AVOID_REUSE,
  bounded,
  CONF_TARGET,
  ESTIMATE_MODE,
  FEE_ERRORS,
  FEE_RATE,
  feePayers,
  MAX_TEXT,
  NO_AVOID_REUSE,
  PAYMENT_ERRORS,
  TOO_LONG_COMMENT
} from "./walletParams.ts"

const OTHER_ADDRESS = "mrrZuyGF4F9946R14M4bScSzhT2qjcXQHo"

const note = ({ description, name }: { readonly description: string; readonly name: string }) =>
  optional(refined(string(description), (text) => bounded(text, MAX_TEXT, name)))

export const COMMENT = note({ description: "Purpose of the payment; stored only in the wallet.", name: "comment" })

export const COMMENT_TO = note({
  description: "Recipient of the payment; stored only in the wallet.",
  name: "comment_to"
})

export const REPLACEABLE = optional(boolean("Whether the transaction may be replaced (BIP 125)."), "true")

export const SUBTRACT_FEE = withDefault(boolean("Whether to subtract the fee from the amount."), false)

const VERBOSE = withDefault(boolean("Whether to return the source of the fee."), false)

const TXID = Result.hex("The transaction")

export const PAID = Schema.Struct({ txid: TXID, fee_reason: Result.string("Source of the fee") })

const PAYMENT_RESULTS = [
  { when: "verbose is false", schema: TXID },
  { when: "verbose is true", schema: PAID }
]

export const SENDMANY_DUMMY = "Dummy value must be set to \"\""

export const SENDTOADDRESS = walletContract({
  name: "sendtoaddress",
  right: "spend",
  writes: true,
  summary: "Pays an address.",
  params: {
    address: freeText(string("The address.")),
    amount: amount("The amount in NMC."),
    comment: freeText(COMMENT),
    comment_to: freeText(COMMENT_TO),
    subtractfeefromamount: SUBTRACT_FEE,
    replaceable: REPLACEABLE,
    conf_target: CONF_TARGET,
    estimate_mode: freeText(ESTIMATE_MODE),
    avoid_reuse: AVOID_REUSE,
    fee_rate: FEE_RATE,
    verbose: VERBOSE
  },
  results: PAYMENT_RESULTS,
  examples: [[EXAMPLE_ADDRESS, 0.1], [EXAMPLE_ADDRESS, 0.1, "rent", "landlord", true]],
  errors: ["-5 Invalid address: <x>", ...PAYMENT_ERRORS, ...FEE_ERRORS, `-4 ${NO_AVOID_REUSE}`, TOO_LONG_COMMENT]
})

export const SENDMANY = walletContract({
  name: "sendmany",
  right: "spend",
  writes: true,
  summary: "Pays several addresses with one transaction.",
  params: {
    dummy: freeText(withDefault(string("\"\"."), "")),
    amounts: jsonObject("Addresses and their amounts in NMC."),
    minconf: optional(int32("No effect.")),
    comment: freeText(COMMENT),
    subtractfeefrom: optional(
      feePayers("The outputs that share the fee equally."),
      "none (the sender pays)"
    ),
    replaceable: REPLACEABLE,
    conf_target: CONF_TARGET,
    estimate_mode: freeText(ESTIMATE_MODE),
    fee_rate: FEE_RATE,
    verbose: VERBOSE
  },
  results: PAYMENT_RESULTS,
  examples: [["", { [EXAMPLE_ADDRESS]: 0.01, [OTHER_ADDRESS]: 0.02 }]],
  errors: [
    `-8 ${SENDMANY_DUMMY}`,
    "-5 Invalid address: <x>",
    "-8 Invalid parameter, duplicated address: <x>",
    "-8 Invalid parameter 'subtract fee from output', <reason>",
    ...PAYMENT_ERRORS,
    ...FEE_ERRORS,
    TOO_LONG_COMMENT
  ]
})
