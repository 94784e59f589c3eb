import * as Effect from "effect/Effect"
import type { Chain } from "../../../chain/Chain.ts"
import { type Bytes, displayHash, EMPTY, toHex } from "../../../protocol/bytes.ts"
import { encodeText } from "../../../protocol/nameText.ts"
import { nameWarnings } from "../../../wallet/names/nameWarnings.ts"
import type { Registration, Wallet } from "../../../wallet/Wallet.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { checked } from "../../method/checked.ts"
import type { Method } from "../../method/methodTable.ts"
import { boolean, notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"
import * as Shape from "../../method/shape.ts"
import type { NodeOptions } from "../../NodeOptions.ts"
import type { Members, ShapeContext } from "../../shapes/context.ts"
import { contextFor, ENCODINGS, type GivenEncodings } from "../nameEncodings.ts"
import type { KnownNames } from "./knownNames.ts"
import {
  nameError,
  nameGiven,
  NOT_KNOWN_YET,
  readWriteOptions,
  valueGiven,
  WRITE_ERRORS,
  WRITE_OPTIONS
} from "./nameOptions.ts"
import { walletMethod } from "./walletContext.ts"

/** What the wallet does with names by itself: registrations that it carries on, and renewals. No other node has these. */

const NAME_MEMBERS = {
  name: Shape.optional(Shape.string("The name")),
  name_error: Shape.optional(Shape.string("In place of the name: why it cannot be written so")),
  name_encoding: Shape.string("How the name is written: ascii, utf8 or hex")
}

const REGISTRATION_MEMBERS = {
  ...NAME_MEMBERS,
  value: Shape.optional(Shape.string("The value that it is to have; missing for a lone name_new")),
  value_error: Shape.optional(Shape.string("In place of the value: why it cannot be written so")),
  value_encoding: Shape.optional(Shape.string("How the value is written: ascii, utf8 or hex")),
  txid: Shape.hex("The transaction of name_new"),
  rand: Shape.hex("The salt of its commitment"),
  firstupdate_txid: Shape.optional(Shape.hex("The transaction of name_firstupdate, once it is sent")),
  step: Shape.string(
    "committed: name_new is sent; maturing: it is in a block and has to grow old; revealed: name_firstupdate is sent; " +
      "done; failed"
  ),
  note: Shape.optional(Shape.string("What it waits for, or why it failed")),
  time: Shape.time("When it was started")
}

const RENEWALS = Shape.object({
  all: Shape.boolean("Whether all names of the wallet are renewed before they expire"),
  names: Shape.array(Shape.object(NAME_MEMBERS), "Names that are, whatever is said of all")
})

/** Bytes under a name of their own, or what is wrong with them; the encoding in any case. */
const written = (member: "name" | "value", bytes: Bytes, context: ShapeContext): Members => {
  const encoding = member === "name" ? context.nameEncoding : context.valueEncoding
  const text = encodeText(bytes, encoding)
  return {
    ...(text === undefined ? { [`${member}_error`]: `invalid data for ${encoding}` } : { [member]: text }),
    [`${member}_encoding`]: encoding
  }
}

/** A registration in answers. */
const registrationJson = (context: ShapeContext, registration: Registration): Members => {
  const { createdAt, firstUpdateTxid, name, newTxid, note, rand, step, value } = registration
  return {
    ...written("name", name, context),
    ...(value === undefined ? {} : written("value", value, context)),
    txid: displayHash(newTxid),
    rand: toHex(rand),
    firstupdate_txid: firstUpdateTxid === undefined ? undefined : displayHash(firstUpdateTxid),
    step,
    note: note === "" ? undefined : note,
    time: createdAt
  }
}

const renewalJson = (context: ShapeContext, wallet: Wallet): Members => {
  const { all, names } = wallet.renewal()
  return { all, names: names.map((name) => written("name", name, context)) }
}

export const makeRegistrationMethods = (
  wallets: typeof Wallets.Service,
  chain: typeof Chain.Service,
  options: typeof NodeOptions.Service,
  known: KnownNames
): ReadonlyArray<Method> => {
  const define = walletMethod(wallets)
  const { network } = chain.params

  const contextOf = (given: GivenEncodings) => contextFor(network, options, given)

  const contextOfName = (given: Pick<GivenEncodings, "nameEncoding">) =>
    contextOf({ nameEncoding: given.nameEncoding, valueEncoding: undefined })

  const NAME_OPTIONS = orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding }, "Options.")))

  const name_autoregister = define({
    name: "name_autoregister",
    group: "Names",
    summary:
      "Registers a name in one call: sends name_new now, and name_firstupdate by itself once the commitment is " +
      "old enough, also after a restart. An encrypted wallet has to be unlocked at both times.",
    params: {
      name: string("The name."),
      value: optional(string("The value."), "\"\""),
      options: orEmpty(notNull(object({ ...ENCODINGS, ...WRITE_OPTIONS }, "Options.")))
    },
    results: [{
      shape: Shape.object({
        ...REGISTRATION_MEMBERS,
        warnings: Shape.optional(Shape.array(Shape.string("What is unusual"), "What is unusual about name and value"))
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
        const context = contextOf(given)
        const name = yield* nameGiven(text, context)
        const value = valueText === undefined ? EMPTY : yield* valueGiven(valueText, context)
        const more = yield* checked(() => readWriteOptions(network, given))
        yield* known.active(name)
        const registration = yield* Effect.mapError(wallet.register(name, value, more), nameError)
        const warnings = nameWarnings(name, value)
        return {
          ...registrationJson(context, registration),
          warnings: warnings.length === 0 ? undefined : warnings
        }
      })
  })

  const name_registrations = define({
    name: "name_registrations",
    group: "Names",
    summary: "Lists the registrations of the wallet with how far each is, those of name_new included.",
    params: { options: orEmpty(notNull(object(ENCODINGS, "Options."))) },
    results: [{ shape: Shape.array(Shape.object(REGISTRATION_MEMBERS)) }],
    examples: [[]],
    handler: ({ options: given }, wallet) =>
      Effect.sync(() => {
        const context = contextOf(given)
        return wallet.registrations().map((registration) => registrationJson(context, registration))
      })
  })

  const name_cancel = define({
    name: "name_cancel",
    group: "Names",
    summary: "Calls off a registration: no name_firstupdate is sent for it. What is sent already stays.",
    params: { name: string("The name."), options: NAME_OPTIONS },
    results: [{ shape: Shape.nothing("") }],
    examples: [["d/example"]],
    errors: ["-4 <why it cannot be called off>", "-1000 Name/value is invalid for encoding <encoding>"],
    handler: ({ name: text, options: given }, wallet) =>
      Effect.gen(function*() {
        const name = yield* nameGiven(text, contextOfName(given))
        yield* Effect.mapError(
          wallet.cancelRegistration(name),
          (failure) => failure._tag === "InvalidWalletRequest" ? RpcError.wallet(failure.reason) : failure
        )
        return null
      })
  })

  const name_autorenew = define({
    name: "name_autorenew",
    group: "Names",
    summary: "Says which names the wallet renews before they expire, and changes that where \"on\" is given: for the " +
      "name, or without one for all. An encrypted wallet has to be unlocked when it renews.",
    params: {
      name: optional(string("The name; null for all."), "all names"),
      on: optional(boolean("Whether it is renewed."), "nothing is changed"),
      options: NAME_OPTIONS
    },
    results: [{ shape: RENEWALS }],
    examples: [[], ["d/example", true]],
    errors: ["-8 the name is too long", "-1000 Name/value is invalid for encoding <encoding>"],
    handler: ({ name: text, on, options: given }, wallet) =>
      Effect.gen(function*() {
        const context = contextOfName(given)
        const name = text === undefined ? undefined : yield* nameGiven(text, context)
        if (on !== undefined) yield* wallet.setRenewal(name, on)
        return renewalJson(context, wallet)
      })
  })

  return [name_autoregister, name_registrations, name_cancel, name_autorenew]
}
