import * as Shape from "../method/shape.ts"
import { SCRIPT, TRANSACTION } from "./shapes.ts"

/** What `decodepsbt` and `analyzepsbt` answer with, members in the order in which they come. */

const PATH = Shape.string("The path from the master key")
const FINGERPRINT = Shape.hex("First four bytes of the HASH160 of the master key")

const PROPRIETARY = Shape.array(
  Shape.object({
    identifier: Shape.hex("Whose type it is"),
    subtype: Shape.integer("Which of his types"),
    key: Shape.hex("The whole key"),
    value: Shape.hex("The value")
  }),
  "Records of somebody's own types"
)

const UNKNOWN = Shape.map("key", Shape.hex("The value"), "Records that are not known")

const INNER_SCRIPT = Shape.optional(Shape.object({
  asm: Shape.string("The operations as text"),
  hex: Shape.hex("The script"),
  type: Shape.string("What kind of script it is")
}))

const ORIGINS = Shape.optional(
  Shape.array(
    Shape.object({ pubkey: Shape.hex("The public key"), master_fingerprint: FINGERPRINT, path: PATH }),
    "Where keys come from"
  )
)

const TAPROOT_ORIGINS = Shape.optional(
  Shape.array(
    Shape.object({
      pubkey: Shape.hex("The x-only key"),
      master_fingerprint: FINGERPRINT,
      path: PATH,
      leaf_hashes: Shape.array(Shape.hex("Hash of a leaf that it stands in"))
    }),
    "Where taproot keys come from"
  )
)

const PARTICIPANTS = Shape.optional(Shape.array(Shape.object({
  aggregate_pubkey: Shape.hex("The key of all together"),
  participant_pubkeys: Shape.array(Shape.hex("The key of one"))
})))

const share = (member: string, description: string): Shape.Shape =>
  Shape.optional(Shape.array(Shape.object({
    participant_pubkey: Shape.hex("Whose it is"),
    aggregate_pubkey: Shape.hex("The key of all together"),
    leaf_hash: Shape.optional(Shape.hex("The leaf; not for the spend by key")),
    [member]: Shape.hex(description)
  })))

const preimages = (name: string): Shape.Shape =>
  Shape.optional(Shape.map("hash", Shape.hex("The preimage"), `Preimages of ${name}`))

const INPUT = Shape.object({
  witness_utxo: Shape.optional(
    Shape.object({ amount: Shape.amount("Amount"), scriptPubKey: SCRIPT }, "The output that is spent")
  ),
  non_witness_utxo: Shape.optional({ ...TRANSACTION, description: "The transaction whose output is spent" }),
  partial_signatures: Shape.optional(Shape.map("pubkey", Shape.hex("The signature"), "Signatures")),
  sighash: Shape.optional(Shape.string("What signatures cover")),
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
  taproot_key_path_sig: Shape.optional(Shape.hex("The signature of a spend by key")),
  taproot_script_path_sigs: Shape.optional(Shape.array(Shape.object({
    pubkey: Shape.hex("The x-only key"),
    leaf_hash: Shape.hex("Hash of the leaf"),
    sig: Shape.hex("The signature")
  }))),
  taproot_scripts: Shape.optional(Shape.array(Shape.object({
    script: Shape.hex("The script of a leaf"),
    leaf_ver: Shape.integer("Its version"),
    control_blocks: Shape.array(Shape.hex("Proof that the output commits to it"))
  }))),
  taproot_bip32_derivs: TAPROOT_ORIGINS,
  taproot_internal_key: Shape.optional(Shape.hex("The internal key")),
  taproot_merkle_root: Shape.optional(Shape.hex("The root of the tree of scripts")),
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
        depth: Shape.integer("How deep the leaf lies"),
        leaf_ver: Shape.integer("Its version"),
        script: Shape.hex("Its script")
      }),
      "The tree of scripts, depth first"
    )
  ),
  taproot_bip32_derivs: TAPROOT_ORIGINS,
  musig2_participant_pubkeys: PARTICIPANTS,
  proprietary: Shape.optional(PROPRIETARY),
  unknown: Shape.optional(UNKNOWN)
})

export const DECODED_PSBT = Shape.object({
  tx: { ...TRANSACTION, description: "The transaction, as decoderawtransaction shows it" },
  global_xpubs: Shape.array(
    Shape.object({ xpub: Shape.string("The extended key"), master_fingerprint: FINGERPRINT, path: PATH })
  ),
  psbt_version: Shape.integer("Version of the format"),
  proprietary: PROPRIETARY,
  unknown: UNKNOWN,
  inputs: Shape.array(INPUT),
  outputs: Shape.array(OUTPUT),
  fee: Shape.optional(Shape.amount("The fee, where all outputs that it spends are known"))
})

const ROLE = "Who is next: updater, signer, finalizer or extractor"

export const ANALYZED_PSBT = Shape.object({
  inputs: Shape.optional(Shape.array(Shape.object({
    has_utxo: Shape.boolean("Whether the output that it spends is known"),
    is_final: Shape.boolean("Whether it can be spent as it is"),
    next: Shape.string(ROLE),
    missing: Shape.optional(Shape.object({
      pubkeys: Shape.optional(Shape.array(Shape.hex("HASH160 of a public key that is not known"))),
      redeemscript: Shape.optional(Shape.hex("HASH160 of the redeem script")),
      witnessscript: Shape.optional(Shape.hex("SHA-256 of the witness script")),
      signatures: Shape.optional(Shape.array(Shape.hex("HASH160 of the public key of a signature")))
    }, "What is needed before it is complete"))
  }))),
  estimated_vsize: Shape.optional(Shape.integer("Virtual bytes of the signed transaction")),
  estimated_feerate: Shape.optional(Shape.amount("Its fee for 1000 virtual bytes")),
  fee: Shape.optional(Shape.amount("The fee")),
  next: Shape.string(ROLE),
  error: Shape.optional(Shape.string("Why it is not valid"))
})
