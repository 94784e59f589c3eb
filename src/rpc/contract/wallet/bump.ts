import * as Schema from "effect/Schema"
import { walletContract } from "../../method/contract.ts"
import {
  boolean,
  hash,
  hidden,
  json,
  namedOptions,
  optional,
  orEmpty,
  uint32,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EXAMPLE_TXID } from "../examples.ts"
import { CONF_TARGET, ESTIMATE_MODE, FEE_ERRORS, FEE_RATE } from "./walletParams.ts"

const UNKNOWN = "Invalid or non-wallet transaction id"

const DESCENDANTS = "Transaction has descendants in the"

const MINED = "Transaction has been mined, or is conflicted with a mined transaction"

const FOREIGN_INPUTS = "Transaction contains inputs that don't belong to this wallet"

const CHANGE_RANGE = "Change position is out of range"

export const EITHER_OR =
  "The options 'outputs' and 'original_change_index' are incompatible. You can only either specify a " +
  "new set of outputs, or designate a change output to be recycled."

export const NOT_WATCHING =
  "bumpfee is not available with wallets that have private keys disabled. Use psbtbumpfee instead."

const FEES = {
  origfee: Result.amount("The fee of the replaced transaction, in NMC"),
  fee: Result.amount("The fee of the new transaction, in NMC"),
  errors: Schema.Array(Result.string("A problem that did not prevent the replacement"))
}

const PARAMS = {
  txid: hash("The transaction to replace."),
  options: orEmpty(namedOptions({
    conf_target: CONF_TARGET,
    confTarget: hidden(CONF_TARGET),
    fee_rate: FEE_RATE,
    replaceable: withDefault(boolean("Whether the new transaction may be replaced again (BIP 125)."), true),
    estimate_mode: ESTIMATE_MODE,
    outputs: optional(
      json(
        "The new outputs in place of the old ones: objects with one member each, an address and its amount in NMC, " +
          "or data and hexadecimal digits.",
        { words: "json array or object" }
      ),
      "unchanged"
    ),
    original_change_index: optional(
      uint32("Index of the change output, which may shrink."),
      "the wallet's change"
    )
  }, "Options."))
}

const ERRORS = [
  `-5 ${UNKNOWN}`,
  `-8 ${DESCENDANTS} wallet`,
  `-8 ${DESCENDANTS} mempool`,
  `-8 ${EITHER_OR}`,
  `-8 ${CHANGE_RANGE}`,
  "-8 Insufficient total fee <fee>, must be at least <fee> <...>",
  `-4 ${MINED}`,
  "-8 Insufficient total fee (cannot be less than required fee <fee>)",
  "-4 New fee rate (<rate>) is lower than the minimum fee rate (<rate>) to get into the mempool -- ",
  "-4 Specified or calculated fee <fee> is too high (cannot be higher than -maxtxfee <fee>)",
  "-1 <txid>:<n> is already spent",
  "-4 Cannot bump transaction <txid> which was already bumped by transaction <txid>",
  "-4 Unable to create transaction. <reason>",
  ...FEE_ERRORS
]

export const BUMPFEE = walletContract({
  name: "bumpfee",
  right: "spend",
  writes: true,
  summary: "Replaces an unconfirmed transaction of the wallet by one with a higher fee, paid from its change and, " +
    "if that is not enough, from more coins.",
  params: PARAMS,
  results: [{ schema: Schema.Struct({ txid: Result.hex("The new transaction"), ...FEES }) }],
  examples: [[EXAMPLE_TXID], [EXAMPLE_TXID, { fee_rate: 250 }]],
  errors: [`-4 ${NOT_WATCHING}`, `-4 ${FOREIGN_INPUTS}`, ...ERRORS]
})

export const PSBTBUMPFEE = walletContract({
  name: "psbtbumpfee",
  right: "spend",
  writes: true,
  summary: "Makes a PSBT of the transaction that bumpfee would send, without signing or sending it.",
  params: PARAMS,
  results: [{ schema: Schema.Struct({ psbt: Result.string("The PSBT in base64"), ...FEES }) }],
  examples: [[EXAMPLE_TXID]],
  errors: ERRORS
})
