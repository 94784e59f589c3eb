import * as Schema from "effect/Schema"
import { descriptorChecksum } from "../../../protocol/descriptor/descriptor.ts"
import { walletContract } from "../../method/contract.ts"
import { array, boolean, json, namedOptions, optional, orEmpty, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { watchedDescriptors } from "../chain/scanObjects.ts"
import { addressType } from "./address.ts"
import { SCANNING } from "./walletParams.ts"

const EXAMPLE = "addr(N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR)"

export const NO_PRIVATE_DESCRIPTOR = "Can't get private descriptor string for watch-only wallets"

export const IMPORTED = Schema.Struct({
  success: Result.boolean("Whether the descriptor was imported"),
  error: Schema.optional(
    Schema.Struct({ code: Result.integer("The code"), message: Result.string("The message") })
  ),
  warnings: Schema.optional(Schema.Array(Result.string("A warning")).annotations({ description: "Warnings" }))
})

export const IMPORTDESCRIPTORS = walletContract({
  name: "importdescriptors",
  coins: "any",
  writes: true,
  summary: "Imports keys and scripts into the wallet, and scans the blocks since their times. Each request has its " +
    "own result.",
  params: {
    requests: watchedDescriptors(array(
      json(
        "Object with desc, the descriptor with its checksum; timestamp, the earliest time of its use in seconds " +
          "since 1970, or \"now\"; and optionally active, range, next_index, internal and label. Of a descriptor with two " +
          "alternative paths, the second is for change.",
        { words: "json object" }
      ),
      "The requests."
    ))
  },
  results: [{ schema: Schema.Array(IMPORTED) }],
  examples: [[[{ desc: `${EXAMPLE}#${descriptorChecksum(EXAMPLE) ?? ""}`, timestamp: "now" }]]],
  errors: [`-4 ${SCANNING}`, "-3 Missing required timestamp field for key"]
})

export const LISTDESCRIPTORS = walletContract({
  name: "listdescriptors",
  coins: "any",
  summary: "Lists the descriptors of the wallet.",
  params: { private: withDefault(boolean("Whether to include private keys."), false) },
  results: [{
    schema: Schema.Struct({
      wallet_name: Result.string("The wallet; empty for the default one"),
      descriptors: Schema.Array(Schema.Struct({
        desc: Result.string("The descriptor"),
        timestamp: Result.time("Earliest time at which it may have been used"),
        active: Result.boolean("Whether the wallet derives new addresses from it"),
        internal: Schema.optional(Result.boolean("Only if active: whether its addresses are for change")),
        range: Schema.optional(
          Schema.Array(Result.integer("An index")).annotations({
            description: "First and last watched index; only if ranged"
          })
        ),
        next: Schema.optional(Result.integer("The index of the next new address")),
        next_index: Schema.optional(Result.integer("Same as next"))
      }))
    })
  }],
  examples: [[]],
  errors: [`-4 ${NO_PRIVATE_DESCRIPTOR}`]
})

export const AMBIGUOUS = "Unable to determine which HD key to use from active descriptors. Please specify with 'hdkey'"

export const NO_XPUB = "Unable to parse HD key. Please provide a valid xpub"

export const DESCRIPTOR_EXISTS = "Descriptor already exists"

export const GETHDKEYS = walletContract({
  name: "gethdkeys",
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

export const CREATEWALLETDESCRIPTOR = walletContract({
  name: "createwalletdescriptor",
  coins: "any",
  writes: true,
  summary: "Adds the descriptors of an address type to the wallet, for new addresses, from one of its keys.",
  params: {
    type: addressType("The type of the addresses"),
    options: orEmpty(namedOptions({
      internal: optional(boolean("Whether to only add that of change, or only that of receiving."), "both"),
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
