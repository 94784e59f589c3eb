import * as Schema from "effect/Schema"
import { JsonObject } from "../../json/json.ts"
import { rawContract, walletContract } from "../../method/contract.ts"
import {
  adapted,
  array,
  boolean,
  hexText,
  int32,
  int64,
  namedOptions,
  notNull,
  optional,
  orEmpty,
  type Param,
  uint32,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EXAMPLE_ADDRESS } from "../examples.ts"
import { NAMEOP_PARAM } from "../names/nameParams.ts"
import { TRANSACTION_PARAMS } from "../transactions/transactionParams.ts"
import { FUND_OPTIONS, FUND_PSBT_OPTIONS, FUNDING_ERRORS, INPUTS } from "./fundingOptions.ts"
import { PAYMENT_VERSION, withoutWeights } from "./walletParams.ts"

const TRANSACTION = "01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const FEE = Result.amount("The fee in NMC")

const CHANGE = Result.integer("Index of the change output; -1 for none")

/** Options that used to be booleans. A boolean has no effect. */
const orBoolean = <A>(param: Param<A>): Param<A> => ({
  ...adapted(param, (value) => typeof value === "boolean" ? new JsonObject() : value),
  expected: undefined
})

export const DECODING_FAILED = "Transaction hex string decoding failure."

export const SPENT_TWICE = "Transaction(s) are spending the same output more than once"

export const INPUT_GONE = "One or more transaction inputs are missing or have been spent already"

/** With a name operation, the payment is funded at its whole length. */
const NAME_OPTIONS = {
  nameop: notNull(optional(NAMEOP_PARAM, "none")),
  nameop_vout: withDefault(int32("Index of the output that gets the name operation."), 0)
}

export const FUNDRAWTRANSACTION = rawContract({
  name: "fundrawtransaction",
  right: "spend",
  writes: true,
  summary: "Adds inputs of the wallet to a transaction until they pay for its outputs and the fee, and at most one " +
    "change output. The new inputs are not signed.",
  params: {
    hexstring: hexText("The transaction."),
    options: orBoolean(orEmpty(namedOptions(FUND_OPTIONS, "Options."))),
    iswitness: optional(boolean("Whether the transaction is in witness format."), "tries both")
  },
  results: [{ schema: Schema.Struct({ hex: Result.hex("The transaction"), fee: FEE, changepos: CHANGE }) }],
  examples: [[TRANSACTION], [TRANSACTION, { fee_rate: 120, changePosition: 0 }]],
  errors: ["-22 TX decode failed", ...FUNDING_ERRORS]
})

export const WALLETCREATEFUNDEDPSBT = walletContract({
  name: "walletcreatefundedpsbt",
  right: "spend",
  writes: true,
  summary: "Makes a PSBT from inputs and outputs, and adds inputs of the wallet to fund it. Does not sign or send it.",
  params: {
    inputs: INPUTS,
    outputs: TRANSACTION_PARAMS.outputs,
    locktime: withDefault(int64("Lock time."), 0),
    options: orEmpty(withoutWeights(namedOptions({ ...FUND_PSBT_OPTIONS, ...NAME_OPTIONS }, "Options."))),
    bip32derivs: withDefault(boolean("Whether the PSBT includes derivation paths of the wallet's keys."), true),
    version: withDefault(uint32("Version of the transaction."), PAYMENT_VERSION)
  },
  results: [{
    schema: Schema.Struct({
      rand: Schema.optional(Result.hex("The salt of a name_new; the owner needs it for name_firstupdate")),
      psbt: Result.string("The PSBT in base64"),
      fee: FEE,
      changepos: CHANGE
    })
  }],
  examples: [
    [[], [{ [EXAMPLE_ADDRESS]: 0.5 }], 0, { fee_rate: 120 }],
    [[], [{ [EXAMPLE_ADDRESS]: 0.01 }], 0, { nameop: { op: "name_new", name: "d/example" } }]
  ],
  errors: ["-5 Invalid address: <x>", "-8 vout is out of range", "-8 Invalid name operation", "-22 rand must be hex"]
})

export const SIMULATERAWTRANSACTION = walletContract({
  name: "simulaterawtransaction",
  coins: "any",
  right: "names",
  summary: "Returns the change of the balance if transactions were sent in order, without sending them.",
  params: {
    rawtxs: optional(array(hexText("A transaction."), "The transactions."), "none"),
    options: orEmpty(
      namedOptions({ include_watchonly: optional(boolean("Without effect."), "false") }, "Options.")
    )
  },
  results: [{
    schema: Schema.Struct({ balance_change: Result.amount("The change in NMC; negative for a decrease") })
  }],
  examples: [[[TRANSACTION]]],
  errors: [`-22 ${DECODING_FAILED}`, `-8 ${SPENT_TWICE}`, `-8 ${INPUT_GONE}`]
})
