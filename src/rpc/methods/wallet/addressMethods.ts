import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../../chain/Chain.ts"
import { addressOf, decodeAddress, scriptOf } from "../../../protocol/address.ts"
import type { Network } from "../../../protocol/networks.ts"
import { InvalidWalletRequest } from "../../../wallet/errors.ts"
import type { AddressType, OwnScript } from "../../../wallet/keys/WalletKeys.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import type { Method } from "../../method/methodTable.ts"
import { atMost, int32, optional, refined, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { ADDRESS_INFO, addressInfo } from "./addressInfo.ts"
import { bounded, MAX_LABEL, TOO_LONG_LABEL } from "./texts.ts"
import {
  type DefineWalletMethod,
  ensureUnlocked,
  label,
  LOCKED,
  NO_KEYS,
  USED_UP,
  walletError,
  type WalletFailure,
  walletMethod
} from "./walletContext.ts"

/** Methods for addresses and their labels (reference/rpc.md 3.9). */

const ADDRESS = "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"

const ADDRESS_TYPES: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

/** The default address type in the help (reference/rpc.md 3.9). */
const SET_BY = "that of -addresstype"

export const addressType = (description: string) =>
  refined(string(`${description}: ${ADDRESS_TYPES.join(", ")}.`), (text) => {
    const type = ADDRESS_TYPES.find((known) => known === text)
    return type ?? RpcError.invalidAddressOrKey(`Unknown address type '${text}'`)
  })

const INVALID_ADDRESS = "Invalid address"

/** The script of an address, or the error that most wallet methods have for an invalid one. */
export const scriptOfAddress = (network: Network, address: string): Effect.Effect<Uint8Array, RpcError> =>
  Effect.suspend(() => {
    const parsed = decodeAddress(network, address)
    return "error" in parsed
      ? RpcError.invalidAddressOrKey(INVALID_ADDRESS)
      : Effect.succeed(scriptOf(parsed.destination))
  })

const newLabel = (description: string) => refined(label(description), (text) => bounded(text, MAX_LABEL, "label"))

const noneOf = (type: AddressType): string => `Error: No ${type} addresses available.`

const ADDRESS_ERRORS = [
  `-5 Unknown address type '<x>'`,
  `-4 ${NO_KEYS}`,
  "-12 Error: No <type> addresses available.",
  `-12 ${USED_UP}`
]

/** The error for a missing address type: the wallet has no key at all, or none for this type. */
const addressFailure = (type: AddressType) => (failure: WalletFailure): RpcError =>
  failure instanceof InvalidWalletRequest && failure.code === "address-type"
    ? new RpcError({ code: RPC_CODE.keypoolRanOut, message: noneOf(type) })
    : walletError(failure)

const shownAddress = ({ address }: OwnScript): Effect.Effect<string, RpcError> =>
  address === undefined ? RpcError.internal() : Effect.succeed(address)

/** Addresses of each type that a call may ask for: some seconds of work. A wallet that needs more of them sets `-keypool`. */
const MAX_KEYPOOL = 10_000

const PURPOSES = ["send", "receive", "refund"]

const UNKNOWN_PURPOSE = "Invalid 'purpose' argument, must be a known purpose string, typically 'send', or 'receive'."

const setlabel = (make: DefineWalletMethod, network: Network) =>
  make({
    name: "setlabel",
    right: "names",
    writes: true,
    summary: "Sets the label of an address.",
    params: { address: string("The address; the wallet need not own it."), label: newLabel("The label.") },
    results: [{ schema: Result.nothing("") }],
    examples: [[ADDRESS, "rent"]],
    errors: [`-5 ${INVALID_ADDRESS}`, "-11 Invalid label name", TOO_LONG_LABEL],
    handler: ({ address, label }, wallet) =>
      Effect.gen(function*() {
        const script = yield* scriptOfAddress(network, address)
        yield* wallet.keys.setLabel({ address: addressOf(network, script) ?? address, label })
        return null
      })
  })

const listlabels = (make: DefineWalletMethod) =>
  make({
    name: "listlabels",
    right: "names",
    summary: "Lists the labels in sorted order.",
    params: { purpose: withDefault(string("Only labels of addresses with this purpose: send or receive."), "") },
    results: [{ schema: Schema.Array(Result.string("A label")) }],
    examples: [[], ["receive"]],
    errors: [`-8 ${UNKNOWN_PURPOSE}`],
    handler: ({ purpose }, wallet) =>
      Effect.suspend(() => {
        if (purpose !== "" && !PURPOSES.includes(purpose)) return RpcError.invalidParameter(UNKNOWN_PURPOSE)
        const entries = [...wallet.keys.labels().values()].filter((entry) =>
          purpose === "" || entry.purpose === purpose
        )
        return Effect.succeed([...new Set(entries.map((entry) => entry.label))].sort())
      })
  })

const getaddressesbylabel = (make: DefineWalletMethod) =>
  make({
    name: "getaddressesbylabel",
    right: "names",
    summary: "Lists the addresses with a label.",
    params: { label: label("The label.") },
    results: [{
      schema: Result.map("address", Schema.Struct({ purpose: Result.string("receive for own addresses, else send") }))
    }],
    examples: [["rent"]],
    errors: ["-11 No addresses with label <x>"],
    handler: ({ label }, wallet) =>
      Effect.suspend(() => {
        const found = [...wallet.keys.labels()].filter(([, entry]) => entry.label === label)
        if (found.length === 0) {
          const message = `No addresses with label ${label}`
          return new RpcError({ code: RPC_CODE.walletInvalidLabel, message })
        }
        return Effect.succeed(new Map(found.map(([address, { purpose }]) => [address, { purpose }])))
      })
  })

const keypoolrefill = (make: DefineWalletMethod) =>
  make({
    name: "keypoolrefill",
    right: "names",
    writes: true,
    summary: "Derives addresses until the wallet has enough unused ones of each type. Only ranges of hardened keys " +
      "(`/*h`) need that: all others are derived on demand.",
    params: {
      newsize: optional(
        atMost(
          MAX_KEYPOOL,
          int32(`Unused addresses of each type, for receiving and for change; at most ${MAX_KEYPOOL}.`)
        ),
        "-keypool"
      )
    },
    results: [{ schema: Result.nothing("") }],
    examples: [[]],
    errors: ["-8 Invalid parameter, expected valid size.", `-13 ${LOCKED}`],
    handler: ({ newsize = 0 }, wallet) =>
      newsize < 0
        ? RpcError.invalidParameter("Invalid parameter, expected valid size.")
        : Effect.as(
          Effect.zipRight(ensureUnlocked(wallet), wallet.keys.refill(newsize)),
          null
        )
  })

export const addressMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets | Chain> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const make = walletMethod(yield* Wallets)

  const getnewaddress = make({
    name: "getnewaddress",
    right: "names",
    writes: true,
    summary: "Returns a new address for payments to the wallet.",
    params: {
      label: withDefault(newLabel("The label of the address."), ""),
      address_type: optional(addressType("Address type"), SET_BY)
    },
    results: [{ schema: Result.string("The address") }],
    examples: [[], ["", "bech32"]],
    errors: [
      ...ADDRESS_ERRORS,
      "-12 the last 1000 <type> addresses were not paid, and the recovery words would not find a payment to another one",
      "-11 Invalid label name",
      TOO_LONG_LABEL
    ],
    handler: ({ address_type, label }, wallet) => {
      const type = address_type ?? wallet.rules.addressType
      return wallet.keys.newAddress({ type, label }).pipe(
        Effect.mapError(addressFailure(type)),
        Effect.flatMap(shownAddress)
      )
    }
  })

  const getrawchangeaddress = make({
    name: "getrawchangeaddress",
    right: "names",
    writes: true,
    summary: "Returns a new change address.",
    params: { address_type: optional(addressType("Address type"), "that of -changetype or -addresstype") },
    results: [{ schema: Result.string("The address") }],
    examples: [[]],
    errors: ADDRESS_ERRORS,
    handler: ({ address_type }, wallet) => {
      const type = address_type ?? wallet.rules.changeType ?? wallet.rules.addressType
      return wallet.keys.newChangeAddress(type).pipe(
        Effect.mapError(addressFailure(type)),
        Effect.flatMap(shownAddress)
      )
    }
  })

  const getaddressinfo = make({
    name: "getaddressinfo",
    right: "names",
    summary: "Returns the parts of an address and the wallet's data for it.",
    params: { address: string("The address.") },
    results: [{ schema: ADDRESS_INFO }],
    examples: [[ADDRESS]],
    errors: ["-5 Invalid checksum or length of Base58 address (P2PKH or P2SH)", "-5 <reason why it is invalid>"],
    handler: ({ address }, wallet) =>
      Effect.suspend(() => {
        const parsed = decodeAddress(network, address)
        return "error" in parsed
          ? RpcError.invalidAddressOrKey(parsed.error)
          : Effect.succeed(addressInfo(network, wallet, parsed.destination))
      })
  })

  return [
    getnewaddress,
    getrawchangeaddress,
    getaddressinfo,
    setlabel(make, network),
    listlabels(make),
    getaddressesbylabel(make),
    keypoolrefill(make)
  ]
})
