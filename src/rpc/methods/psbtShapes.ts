import * as Schema from "effect/Schema"
import * as Result from "../method/results.ts"
import { SCRIPT, TRANSACTION } from "./shapes.ts"

/** The results of `decodepsbt` and `analyzepsbt`, with members in output order. */

const PATH = Result.string("The path from the master key")
const FINGERPRINT = Result.hex("First four bytes of the HASH160 of the master key")

const PROPRIETARY = Schema.Array(
  Schema.Struct({
    identifier: Result.hex("Identifier of the application that defines the type"),
    subtype: Result.integer("Subtype"),
    key: Result.hex("The whole key"),
    value: Result.hex("The value")
  })
).annotations({ description: "Proprietary records" })

const UNKNOWN = Result.map("key", Result.hex("The value"), "Unknown records")

const INNER_SCRIPT = Schema.optional(Schema.Struct({
  asm: Result.string("The operations as text"),
  hex: Result.hex("The script"),
  type: Result.string("Script type")
}))

const ORIGINS = Schema.optional(
  Schema.Array(
    Schema.Struct({ pubkey: Result.hex("The public key"), master_fingerprint: FINGERPRINT, path: PATH })
  ).annotations({ description: "Derivation paths of the keys" })
)

const TAPROOT_ORIGINS = Schema.optional(
  Schema.Array(
    Schema.Struct({
      pubkey: Result.hex("The x-only key"),
      master_fingerprint: FINGERPRINT,
      path: PATH,
      leaf_hashes: Schema.Array(Result.hex("Hash of a leaf whose script contains the key"))
    })
  ).annotations({ description: "Derivation paths of the taproot keys" })
)

const PARTICIPANTS = Schema.optional(Schema.Array(Schema.Struct({
  aggregate_pubkey: Result.hex("The aggregate key of all participants"),
  participant_pubkeys: Schema.Array(Result.hex("The key of a participant"))
})))

const share = <F extends Schema.Struct.Fields>(own: F) =>
  Schema.optional(Schema.Array(Schema.Struct({
    participant_pubkey: Result.hex("The key of the participant"),
    aggregate_pubkey: Result.hex("The aggregate key of all participants"),
    leaf_hash: Schema.optional(Result.hex("The leaf; missing for a key path spend")),
    ...own
  })))

const preimages = (name: string) =>
  Schema.optional(Result.map("hash", Result.hex("The preimage"), `Preimages of ${name}`))

const INPUT = Schema.Struct({
  witness_utxo: Schema.optional(
    Schema.Struct({ amount: Result.amount("Amount"), scriptPubKey: SCRIPT }).annotations({
      description: "The spent output"
    })
  ),
  non_witness_utxo: Schema.optional(TRANSACTION.annotations({ description: "The transaction of the spent output" })),
  partial_signatures: Schema.optional(Result.map("pubkey", Result.hex("The signature"), "Signatures")),
  sighash: Schema.optional(Result.string("Signature hash type")),
  redeem_script: INNER_SCRIPT,
  witness_script: INNER_SCRIPT,
  bip32_derivs: ORIGINS,
  final_scriptSig: Schema.optional(Schema.Struct({
    asm: Result.string("The operations as text, hash types as words"),
    hex: Result.hex("The script")
  })),
  final_scriptwitness: Schema.optional(Schema.Array(Result.hex("An element"))),
  ripemd160_preimages: preimages("RIPEMD-160"),
  sha256_preimages: preimages("SHA-256"),
  hash160_preimages: preimages("HASH160"),
  hash256_preimages: preimages("HASH256"),
  taproot_key_path_sig: Schema.optional(Result.hex("The signature of a key path spend")),
  taproot_script_path_sigs: Schema.optional(Schema.Array(Schema.Struct({
    pubkey: Result.hex("The x-only key"),
    leaf_hash: Result.hex("Hash of the leaf"),
    sig: Result.hex("The signature")
  }))),
  taproot_scripts: Schema.optional(Schema.Array(Schema.Struct({
    script: Result.hex("The script of a leaf"),
    leaf_ver: Result.integer("Version of the leaf"),
    control_blocks: Schema.Array(Result.hex("Proof that the output commits to the script"))
  }))),
  taproot_bip32_derivs: TAPROOT_ORIGINS,
  taproot_internal_key: Schema.optional(Result.hex("The internal key")),
  taproot_merkle_root: Schema.optional(Result.hex("The root of the script tree")),
  musig2_participant_pubkeys: PARTICIPANTS,
  musig2_pubnonces: share({ pubnonce: Result.hex("The public nonce") }),
  musig2_partial_sigs: share({ partial_sig: Result.hex("The partial signature") }),
  proprietary: Schema.optional(PROPRIETARY),
  unknown: Schema.optional(UNKNOWN)
})

const OUTPUT = Schema.Struct({
  redeem_script: INNER_SCRIPT,
  witness_script: INNER_SCRIPT,
  bip32_derivs: ORIGINS,
  taproot_internal_key: Schema.optional(Result.hex("The internal key")),
  taproot_tree: Schema.optional(
    Schema.Array(
      Schema.Struct({
        depth: Result.integer("Depth of the leaf"),
        leaf_ver: Result.integer("Version of the leaf"),
        script: Result.hex("Script of the leaf")
      })
    ).annotations({ description: "The script tree, depth first" })
  ),
  taproot_bip32_derivs: TAPROOT_ORIGINS,
  musig2_participant_pubkeys: PARTICIPANTS,
  proprietary: Schema.optional(PROPRIETARY),
  unknown: Schema.optional(UNKNOWN)
})

export const DECODED_PSBT = Schema.Struct({
  tx: TRANSACTION.annotations({ description: "The transaction, as in decoderawtransaction" }),
  global_xpubs: Schema.Array(
    Schema.Struct({ xpub: Result.string("The extended key"), master_fingerprint: FINGERPRINT, path: PATH })
  ),
  psbt_version: Result.integer("Version of the format"),
  proprietary: PROPRIETARY,
  unknown: UNKNOWN,
  inputs: Schema.Array(INPUT),
  outputs: Schema.Array(OUTPUT),
  fee: Schema.optional(Result.amount("The fee, if all spent outputs are known"))
})

const ROLE = "Role that acts next: updater, signer, finalizer or extractor"

export const ANALYZED_PSBT = Schema.Struct({
  inputs: Schema.optional(Schema.Array(Schema.Struct({
    has_utxo: Result.boolean("Whether the spent output is known"),
    is_final: Result.boolean("Whether the input is final"),
    next: Result.string(ROLE),
    missing: Schema.optional(
      Schema.Struct({
        pubkeys: Schema.optional(Schema.Array(Result.hex("HASH160 of an unknown public key"))),
        redeemscript: Schema.optional(Result.hex("HASH160 of the redeem script")),
        witnessscript: Schema.optional(Result.hex("SHA-256 of the witness script")),
        signatures: Schema.optional(Schema.Array(Result.hex("HASH160 of the public key of a signature")))
      }).annotations({ description: "Missing data" })
    )
  }))),
  estimated_vsize: Schema.optional(Result.integer("Virtual bytes of the signed transaction")),
  estimated_feerate: Schema.optional(Result.amount("Fee per 1000 virtual bytes")),
  fee: Schema.optional(Result.amount("The fee")),
  next: Result.string(ROLE),
  error: Schema.optional(Result.string("Reason why it is invalid"))
})
