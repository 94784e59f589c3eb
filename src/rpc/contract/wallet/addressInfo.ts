import * as Schema from "effect/Schema"
import * as Result from "../../method/results.ts"

export const FORM = {
  isscript: Schema.optional(Result.boolean("Whether it pays to the hash of a script, or to a taproot key")),
  iswitness: Result.boolean("Whether it is spent with a witness"),
  witness_version: Schema.optional(Result.integer("Version of the witness program")),
  witness_program: Schema.optional(Result.hex("The witness program"))
}

const INNER = {
  script: Schema.optional(Result.string("Type of the redeem or witness script")),
  hex: Schema.optional(Result.hex("The redeem or witness script")),
  pubkeys: Schema.optional(
    Schema.Array(Result.hex("A public key")).annotations({ description: "The keys of a multisig script" })
  ),
  sigsrequired: Schema.optional(Result.integer("Number of required signatures")),
  pubkey: Schema.optional(Result.hex("The public key")),
  iscompressed: Schema.optional(Result.boolean("Whether it is compressed"))
}

export const DETAIL_MEMBERS = { ...FORM, ...INNER }

export const OF_EMBEDDED = {
  address: Result.string("Address of the inner script"),
  scriptPubKey: Result.hex("Output script of that address")
}

const INNERMOST = Schema.Struct({ ...DETAIL_MEMBERS, ...OF_EMBEDDED }).annotations({
  description: "The address of the script inside that one"
})

const EMBEDDED = Schema.Struct({ ...DETAIL_MEMBERS, embedded: Schema.optional(INNERMOST), ...OF_EMBEDDED }).annotations(
  {
    description: "The address of the inner script"
  }
)

export const KEY_ORIGIN_MEMBERS = {
  timestamp: Schema.optional(Result.time("Earliest time at which it may have been used")),
  hdkeypath: Schema.optional(Result.string("The path from the master key")),
  hdseedid: Schema.optional(Result.hex("Zeros")),
  hdmasterfingerprint: Schema.optional(Result.hex("First four bytes of the HASH160 of the master key"))
}

export const ADDRESS_INFO = Schema.Struct({
  address: Result.string("The address"),
  scriptPubKey: Result.hex("The output script"),
  ismine: Result.boolean("Whether the wallet owns the address"),
  solvable: Result.boolean("Whether the wallet knows how to spend from it, without regard to keys"),
  desc: Schema.optional(Result.string("Its descriptor")),
  parent_desc: Schema.optional(Result.string("The descriptor that the address is derived from")),
  iswatchonly: Result.boolean("false"),
  ...DETAIL_MEMBERS,
  embedded: Schema.optional(EMBEDDED),
  ischange: Result.boolean("Whether it is a change address of the wallet"),
  ...KEY_ORIGIN_MEMBERS,
  labels: Schema.Array(Result.string("The label")).annotations({ description: "The label, if any" })
})
