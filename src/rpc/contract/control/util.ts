import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { optional, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

export const DESTINATION_MEMBERS = {
  isscript: Schema.optional(
    Result.boolean("Whether it is the address of a script; not for a witness version without meaning yet")
  ),
  iswitness: Result.boolean("Whether it is a segwit address"),
  witness_version: Schema.optional(Result.integer("Version of the witness program; not for pay-to-anchor")),
  witness_program: Schema.optional(Result.hex("The witness program"))
}

export const VALIDATEADDRESS = contract({
  name: "validateaddress",
  right: "read",
  group: "Util",
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
        error_locations: Schema.Array(Result.integer("Position of a character that is probably wrong, from 0")),
        error: Result.string("The error")
      })
    }
  ],
  examples: [["N2xHFZ8NWNkGuuXfDxv8iMXdQGMd3tjZfx"]]
})

export const GETDESCRIPTORINFO = contract({
  name: "getdescriptorinfo",
  right: "read",
  group: "Util",
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

export const GETINDEXINFO = contract({
  name: "getindexinfo",
  right: "read",
  group: "Util",
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
