import * as Shape from "../method/shape.ts"
import { SCRIPT, TRANSACTION } from "./shapes.ts"

/** The results of `decodepsbt` and `analyzepsbt`, with members in output order. */

const PATH = Shape.string("The path from the master key")
const FINGERPRINT = Shape.hex("First four bytes of the HASH160 of the master key")

const PROPRIETARY = Shape.array(
  Shape.object({
    identifier: Shape.hex("Identifier of the application that defines the type"),
    subtype: Shape.integer("Subtype"),
    key: Shape.hex("The whole key"),
    value: Shape.hex("The value")
  }),
  "Proprietary records"
)

const UNKNOWN = Shape.map("key", Shape.hex("The value"), "Unknown records")

const INNER_SCRIPT = Shape.optional(Shape.object({
  asm: Shape.string("The operations as text"),
  hex: Shape.hex("The script"),
  type: Shape.string("Script type")
}))

const ORIGINS = Shape.optional(
  Shape.array(
    Shape.object({ pubkey: Shape.hex("The public key"), master_fingerprint: FINGERPRINT, path: PATH }),
    "Derivation paths of the keys"
  )
)

const TAPROOT_ORIGINS = Shape.optional(
  Shape.array(
    Shape.object({
      pubkey: Shape.hex("The x-only key"),
      master_fingerprint: FINGERPRINT,
      path: PATH,
      leaf_hashes: Shape.array(Shape.hex("Hash of a leaf whose script contains the key"))
    }),
    "Derivation paths of the taproot keys"
  )
)

const PARTICIPANTS = Shape.optional(Shape.array(Shape.object({
  aggregate_pubkey: Shape.hex("The aggregate key of all participants"),
  participant_pubkeys: Shape.array(Shape.hex("The key of a participant"))
})))

const share = (member: string, description: string): Shape.Shape =>
  Shape.optional(Shape.array(Shape.object({
    participant_pubkey: Shape.hex("The key of the participant"),
    aggregate_pubkey: Shape.hex("The aggregate key of all participants"),
    leaf_hash: Shape.optional(Shape.hex("The leaf; missing for a key path spend")),
    [member]: Shape.hex(description)
  })))

const preimages = (name: string): Shape.Shape =>
  Shape.optional(Shape.map("hash", Shape.hex("The preimage"), `Preimages of ${name}`))

const INPUT = Shape.object({
  witness_utxo: Shape.optional(
    Shape.object({ amount: Shape.amount("Amount"), scriptPubKey: SCRIPT }, "The spent output")
  ),
  non_witness_utxo: Shape.optional({ ...TRANSACTION, description: "The transaction of the spent output" }),
  partial_signatures: Shape.optional(Shape.map("pubkey", Shape.hex("The signature"), "Signatures")),
  sighash: Shape.optional(Shape.string("Signature hash type")),
  redeem_script: INNER_SCRIPT,
  witness_script: INNER_SCRIPT,
  bip32_derivs: ORIGINS,
  final_scriptSig: Shape.optional(Shape.object({
    asm: Shape.string("The operations as text, hash types as words"),
    hex: Shape.hex("The script")
  })),
  final_scriptwitness: Shape.optional(Shape.array(Shape.hex("An element"))),
  ripemd160_preimages: preimages("RIPEMD-160"),
  sha256_preimages: preimages("SHA-256"),
  hash160_preimages: preimages("HASH160"),
  hash256_preimages: preimages("HASH256"),
  taproot_key_path_sig: Shape.optional(Shape.hex("The signature of a key path spend")),
  taproot_script_path_sigs: Shape.optional(Shape.array(Shape.object({
    pubkey: Shape.hex("The x-only key"),
    leaf_hash: Shape.hex("Hash of the leaf"),
    sig: Shape.hex("The signature")
  }))),
  taproot_scripts: Shape.optional(Shape.array(Shape.object({
    script: Shape.hex("The script of a leaf"),
    leaf_ver: Shape.integer("Version of the leaf"),
    control_blocks: Shape.array(Shape.hex("Proof that the output commits to the script"))
  }))),
  taproot_bip32_derivs: TAPROOT_ORIGINS,
  taproot_internal_key: Shape.optional(Shape.hex("The internal key")),
  taproot_merkle_root: Shape.optional(Shape.hex("The root of the script tree")),
  musig2_participant_pubkeys: PARTICIPANTS,
  musig2_pubnonces: share("pubnonce", "The public nonce"),
  musig2_partial_sigs: share("partial_sig", "The partial signature"),
  proprietary: Shape.optional(PROPRIETARY),
  unknown: Shape.optional(UNKNOWN)
})

const OUTPUT = Shape.object({
  redeem_script: INNER_SCRIPT,
  witness_script: INNER_SCRIPT,
  bip32_derivs: ORIGINS,
  taproot_internal_key: Shape.optional(Shape.hex("The internal key")),
  taproot_tree: Shape.optional(
    Shape.array(
      Shape.object({
        depth: Shape.integer("Depth of the leaf"),
        leaf_ver: Shape.integer("Version of the leaf"),
        script: Shape.hex("Script of the leaf")
      }),
      "The script tree, depth first"
    )
  ),
  taproot_bip32_derivs: TAPROOT_ORIGINS,
  musig2_participant_pubkeys: PARTICIPANTS,
  proprietary: Shape.optional(PROPRIETARY),
  unknown: Shape.optional(UNKNOWN)
})

export const DECODED_PSBT = Shape.object({
  tx: { ...TRANSACTION, description: "The transaction, as in decoderawtransaction" },
  global_xpubs: Shape.array(
    Shape.object({ xpub: Shape.string("The extended key"), master_fingerprint: FINGERPRINT, path: PATH })
  ),
  psbt_version: Shape.integer("Version of the format"),
  proprietary: PROPRIETARY,
  unknown: UNKNOWN,
  inputs: Shape.array(INPUT),
  outputs: Shape.array(OUTPUT),
  fee: Shape.optional(Shape.amount("The fee, if all spent outputs are known"))
})

const ROLE = "Role that acts next: updater, signer, finalizer or extractor"

export const ANALYZED_PSBT = Shape.object({
  inputs: Shape.optional(Shape.array(Shape.object({
    has_utxo: Shape.boolean("Whether the spent output is known"),
    is_final: Shape.boolean("Whether the input is final"),
    next: Shape.string(ROLE),
    missing: Shape.optional(Shape.object({
      pubkeys: Shape.optional(Shape.array(Shape.hex("HASH160 of an unknown public key"))),
      redeemscript: Shape.optional(Shape.hex("HASH160 of the redeem script")),
      witnessscript: Shape.optional(Shape.hex("SHA-256 of the witness script")),
      signatures: Shape.optional(Shape.array(Shape.hex("HASH160 of the public key of a signature")))
    }, "Missing data"))
  }))),
  estimated_vsize: Shape.optional(Shape.integer("Virtual bytes of the signed transaction")),
  estimated_feerate: Shape.optional(Shape.amount("Fee per 1000 virtual bytes")),
  fee: Shape.optional(Shape.amount("The fee")),
  next: Shape.string(ROLE),
  error: Shape.optional(Shape.string("Reason why it is invalid"))
})
