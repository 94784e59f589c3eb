import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { displayHash } from "../../../protocol/bytes.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { FeeChoice, PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { readInTurns } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import { amount, boolean, int32, jsonObject, optional, refined, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { readOutputsSteps } from "../transactionParams.ts"
import { AVOID_REUSE, avoidReuse, NO_AVOID_REUSE } from "./avoidReuse.ts"
import { CONF_TARGET, ESTIMATE_MODE, FEE_ERRORS, FEE_RATE, readFeeChoice } from "./feeParams.ts"
import { addressScriptOf, feePayers, outputNames, readFeePayers } from "./payees.ts"
import { ensureKeys, PAYMENT_ERRORS, PAYMENT_VERSION } from "./spending.ts"
import { bounded, MAX_TEXT, TOO_LONG_COMMENT } from "./texts.ts"
import { ensureUnlocked, type WalletFailure, walletMethod } from "./walletContext.ts"

/** Payments made and sent in one call: to one address or to many (reference/rpc.md 3.9). */

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"
const OTHER_ADDRESS = "mrrZuyGF4F9946R14M4bScSzhT2qjcXQHo"

/** A comment within the wallet's maximum length. */
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

const PAID = Schema.Struct({ txid: TXID, fee_reason: Result.string("Source of the fee") })

const PAYMENT_RESULTS = [
  { when: "verbose is false", schema: TXID },
  { when: "verbose is true", schema: PAID }
]

const DUMMY = "Dummy value must be set to \"\""

/** Comments as the wallet stores them: an empty one counts as missing. */
export const paymentNotes = (
  { comment, commentTo }: { readonly comment: string | undefined; readonly commentTo?: string | undefined }
): Pick<PaymentRequest, "comment" | "commentTo"> => ({
  ...(comment === undefined || comment === "" ? {} : { comment }),
  ...(commentTo === undefined || commentTo === "" ? {} : { commentTo })
})

/** Makes a payment and sends it. Upstream `wallet/rpc/spend.cpp`, `SendMoney`. */
export const sendMoney = (
  wallet: Wallet,
  request: PaymentRequest
): Effect.Effect<Result.ValueOf<typeof PAID>, WalletFailure | RpcError> =>
  Effect.gen(function*() {
    yield* ensureUnlocked(wallet)
    yield* ensureKeys(wallet)
    const { feeReason, transaction } = yield* wallet.payments.pay({ version: PAYMENT_VERSION, ...request })
    return { txid: displayHash(transaction.txid), fee_reason: feeReason }
  })

interface PaymentOptions {
  readonly fee: FeeChoice
  readonly replaceable: boolean | undefined
}

const paymentOptions = (
  { fee, replaceable }: PaymentOptions
): Pick<PaymentRequest, "replaceable" | keyof FeeChoice> => ({
  ...fee,
  ...(replaceable === undefined ? {} : { replaceable })
})

export const makeSimplePayments = (
  wallets: typeof Wallets.Service,
  network: Network
): ReadonlyArray<Method> => {
  const define = walletMethod(wallets)

  const sendtoaddress = define({
    name: "sendtoaddress",
    right: "spend",
    writes: true,
    summary: "Pays an address.",
    params: {
      address: string("The address."),
      amount: amount("The amount in NMC."),
      comment: COMMENT,
      comment_to: COMMENT_TO,
      subtractfeefromamount: SUBTRACT_FEE,
      replaceable: REPLACEABLE,
      conf_target: CONF_TARGET,
      estimate_mode: ESTIMATE_MODE,
      avoid_reuse: AVOID_REUSE,
      fee_rate: FEE_RATE,
      verbose: VERBOSE
    },
    results: PAYMENT_RESULTS,
    examples: [[ADDRESS, 0.1], [ADDRESS, 0.1, "rent", "landlord", true]],
    errors: ["-5 Invalid address: <x>", ...PAYMENT_ERRORS, ...FEE_ERRORS, `-4 ${NO_AVOID_REUSE}`, TOO_LONG_COMMENT],
    handler: (given, wallet) =>
      Effect.gen(function*() {
        const { address, amount: value, avoid_reuse, comment, comment_to, replaceable, verbose } = given
        const clean = yield* avoidReuse(wallet, avoid_reuse)
        const fee = yield* readFeeChoice(given)
        yield* ensureUnlocked(wallet)
        const script = yield* addressScriptOf(network, address)
        const request: PaymentRequest = {
          outputs: [{ value, script }],
          subtractFeeFrom: given.subtractfeefromamount ? [0] : [],
          ...(clean ? { avoidReuse: true, avoidPartialSpends: true } : {}),
          ...paymentOptions({ fee, replaceable }),
          ...paymentNotes({ comment, commentTo: comment_to })
        }
        const paid = yield* sendMoney(wallet, request)
        return verbose ? paid : paid.txid
      })
  })

  const sendmany = define({
    name: "sendmany",
    right: "spend",
    writes: true,
    summary: "Pays several addresses with one transaction.",
    params: {
      dummy: withDefault(string("\"\"."), ""),
      amounts: jsonObject("Addresses and their amounts in NMC."),
      minconf: optional(int32("No effect.")),
      comment: COMMENT,
      subtractfeefrom: optional(
        feePayers("The outputs whose amounts pay the fee, in equal parts."),
        "none: the sender pays"
      ),
      replaceable: REPLACEABLE,
      conf_target: CONF_TARGET,
      estimate_mode: ESTIMATE_MODE,
      fee_rate: FEE_RATE,
      verbose: VERBOSE
    },
    results: PAYMENT_RESULTS,
    examples: [["", { [ADDRESS]: 0.01, [OTHER_ADDRESS]: 0.02 }]],
    errors: [
      `-8 ${DUMMY}`,
      "-5 Invalid address: <x>",
      "-8 Invalid parameter, duplicated address: <x>",
      "-8 Invalid parameter 'subtract fee from output', <reason>",
      ...PAYMENT_ERRORS,
      ...FEE_ERRORS,
      TOO_LONG_COMMENT
    ],
    handler: (given, wallet, { turns }) =>
      Effect.gen(function*() {
        const { amounts, comment, dummy, replaceable, subtractfeefrom, verbose } = given
        if (dummy !== "") return yield* RpcError.invalidParameter(DUMMY)
        const fee = yield* readFeeChoice(given)
        const outputs = yield* readInTurns(turns, readOutputsSteps(network, amounts))
        const subtractFeeFrom = yield* readFeePayers(subtractfeefrom, outputNames(amounts))
        const request: PaymentRequest = {
          outputs,
          subtractFeeFrom,
          ...paymentOptions({ fee, replaceable }),
          ...paymentNotes({ comment })
        }
        const paid = yield* sendMoney(wallet, request)
        return verbose ? paid : paid.txid
      })
  })

  return [sendtoaddress, sendmany]
}
