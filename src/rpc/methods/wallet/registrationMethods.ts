import * as Effect from "effect/Effect"
import { UNSEEN_WORDS } from "../../../base/recoveryWords.ts"
import { type Bytes, displayHash, EMPTY, toHex } from "../../../protocol/bytes.ts"
import type { StorageFailure } from "../../../storage/errors.ts"
import { lintWarnings } from "../../../values/lint.ts"
import type { InvalidWalletRequest } from "../../../wallet/errors.ts"
import type { ListedRegistration, Registration } from "../../../wallet/names/WalletNames.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import {
  NAME_AUTOREGISTER,
  NAME_AUTORENEW,
  NAME_CANCEL,
  NAME_REGISTRATIONS,
  type RENEWALS
} from "../../contract/wallet/registration.ts"
import type { Method } from "../../method/methodTable.ts"
import type * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { ShapeContext } from "../../shapes/context.ts"
import { nameTextJson, valueTextJson } from "../../shapes/name.ts"
import { contextFor, type GivenEncodings } from "../nameEncodings.ts"
import { nameError, nameGiven, type NameMethodParts, nameWriteReader } from "./nameOptions.ts"
import { makeRenewalMethods } from "./renewalMethods.ts"
import { walletMethod } from "./walletContext.ts"

/** Only in svcd. */

const registrationJson = (context: ShapeContext, registration: Registration) => {
  const { createdAt, firstUpdateTxid, name, newTxid, note, rand, step, value } = registration
  return {
    ...nameTextJson(name, context.nameEncoding),
    ...(value === undefined ? undefined : valueTextJson(value, context.valueEncoding)),
    txid: displayHash(newTxid),
    rand: toHex(rand),
    firstupdate_txid: firstUpdateTxid === undefined ? undefined : displayHash(firstUpdateTxid),
    step,
    note: note === "" ? undefined : note,
    time: createdAt
  }
}

const listedJson = (context: ShapeContext, registration: ListedRegistration) => ({
  ...registrationJson(context, registration),
  blocks_left: registration.blocksLeft
})

const renewalJson = (context: ShapeContext, wallet: Wallet): Result.ValueOf<typeof RENEWALS> => {
  const { all, except, names } = wallet.names.renewal()
  const shown = (list: ReadonlyArray<Bytes>) => list.map((name) => nameTextJson(name, context.nameEncoding))
  return { all, names: shown(names), except: except.length === 0 ? undefined : shown(except) }
}

const refusedByWallet = (failure: InvalidWalletRequest | StorageFailure): RpcError | StorageFailure =>
  failure._tag === "InvalidWalletRequest" ? RpcError.wallet(failure.reason) : failure

export const makeRegistrationMethods = (parts: NameMethodParts): ReadonlyArray<Method> => {
  const { chain, known, node, wallets } = parts
  const define = walletMethod(wallets)
  const { network } = chain.params
  const read = nameWriteReader(network, node)

  const contextOf = (given: GivenEncodings) => contextFor(network, node, given)

  const contextOfName = (given: Pick<GivenEncodings, "nameEncoding">) =>
    contextOf({ nameEncoding: given.nameEncoding, valueEncoding: undefined })

  const name_autoregister = define(
    NAME_AUTOREGISTER,
    ({ name: text, options: given, value: valueText }, wallet) =>
      Effect.gen(function*() {
        const { context, name, options, value = EMPTY } = yield* read({ name: text, value: valueText, options: given })
        yield* known.active(name)
        const { autorenew: renew } = given
        const registration = yield* Effect.mapError(
          wallet.names.register(name, value, renew === undefined ? options : { ...options, renew }),
          nameError
        )
        const unseen = network.name !== "regtest" && wallet.recovery.isPhraseKept() === false
        const warnings = [...lintWarnings(name, value), ...unseen ? [UNSEEN_WORDS] : []]
        return {
          ...registrationJson(context, registration),
          autorenew: options.destination === undefined && wallet.names.isRenewed(name),
          warnings: warnings.length === 0 ? undefined : warnings
        }
      })
  )

  const name_registrations = define(NAME_REGISTRATIONS, ({ options: given }, wallet) =>
    Effect.sync(() => {
      const context = contextOf(given)
      return wallet.names.registrations().map((registration) => listedJson(context, registration))
    }))

  const name_cancel = define(NAME_CANCEL, ({ name: text, options: given }, wallet) =>
    Effect.gen(function*() {
      const name = yield* nameGiven(text, contextOfName(given))
      if (yield* wallet.names.cancelRenewal(name)) return { cancelled: "renewal" as const }
      yield* Effect.mapError(wallet.names.cancelRegistration(name), refusedByWallet)
      return { cancelled: "registration" as const }
    }))

  const name_autorenew = define(NAME_AUTORENEW, ({ name: text, on, options: given }, wallet) =>
    Effect.gen(function*() {
      const context = contextOfName(given)
      const name = text === undefined ? undefined : yield* nameGiven(text, context)
      if (on !== undefined) yield* Effect.mapError(wallet.names.setRenewal(name, on), refusedByWallet)
      return renewalJson(context, wallet)
    }))

  return [name_autoregister, name_registrations, name_cancel, name_autorenew, ...makeRenewalMethods(parts)]
}
