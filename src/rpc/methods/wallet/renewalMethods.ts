import * as Effect from "effect/Effect"
import { displayHash } from "../../../protocol/bytes.ts"
import type { Renewal, RenewalChoice } from "../../../wallet/names/WalletNames.ts"
import { psbtText } from "../../../wallet/signing/psbtText.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { type GivenChoice, MOST_RENEWED, NAME_RENEW, NAME_RENEWALS } from "../../contract/wallet/renewal.ts"
import { Amount } from "../../json/encodeJson.ts"
import { eachInTurns } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { ShapeContext } from "../../shapes/context.ts"
import { nameTextJson } from "../../shapes/name.ts"
import type { CallTurns } from "../../SlowLane.ts"
import { contextFor } from "../nameEncodings.ts"
import { nameGiven, type NameMethodParts } from "./nameOptions.ts"
import { walletMethod } from "./walletContext.ts"
import { walletPsbt } from "./walletPsbt.ts"

/** Only in svcd. */

const psbtOfRenewal = (wallet: Wallet, { unsigned }: Renewal): Effect.Effect<string | undefined> =>
  unsigned === undefined
    ? Effect.succeed(undefined)
    : Effect.map(
      // The wallet has the transactions that it spends: no coin is needed beside them.
      walletPsbt(wallet, { transaction: unsigned, coins: [] }, { sign: false, derivations: true }),
      ({ psbt }) => psbtText(psbt)
    )

const renewalJson = (wallet: Wallet, { nameEncoding }: ShapeContext) => (renewal: Renewal) =>
  Effect.map(psbtOfRenewal(wallet, renewal), (psbt) => {
    const { createdAt, name, note, settled, state, txid } = renewal
    return {
      ...nameTextJson(name, nameEncoding),
      state,
      txid: txid === undefined ? undefined : displayHash(txid),
      psbt,
      note: note === "" ? undefined : note,
      time: createdAt,
      settled: settled ? true : undefined
    }
  })

const amountOf = (units: number | undefined): Amount | undefined => units === undefined ? undefined : new Amount(units)

export const makeRenewalMethods = ({ chain, known, node, wallets }: NameMethodParts): ReadonlyArray<Method> => {
  const define = walletMethod(wallets)
  const { network } = chain.params

  const contextOf = (nameEncoding: string | undefined): ShapeContext =>
    contextFor(network, node, { nameEncoding, valueEncoding: undefined })

  const choiceOf = (
    turns: CallTurns,
    given: GivenChoice,
    context: ShapeContext
  ): Effect.Effect<RenewalChoice, RpcError> => {
    if (given.of !== "texts") return Effect.succeed(given)
    const { texts } = given
    if (texts.length === 0 || texts.length > MOST_RENEWED) {
      return RpcError.invalidParameter(`there have to be from 1 to ${MOST_RENEWED} names`)
    }
    return Effect.map(
      eachInTurns(turns, texts, (text) => nameGiven(text, context)),
      (names): RenewalChoice => ({ of: "names", names })
    )
  }

  const name_renew = define(
    NAME_RENEW,
    ({ names: given, options: { dryrun, nameEncoding } }, wallet, { turns }) =>
      Effect.gen(function*() {
        const context = contextOf(nameEncoding)
        const choice = yield* choiceOf(turns, given, context)
        if (!dryrun) {
          const renewals = yield* known.orUnknown(wallet.names.renew(choice))
          return yield* eachInTurns(turns, renewals, renewalJson(wallet, context))
        }
        const { fee, leftOut, names } = yield* known.orUnknown(wallet.names.planRenewals(choice))
        return {
          names: names.map(({ fee, left, name, note, state }) => ({
            ...nameTextJson(name, context.nameEncoding),
            state,
            expires_in: left,
            fee: amountOf(fee),
            note: note === "" ? undefined : note
          })),
          transactions: names.filter(({ state }) => state === "waiting").length,
          fee: amountOf(fee),
          left_out: leftOut === 0 ? undefined : leftOut
        }
      }).pipe(
        Effect.mapError((failure) =>
          failure._tag === "InvalidWalletRequest" ? RpcError.wallet(failure.reason) : failure
        )
      )
  )

  const name_renewals = define(
    NAME_RENEWALS,
    ({ options: { nameEncoding } }, wallet, { turns }) =>
      Effect.suspend(() =>
        eachInTurns(turns, wallet.names.requestedRenewals(), renewalJson(wallet, contextOf(nameEncoding)))
      )
  )

  return [name_renew, name_renewals]
}
