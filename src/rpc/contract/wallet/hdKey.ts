import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { boolean, namedOptions, optional, orEmpty, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { addressType } from "./address.ts"
import { SCANNING } from "./walletContext.ts"

export const AMBIGUOUS = "Unable to determine which HD key to use from active descriptors. Please specify with 'hdkey'"

export const NO_XPUB = "Unable to parse HD key. Please provide a valid xpub"

export const DESCRIPTOR_EXISTS = "Descriptor already exists"

export const GETHDKEYS = contract({
  name: "gethdkeys",
  group: "Wallet",
  coins: "any",
  summary: "Lists the extended keys of the wallet, each with the descriptors that contain it.",
  params: {
    options: orEmpty(namedOptions({
      active_only: withDefault(boolean("Only keys of active descriptors."), false),
      private: withDefault(boolean("Whether to include private keys."), false)
    }, "Options."))
  },
  results: [{
    schema: Schema.Array(Schema.Struct({
      xpub: Result.string("The extended public key"),
      has_private: Result.boolean("Whether the wallet has its private key"),
      xprv: Schema.optional(Result.string("The extended private key, if requested")),
      descriptors: Schema.Array(
        Schema.Struct({
          desc: Result.string("The descriptor"),
          active: Result.boolean("Whether the wallet derives new addresses from it")
        })
      ).annotations({ description: "The descriptors" })
    }))
  }],
  examples: [[]]
})

export const CREATEWALLETDESCRIPTOR = contract({
  name: "createwalletdescriptor",
  group: "Wallet",
  coins: "any",
  writes: true,
  summary: "Adds the descriptors of an address type to the wallet, for new addresses, from one of its keys.",
  params: {
    type: addressType("The type of the addresses"),
    options: orEmpty(namedOptions({
      internal: optional(boolean("Whether to add that of change alone, or that of receiving alone."), "both"),
      hdkey: optional(string("The extended public key, one of gethdkeys."), "that of all active descriptors")
    }, "Options."))
  },
  results: [{
    schema: Schema.Struct({
      descs: Schema.Array(Result.string("A descriptor")).annotations({ description: "The new descriptors" })
    })
  }],
  examples: [["bech32m"]],
  errors: [
    "-5 Unknown address type '<x>'",
    `-5 ${AMBIGUOUS}`,
    `-5 ${NO_XPUB}`,
    "-5 Private key for <xpub> is not known",
    `-4 ${DESCRIPTOR_EXISTS}`,
    `-4 ${SCANNING}`
  ]
})
