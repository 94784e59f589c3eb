import * as Schema from "effect/Schema"
import { descriptorChecksum } from "../../../protocol/descriptor/descriptor.ts"
import { utilContract } from "../../method/contract.ts"
import { array, costing, freeText, hexText, int32, json, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { rangeLength } from "../chain/scanObjects.ts"
import { EXAMPLE_ADDRESS } from "../examples.ts"

export const DESTINATION_MEMBERS = {
  isscript: Schema.optional(
    Result.boolean("Whether it is the address of a script; not for a witness version without meaning yet")
  ),
  iswitness: Result.boolean("Whether it is a segwit address"),
  witness_version: Schema.optional(Result.integer("Version of the witness program; not for pay-to-anchor")),
  witness_program: Schema.optional(Result.hex("The witness program"))
}

export const VALIDATEADDRESS = utilContract({
  name: "validateaddress",
  right: "read",
  summary: "Returns whether a text is an address of this network, and its parts.",
  params: { address: string("The text.") },
  results: [
    {
      when: "the address is valid",
      schema: Schema.Struct({
        isvalid: Result.boolean("Yes"),
        address: Result.string("The address"),
        scriptPubKey: Result.hex("The script that pays to it"),
        ...DESTINATION_MEMBERS
      })
    },
    {
      when: "the address is invalid",
      schema: Schema.Struct({
        isvalid: Result.boolean("No"),
        error_locations: Schema.Array(Result.integer("Position of a probably wrong character, from 0")),
        error: Result.string("The error")
      })
    }
  ],
  examples: [["N2xHFZ8NWNkGuuXfDxv8iMXdQGMd3tjZfx"]]
})

export const GETDESCRIPTORINFO = utilContract({
  name: "getdescriptorinfo",
  right: "read",
  summary: "Returns a descriptor without private keys, with its checksum.",
  params: { descriptor: string("The descriptor, with or without a checksum.") },
  results: [{
    schema: Schema.Struct({
      descriptor: Result.string("The descriptor without private keys"),
      multipath_expansion: Schema.optional(
        Schema.Array(Result.string("A descriptor")).annotations({
          description: "The descriptors of each path, if it has alternative paths"
        })
      ),
      checksum: Result.string("Checksum of the given descriptor"),
      isrange: Result.boolean("Whether it is ranged"),
      issolvable: Result.boolean("Whether it contains the data for spending"),
      hasprivatekeys: Result.boolean("Whether it had private keys")
    })
  }],
  examples: [["wpkh(02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9)"]],
  errors: ["-5 <reason why it is invalid>"]
})

export const GETINDEXINFO = utilContract({
  name: "getindexinfo",
  right: "read",
  summary: "Returns the state of the optional indexes.",
  params: { index_name: optional(string("The name of an index; all by default.")) },
  results: [{
    schema: Result.map(
      "name",
      Schema.Struct({
        synced: Result.boolean("Whether the index is at the tip"),
        best_block_height: Result.integer("Height of the index")
      })
    )
  }],
  examples: [[]]
})

const PUBKEYS = [
  "03789ed0bb717d88f7d321a368d905e7430207ebbd82bd342cf11ae157a7ace5fd",
  "03dbc6764b8884a92e871274b87583e6d5c2a58819473e17e107ef3f6aa5a61626"
]

export const MULTISIG = Schema.Struct({
  address: Result.string("The address"),
  redeemScript: Result.hex("The redeem script"),
  descriptor: Result.string("The output descriptor"),
  warnings: Schema.optional(Schema.Array(Result.string("A deviation from the requested address")))
})

/** Bytes of an address in an answer. */
const ADDRESS_BYTES = 150

export const CREATEMULTISIG = utilContract({
  name: "createmultisig",
  right: "read",
  summary: "Returns the multisig address of several keys.",
  params: {
    nrequired: int32("Number of required signatures."),
    keys: array(hexText("A public key."), "The keys."),
    address_type: withDefault(string("legacy, p2sh-segwit or bech32."), "legacy")
  },
  results: [{ schema: MULTISIG }],
  examples: [[2, PUBKEYS]],
  errors: [
    "-5 Unknown address type '<x>'",
    "-5 createmultisig cannot create bech32m multisig addresses",
    "-8 not enough keys supplied (got <n> keys, but need at least <m> to redeem)"
  ]
})

export const DERIVEADDRESSES = utilContract({
  name: "deriveaddresses",
  right: "read",
  summary: "Returns the addresses of a descriptor, in a range of indexes if it is ranged.",
  params: {
    descriptor: string("The descriptor, with its checksum."),
    range: optional(costing(
      (value) => ADDRESS_BYTES * rangeLength(value, 1),
      json("Indexes for a ranged descriptor: the last, or first and last.", { words: "numeric or array" })
    ))
  },
  results: [
    { when: "the descriptor has a single path", schema: Schema.Array(Result.string("An address")) },
    {
      when: "the descriptor has alternative paths",
      schema: Schema.Array(Schema.Array(Result.string("An address"))).annotations({
        description: "The addresses of each path"
      })
    }
  ],
  examples: [[`addr(${EXAMPLE_ADDRESS})#${descriptorChecksum(`addr(${EXAMPLE_ADDRESS})`) ?? ""}`]],
  errors: [
    "-5 Missing checksum",
    "-8 Range should not be specified for an un-ranged descriptor",
    "-8 Range must be specified for a ranged descriptor",
    "-5 Cannot derive script without private keys",
    "-5 Descriptor does not have a corresponding address"
  ]
})

export const SIGNMESSAGEWITHPRIVKEY = utilContract({
  name: "signmessagewithprivkey",
  coins: "any",
  right: "spend",
  summary: "Signs a message with a private key.",
  params: { privkey: string("The private key as WIF."), message: freeText(string("The message.")) },
  results: [{ schema: Result.string("The signature in base64") }],
  examples: [["<private key>", "my message"]],
  errors: ["-5 Invalid private key"]
})

export const VERIFYMESSAGE = utilContract({
  name: "verifymessage",
  right: "read",
  summary: "Returns whether a message was signed with the key of an address.",
  params: {
    address: string("The address; must be the address of a single key."),
    signature: freeText(string("The signature in base64.")),
    message: freeText(string("The message."))
  },
  results: [{ schema: Result.boolean("Whether the signature is valid") }],
  examples: [["N2xHFZ8NWNkGuuXfDxv8iMXdQGMd3tjZfx", "<signature>", "my message"]],
  errors: ["-5 Invalid address", "-3 Address does not refer to key", "-3 Malformed base64 encoding"]
})
