import * as Effect from "effect/Effect"
import { displayHash } from "../../../protocol/bytes.ts"
import type { Renewal, RenewalChoice } from "../../../wallet/names/WalletNames.ts"
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

/** Only in svcd. */

const renewalJson = ({ nameEncoding }: ShapeContext) => ({ createdAt, name, note, settled, state, txid }: Renewal) => ({
  ...nameTextJson(name, nameEncoding),
  state,
  txid: txid === undefined ? undefined : displayHash(txid),
  note: note === "" ? undefined : note,
  time: createdAt,
  settled: settled ? true : undefined
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
        if (!dryrun) return (yield* known.orUnknown(wallet.names.renew(choice))).map(renewalJson(context))
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
    ({ options: { nameEncoding } }, wallet) =>
      Effect.sync(() => wallet.names.requestedRenewals().map(renewalJson(contextOf(nameEncoding))))
  )

  return [name_renew, name_renewals]
}
