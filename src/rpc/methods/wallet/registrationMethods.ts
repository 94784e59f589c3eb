import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { UNSEEN_WORDS } from "../../../base/unseenWords.ts"
import { type Bytes, displayHash, EMPTY, toHex } from "../../../protocol/bytes.ts"
import type { StorageFailure } from "../../../storage/errors.ts"
import { lintWarnings } from "../../../values/lint.ts"
import type { InvalidWalletRequest } from "../../../wallet/errors.ts"
import type { ListedRegistration, Registration } from "../../../wallet/names/WalletNames.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { Method } from "../../method/methodTable.ts"
import { boolean, notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { ShapeContext } from "../../shapes/context.ts"
import { NAME_TEXT_MEMBERS, nameTextJson, REGISTRATION_MEMBERS, valueTextJson } from "../../shapes/name.ts"
import { contextFor, ENCODINGS, type GivenEncodings } from "../nameEncodings.ts"
import {
  nameError,
  nameGiven,
  type NameMethodParts,
  nameWriteReader,
  NOT_KNOWN_YET,
  WRITE_ERRORS,
  WRITE_OPTIONS
} from "./nameOptions.ts"
import { makeRenewalMethods } from "./renewalMethods.ts"
import { walletMethod } from "./walletContext.ts"

/** Automatic registrations and renewals of the wallet. No other node has these methods. */

const RENEWALS = Schema.Struct({
  all: Result.boolean("Whether the wallet renews all names before they expire"),
  names: Schema.Array(Schema.Struct(NAME_TEXT_MEMBERS)).annotations({
    description: "Names that the wallet renews in any case"
  }),
  except: Schema.optional(
    Schema.Array(Schema.Struct(NAME_TEXT_MEMBERS)).annotations({
      description: "Names whose renewal the owner switched off: not renewed although all others are, and left out by " +
        "name_renew all; missing without any"
    })
  )
})

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

const LISTED = Schema.Struct({
  ...REGISTRATION_MEMBERS,
  blocks_left: Schema.optional(
    Result.integer(
      "The least number of blocks until the next step; 0: now, or name_firstupdate may follow a name_new alone; missing if it " +
        "has ended, or the wallet does not have the coin of a name_new alone"
    )
  )
})

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

const NAME_OPTIONS = orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding }, "Options.")))

export const makeRegistrationMethods = (parts: NameMethodParts): ReadonlyArray<Method> => {
  const { chain, known, node, wallets } = parts
  const define = walletMethod(wallets)
  const { network } = chain.params
  const read = nameWriteReader(network, node)

  const contextOf = (given: GivenEncodings) => contextFor(network, node, given)

  const contextOfName = (given: Pick<GivenEncodings, "nameEncoding">) =>
    contextOf({ nameEncoding: given.nameEncoding, valueEncoding: undefined })

  const name_autoregister = define({
    name: "name_autoregister",
    right: "names",
    writes: true,
    group: "Names",
    summary:
      "Registers a name in one call: sends name_new now, and name_firstupdate as soon as the commitment is deep " +
      "enough, even after a restart. An encrypted wallet must be unlocked at both times.",
    params: {
      name: string("The name."),
      value: optional(string("The value."), "\"\""),
      options: orEmpty(notNull(object({
        ...ENCODINGS,
        ...WRITE_OPTIONS,
        autorenew: optional(
          boolean("Whether the wallet renews the name before it expires."),
          "true, false with -noautorenew or for another owner"
        )
      }, "Options.")))
    },
    results: [{
      schema: Schema.Struct({
        ...REGISTRATION_MEMBERS,
        autorenew: Result.boolean("Whether the wallet renews the name before it expires"),
        warnings: Schema.optional(
          Schema.Array(Result.string("A warning")).annotations({
            description: "Warnings about the name, the value, and a wallet without a backup"
          })
        )
      })
    }],
    examples: [["d/example", "{\"ip\":\"192.0.2.1\"}"]],
    errors: [
      "-8 the value is too long",
      "-25 this name exists already",
      NOT_KNOWN_YET,
      "-25 this name is already being registered",
      ...WRITE_ERRORS
    ],
    handler: ({ name: text, options: given, value: valueText }, wallet) =>
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
  })

  const name_registrations = define({
    name: "name_registrations",
    right: "names",
    group: "Names",
    summary: "Lists the registrations of the wallet and their progress, including those started by name_new.",
    params: { options: orEmpty(notNull(object(ENCODINGS, "Options."))) },
    results: [{ schema: Schema.Array(LISTED) }],
    examples: [[]],
    handler: ({ options: given }, wallet) =>
      Effect.sync(() => {
        const context = contextOf(given)
        return wallet.names.registrations().map((registration) => listedJson(context, registration))
      })
  })

  const name_cancel = define({
    name: "name_cancel",
    right: "names",
    writes: true,
    group: "Names",
    summary:
      "Cancels a registration: no name_firstupdate is sent. Or cancels a renewal of name_renew whose name_update is not " +
      "sent. Transactions that were sent stay valid.",
    params: { name: string("The name."), options: NAME_OPTIONS },
    results: [{ schema: Result.nothing("") }],
    examples: [["d/example"]],
    errors: ["-4 <reason why it cannot be cancelled>", "-1000 Name/value is invalid for encoding <encoding>"],
    handler: ({ name: text, options: given }, wallet) =>
      Effect.gen(function*() {
        const name = yield* nameGiven(text, contextOfName(given))
        if (yield* wallet.names.cancelRenewal(name)) return null
        yield* Effect.mapError(wallet.names.cancelRegistration(name), refusedByWallet)
        return null
      })
  })

  const name_autorenew = define({
    name: "name_autorenew",
    right: "names",
    writes: true,
    group: "Names",
    summary: "Returns the names that the wallet renews before they expire. With \"on\", changes the setting of a " +
      "name, or of all names; a name that is switched off is an exception, including for name_renew all, until all names are set again. Switching " +
      "off withdraws renewals of name_renew that are not sent, for all names also of those that name_renew named. " +
      "An encrypted wallet must be unlocked at the time of a renewal.",
    params: {
      name: optional(string("The name; null for all."), "all names"),
      on: optional(boolean("Whether the wallet renews it."), "nothing is changed"),
      options: NAME_OPTIONS
    },
    results: [{ schema: RENEWALS }],
    examples: [[], ["d/example", true]],
    errors: [
      "-8 the name is too long",
      "-4 the wallet neither owns nor registers this name",
      "-4 the wallet has no private keys: it cannot renew names",
      "-1000 Name/value is invalid for encoding <encoding>"
    ],
    handler: ({ name: text, on, options: given }, wallet) =>
      Effect.gen(function*() {
        const context = contextOfName(given)
        const name = text === undefined ? undefined : yield* nameGiven(text, context)
        if (on !== undefined) yield* Effect.mapError(wallet.names.setRenewal(name, on), refusedByWallet)
        return renewalJson(context, wallet)
      })
  })

  return [name_autoregister, name_registrations, name_cancel, name_autorenew, ...makeRenewalMethods(parts)]
}
