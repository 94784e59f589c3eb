import * as Effect from "effect/Effect"
import { displayHash } from "../../../protocol/bytes.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { FeeChoice, PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { type PAID, SENDMANY, SENDMANY_DUMMY, SENDTOADDRESS } from "../../contract/wallet/simplePayments.ts"
import { PAYMENT_VERSION } from "../../contract/wallet/walletParams.ts"
import { readInTurns } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import type * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { readOutputsSteps } from "../transactionParams.ts"
import { readFeeChoice } from "./feeParams.ts"
import { addressScriptOf, outputNames, readFeePayers } from "./payees.ts"
import { avoidReuse, ensureKeys } from "./spending.ts"
import { ensureUnlocked, type WalletFailure, walletMethod } from "./walletContext.ts"

/** reference/rpc.md 3.9. */

/** Empty comments count as missing. */
export const paymentNotes = (
  { comment, commentTo }: { readonly comment: string | undefined; readonly commentTo?: string | undefined }
): Pick<PaymentRequest, "comment" | "commentTo"> => ({
  ...(comment === undefined || comment === "" ? {} : { comment }),
  ...(commentTo === undefined || commentTo === "" ? {} : { commentTo })
})

/** Makes and sends a payment. Upstream `wallet/rpc/spend.cpp`, `SendMoney`. */
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

  const sendtoaddress = define(SENDTOADDRESS, (given, wallet) =>
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
    }))

  const sendmany = define(SENDMANY, (given, wallet, { turns }) =>
    Effect.gen(function*() {
      const { amounts, comment, dummy, replaceable, subtractfeefrom, verbose } = given
      if (dummy !== "") return yield* RpcError.invalidParameter(SENDMANY_DUMMY)
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
    }))

  return [sendtoaddress, sendmany]
}
