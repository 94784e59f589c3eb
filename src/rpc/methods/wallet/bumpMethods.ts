import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { displayHash } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { InvalidWalletRequest } from "../../../wallet/errors.ts"
import type { BumpChoice } from "../../../wallet/payments/WalletPayments.ts"
import { psbtText } from "../../../wallet/signing/psbtText.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { BUMPFEE, EITHER_OR, NOT_WATCHING, PSBTBUMPFEE } from "../../contract/wallet/bump.ts"
import { Amount } from "../../json/encodeJson.ts"
import type { Method } from "../../method/methodTable.ts"
import { type Read, RpcError } from "../../method/RpcError.ts"
import { readOutputs } from "../transactionParams.ts"
import { readFeeChoice } from "./feeParams.ts"
import { ensureUnlocked, walletError, type WalletFailure, walletMethod } from "./walletContext.ts"
import { walletPsbt } from "./walletPsbt.ts"

/** Upstream `wallet/feebumper.cpp` (reference/rpc.md 3.9). */

const NO_OUTPUTS = "Invalid parameter, output argument cannot be an empty array"

const TWO_TARGETS = "confTarget and conf_target options should not both be set. Use conf_target (confTarget is " +
  "deprecated)."

/** Failures of the replacement rules. Failures of the new payment have a prefix instead. */
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

  const bumpfee = define(BUMPFEE, ({ options, txid }, wallet) =>
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
    }).pipe(Effect.mapError(bumpError)))

  const psbtbumpfee = define(PSBTBUMPFEE, ({ options, txid }, wallet) =>
    Effect.gen(function*() {
      const choice = yield* readChoice(options)
      yield* ensureUnlocked(wallet)
      const { funded, oldFee } = yield* wallet.payments.replacement(txidKey(txid), choice)
      const { psbt } = yield* walletPsbt(wallet, funded, { sign: false, derivations: true })
      return { psbt: psbtText(psbt), origfee: new Amount(oldFee), fee: new Amount(funded.fee), errors: [] }
    }).pipe(Effect.mapError(bumpError)))

  return [bumpfee, psbtbumpfee]
}
