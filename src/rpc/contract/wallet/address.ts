import * as Schema from "effect/Schema"
import type { AddressType } from "../../../wallet/keys/WalletKeys.ts"
import { walletContract } from "../../method/contract.ts"
import { atMost, freeText, int32, optional, refined, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { EXAMPLE_OWN_ADDRESS } from "../examples.ts"
import { ADDRESS_INFO } from "./addressInfo.ts"
import { bounded, label, LOCKED, MAX_LABEL, NO_KEYS, TOO_LONG_LABEL, USED_UP } from "./walletParams.ts"

const ADDRESS_TYPES: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

/** The default address type in the help (reference/rpc.md 3.9). */
const SET_BY = "that of -addresstype"

export const addressType = (description: string) =>
  refined(string(`${description}: ${ADDRESS_TYPES.join(", ")}.`), (text) => {
    const type = ADDRESS_TYPES.find((known) => known === text)
    return type ?? RpcError.invalidAddressOrKey(`Unknown address type '${text}'`)
  })

export const INVALID_ADDRESS = "Invalid address"

const newLabel = (description: string) => refined(label(description), (text) => bounded(text, MAX_LABEL, "label"))

const ADDRESS_ERRORS = [
  `-5 Unknown address type '<x>'`,
  `-4 ${NO_KEYS}`,
  "-12 Error: No <type> addresses available.",
  `-12 ${USED_UP}`
]

/** Addresses of each type per call: some seconds of work. A wallet that needs more sets `-keypool`. */
const MAX_KEYPOOL = 10_000

export const UNKNOWN_PURPOSE =
  "Invalid 'purpose' argument, must be a known purpose string, typically 'send', or 'receive'."

export const SETLABEL = walletContract({
  name: "setlabel",
  coins: "any",
  right: "names",
  writes: true,
  summary: "Sets the label of an address.",
  params: { address: string("The address; the wallet need not own it."), label: freeText(newLabel("The label.")) },
  results: [{ schema: Result.nothing("") }],
  examples: [[EXAMPLE_OWN_ADDRESS, "rent"]],
  errors: [`-5 ${INVALID_ADDRESS}`, "-11 Invalid label name", TOO_LONG_LABEL]
})

export const LISTLABELS = walletContract({
  name: "listlabels",
  coins: "any",
  right: "names",
  summary: "Lists the labels in sorted order.",
  params: { purpose: withDefault(string("Only labels of addresses with this purpose: send or receive."), "") },
  results: [{ schema: Schema.Array(Result.string("A label")) }],
  examples: [[], ["receive"]],
  errors: [`-8 ${UNKNOWN_PURPOSE}`]
})

export const GETADDRESSESBYLABEL = walletContract({
  name: "getaddressesbylabel",
  coins: "any",
  right: "names",
  summary: "Lists the addresses with a label.",
  params: { label: freeText(label("The label.")) },
  results: [{
    schema: Result.map("address", Schema.Struct({ purpose: Result.string("receive for own addresses, else send") }))
  }],
  examples: [["rent"]],
  errors: ["-11 No addresses with label <x>"]
})

export const KEYPOOLREFILL = walletContract({
  name: "keypoolrefill",
  coins: "any",
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
  errors: ["-8 Invalid parameter, expected valid size.", `-13 ${LOCKED}`]
})

export const GETNEWADDRESS = walletContract({
  name: "getnewaddress",
  coins: "any",
  right: "names",
  writes: true,
  summary: "Returns a new address for payments to the wallet.",
  params: {
    label: freeText(withDefault(newLabel("The label of the address."), "")),
    address_type: freeText(optional(addressType("Address type"), SET_BY))
  },
  results: [{ schema: Result.string("The address") }],
  examples: [[], ["", "bech32"]],
  errors: [
    ...ADDRESS_ERRORS,
    "-12 the last 1000 <type> addresses were not paid, and the seed phrase would not recover a payment to another one",
    "-11 Invalid label name",
    TOO_LONG_LABEL
  ]
})

export const GETRAWCHANGEADDRESS = walletContract({
  name: "getrawchangeaddress",
  coins: "any",
  right: "names",
  writes: true,
  summary: "Returns a new change address.",
  params: { address_type: optional(addressType("Address type"), "that of -changetype or -addresstype") },
  results: [{ schema: Result.string("The address") }],
  examples: [[]],
  errors: ADDRESS_ERRORS
})

export const GETADDRESSINFO = walletContract({
  name: "getaddressinfo",
  coins: "any",
  right: "names",
  summary: "Returns the parts of an address and the wallet's data for it.",
  params: { address: string("The address.") },
  results: [{ schema: ADDRESS_INFO }],
  examples: [[EXAMPLE_OWN_ADDRESS]],
  errors: ["-5 Invalid checksum or length of Base58 address (P2PKH or P2SH)", "-5 <reason why it is invalid>"]
})
