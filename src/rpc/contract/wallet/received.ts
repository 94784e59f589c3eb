import * as Schema from "effect/Schema"
import { walletContract } from "../../method/contract.ts"
import { boolean, freeText, int32, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EXAMPLE_OWN_ADDRESS } from "../examples.ts"
import { label } from "./walletParams.ts"

const MIN_CONFIRMATIONS = withDefault(int32("Minimum confirmations."), 1)

const IMMATURE = withDefault(boolean("Whether immature coinbases count."), false)

const WATCH_ONLY = withDefault(boolean("Ignored."), false)

export const LISTRECEIVEDBYADDRESS = walletContract({
  name: "listreceivedbyaddress",
  coins: "any",
  right: "names",
  summary: "Lists the amounts that labelled addresses received, including amounts locked in names.",
  params: {
    minconf: MIN_CONFIRMATIONS,
    include_empty: withDefault(boolean("Whether to list addresses that received nothing."), false),
    include_watchonly: WATCH_ONLY,
    address_filter: withDefault(string("Only this address."), ""),
    include_immature_coinbase: IMMATURE
  },
  results: [{
    schema: Schema.Array(Schema.Struct({
      address: Result.string("The address"),
      amount: Result.amount("Received amount"),
      confirmations: Result.integer("Confirmations of the latest payment"),
      label: Result.string("Label of the address"),
      txids: Schema.Array(Result.hex("A transaction that pays to it"))
    }))
  }],
  examples: [[], [6, true]],
  errors: ["-4 address_filter parameter was invalid"]
})

export const LISTRECEIVEDBYLABEL = walletContract({
  name: "listreceivedbylabel",
  coins: "any",
  right: "names",
  summary: "Lists the received amounts by label, including amounts locked in names.",
  params: {
    minconf: MIN_CONFIRMATIONS,
    include_empty: withDefault(boolean("Whether to list labels whose addresses received nothing."), false),
    include_watchonly: WATCH_ONLY,
    include_immature_coinbase: IMMATURE
  },
  results: [{
    schema: Schema.Array(Schema.Struct({
      amount: Result.amount("Amount received by its addresses"),
      confirmations: Result.integer("Confirmations of the latest payment"),
      label: Result.string("The label")
    }))
  }],
  examples: [[], [6, true]]
})

export const LISTADDRESSGROUPINGS = walletContract({
  name: "listaddressgroupings",
  coins: "any",
  right: "names",
  summary:
    "Lists groups of addresses with a common owner that the chain reveals: they were inputs of one transaction, " +
    "or its change.",
  params: {},
  results: [{
    schema: Schema.Array(
      Schema.Array(Schema.Array(Result.any("Address, amount and, if set, label")))
    ).annotations({ description: "The groups" })
  }],
  examples: [[]]
})

export const GETRECEIVEDBYADDRESS = walletContract({
  name: "getreceivedbyaddress",
  coins: "any",
  right: "names",
  summary: "Returns the amount that an address received, without amounts locked in names.",
  params: { address: string("The address."), minconf: MIN_CONFIRMATIONS, include_immature_coinbase: IMMATURE },
  results: [{ schema: Result.amount("The sum") }],
  examples: [[EXAMPLE_OWN_ADDRESS], [EXAMPLE_OWN_ADDRESS, 6]],
  errors: ["-5 Invalid address", "-4 Address not found in wallet"]
})

export const GETRECEIVEDBYLABEL = walletContract({
  name: "getreceivedbylabel",
  coins: "any",
  right: "names",
  summary: "Returns the amount that the addresses with a label received, without amounts locked in names.",
  params: { label: freeText(label("The label.")), minconf: MIN_CONFIRMATIONS, include_immature_coinbase: IMMATURE },
  results: [{ schema: Result.amount("The sum") }],
  examples: [["rent"], ["rent", 6]],
  errors: ["-4 Label not found in wallet", "-4 Address not found in wallet", "-11 Invalid label name"]
})
