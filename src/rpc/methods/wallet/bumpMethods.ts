import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { displayHash } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { InvalidWalletRequest } from "../../../wallet/errors.ts"
import type { BumpChoice } from "../../../wallet/payments/WalletPayments.ts"
import { psbtText } from "../../../wallet/signing/psbtText.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { Amount } from "../../json/encodeJson.ts"
import type { Method } from "../../method/methodTable.ts"
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
import { type Read, RpcError } from "../../method/RpcError.ts"
import { readOutputs } from "../transactionParams.ts"
import { CONF_TARGET, ESTIMATE_MODE, FEE_ERRORS, FEE_RATE, readFeeChoice } from "./feeParams.ts"
import { ensureUnlocked, walletError, type WalletFailure, walletMethod } from "./walletContext.ts"
import { walletPsbt } from "./walletPsbt.ts"

/** Transactions that replace others and pay a higher fee (reference/rpc.md 3.9). Upstream `wallet/feebumper.cpp`. */

const TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

const UNKNOWN = "Invalid or non-wallet transaction id"
const DESCENDANTS = "Transaction has descendants in the"
const MINED = "Transaction has been mined, or is conflicted with a mined transaction"
const FOREIGN_INPUTS = "Transaction contains inputs that don't belong to this wallet"
const NO_OUTPUTS = "Invalid parameter, output argument cannot be an empty array"
const CHANGE_RANGE = "Change position is out of range"
const TWO_TARGETS = "confTarget and conf_target options should not both be set. Use conf_target (confTarget is " +
  "deprecated)."
const EITHER_OR = "The options 'outputs' and 'original_change_index' are incompatible. You can only either specify a " +
  "new set of outputs, or designate a change output to be recycled."
const NOT_WATCHING = "bumpfee is not available with wallets that have private keys disabled. Use psbtbumpfee instead."

/** Failures of the rules on replacements; those of the new payment follow a prefix. */
const OF_REPLACEMENT: ReadonlySet<InvalidWalletRequest["code"]> = new Set([
  "unknown-transaction",
  "range",
  "not-eligible",
  "spent"
])

const bumpError = (failure: WalletFailure | RpcError): WalletFailure | RpcError =>
  failure._tag === "FundsMissing" || failure._tag === "InvalidWalletRequest" && !OF_REPLACEMENT.has(failure.code)
    ? RpcError.wallet(`Unable to create transaction. ${walletError(failure).message}`)
    : failure

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

export const makeBumpMethods = (
  wallets: typeof Wallets.Service,
  network: Network
): ReadonlyArray<Method> => {
  const define = walletMethod(wallets)

  const readChoice = (
    options: Parameters<typeof readFeeChoice>[0] & {
      readonly confTarget: number | undefined
      readonly replaceable: boolean
      readonly outputs: Parameters<typeof readOutputs>[1] | undefined
      readonly original_change_index: number | undefined
    }
  ): Read<BumpChoice> =>
    Either.gen(function*() {
      const { confTarget, conf_target = confTarget } = options
      if (confTarget !== undefined && options.conf_target !== undefined) {
        return yield* Either.left(RpcError.invalidParameter(TWO_TARGETS))
      }
      const fee = yield* readFeeChoice({ ...options, conf_target })
      const { original_change_index: changeIndex, outputs: given, replaceable } = options
      if (Array.isArray(given) && given.length === 0) return yield* Either.left(RpcError.invalidParameter(NO_OUTPUTS))
      const outputs = given === undefined ? undefined : yield* readOutputs(network, given)
      if (outputs !== undefined && changeIndex !== undefined) {
        return yield* Either.left(RpcError.invalidParameter(EITHER_OR))
      }
      return {
        ...fee,
        replaceable,
        ...outputs === undefined ? {} : { outputs },
        ...changeIndex === undefined ? {} : { changeIndex }
      }
    })

  const bumpfee = define({
    name: "bumpfee",
    right: "spend",
    writes: true,
    summary: "Replaces an unconfirmed transaction of the wallet by one with a higher fee, paid from its change and, " +
      "if that is not enough, from more coins.",
    params: PARAMS,
    results: [{ schema: Schema.Struct({ txid: Result.hex("The new transaction"), ...FEES }) }],
    examples: [[TXID], [TXID, { fee_rate: 250 }]],
    errors: [`-4 ${NOT_WATCHING}`, `-4 ${FOREIGN_INPUTS}`, ...ERRORS],
    handler: ({ options, txid }, wallet) =>
      Effect.gen(function*() {
        if (!wallet.keys.hasPrivateKeys) return yield* RpcError.wallet(NOT_WATCHING)
        const choice = yield* readChoice(options)
        yield* ensureUnlocked(wallet)
        const { funded, oldFee } = yield* wallet.payments.bump(txidKey(txid), choice)
        return {
          txid: displayHash(funded.transaction.txid),
          origfee: new Amount(oldFee),
          fee: new Amount(funded.fee),
          errors: []
        }
      }).pipe(Effect.mapError(bumpError))
  })

  const psbtbumpfee = define({
    name: "psbtbumpfee",
    right: "spend",
    writes: true,
    summary: "Makes a PSBT of the transaction that bumpfee would send, without signing or sending it.",
    params: PARAMS,
    results: [{ schema: Schema.Struct({ psbt: Result.string("The PSBT in base64"), ...FEES }) }],
    examples: [[TXID]],
    errors: ERRORS,
    handler: ({ options, txid }, wallet) =>
      Effect.gen(function*() {
        const choice = yield* readChoice(options)
        yield* ensureUnlocked(wallet)
        const { funded, oldFee } = yield* wallet.payments.replacement(txidKey(txid), choice)
        const { psbt } = yield* walletPsbt(wallet, funded, { sign: false, derivations: true })
        return { psbt: psbtText(psbt), origfee: new Amount(oldFee), fee: new Amount(funded.fee), errors: [] }
      }).pipe(Effect.mapError(bumpError))
  })

  return [bumpfee, psbtbumpfee]
}
