import * as Schema from "effect/Schema"
import { isMoney } from "../../protocol/amount.ts"
import { encodeBase58Check } from "../../protocol/base58.ts"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { sortedLeaves, sortedXpubs } from "../../protocol/psbt/codecs.ts"
import type {
  KeyOrigin,
  Musig2Share,
  Preimage,
  ProprietaryRecord,
  Psbt,
  PsbtInput,
  PsbtMap,
  PsbtOutput,
  Records,
  UnknownRecord
} from "../../protocol/psbt/Psbt.ts"
import { sorted } from "../../protocol/psbt/records.ts"
import { spentOutput } from "../../wallet/signing/psbtData.ts"
import { Amount, itemsOf } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"
import { hashTypeText } from "../methods/transactionParams.ts"
import type { ShapeContext } from "./context.ts"
import { SCRIPT, SCRIPT_SIG, scriptJson, scriptPartsJson, scriptSigJson } from "./script.ts"
import { TRANSACTION, transactionJson } from "./transaction.ts"

/** Source: upstream `rpc/rawtransaction.cpp`, `decodepsbt` (reference/rpc.md 3.4). */

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
  nameOp: SCRIPT.fields.nameOp,
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
  final_scriptSig: Schema.optional(SCRIPT_SIG),
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

const HARDENED = 0x80000000

/** `m/84h/0h/0`. */
export const rootedPathText = (path: ReadonlyArray<number>): string =>
  ["m", ...path.map((child) => child >= HARDENED ? `${child - HARDENED}h` : String(child))].join("/")

const originJson = ({ fingerprint, path }: KeyOrigin) => ({
  master_fingerprint: toHex(fingerprint),
  path: rootedPathText(path)
})

const listOf = <A, B>(records: Records<A>, json: (record: A) => B): ReadonlyArray<B> | undefined =>
  records.size === 0 ? undefined : sorted(records).map(json)

const mapOf = <A, B>(
  records: Records<A>,
  json: (record: A) => readonly [name: string, value: B]
): ReadonlyMap<string, B> | undefined => records.size === 0 ? undefined : new Map(sorted(records).map(json))

const proprietaryJson = ({ identifier, key, subtype, value }: ProprietaryRecord) => ({
  identifier: toHex(identifier),
  subtype,
  key: toHex(key),
  value: toHex(value)
})

const unknownEntry = ({ key, value }: UnknownRecord): readonly [string, string] => [toHex(key), toHex(value)]

const innerScriptJson = (context: ShapeContext, script: Bytes | undefined) => {
  if (script === undefined) return undefined
  const { asm, nameOp, type } = scriptPartsJson(context, script, "")
  return { nameOp, asm, hex: toHex(script), type }
}

const originsJson = ({ origins }: PsbtMap) =>
  listOf(origins, ({ origin, pubkey }) => ({ pubkey: toHex(pubkey), ...originJson(origin) }))

const taprootOriginsJson = ({ taprootOrigins }: PsbtMap) =>
  listOf(taprootOrigins, ({ leafHashes, origin, xonly }) => ({
    pubkey: toHex(xonly),
    ...originJson(origin),
    leaf_hashes: leafHashes.map(toHex)
  }))

const participantsJson = ({ musig2Participants }: PsbtMap) =>
  listOf(musig2Participants, ({ aggregate, participants }) => ({
    aggregate_pubkey: toHex(aggregate),
    participant_pubkeys: participants.map(toHex)
  }))

const signerJson = ({ aggregate, leafHash, participant }: Musig2Share) => ({
  participant_pubkey: toHex(participant),
  aggregate_pubkey: toHex(aggregate),
  leaf_hash: leafHash === undefined ? undefined : toHex(leafHash)
})

const preimagesJson = (preimages: Records<Preimage>) =>
  mapOf(preimages, ({ hash, preimage }) => [toHex(hash), toHex(preimage)])

const optionalHex = (bytes: Bytes | undefined): string | undefined => bytes === undefined ? undefined : toHex(bytes)

const utxoJson = (context: ShapeContext, { nonWitnessUtxo, witnessUtxo }: PsbtInput) => ({
  witness_utxo: witnessUtxo === undefined
    ? undefined
    : { amount: new Amount(witnessUtxo.value), scriptPubKey: scriptJson(context, witnessUtxo.script) },
  non_witness_utxo: nonWitnessUtxo === undefined ? undefined : transactionJson(context, nonWitnessUtxo)
})

const taprootJson = (input: PsbtInput) => ({
  taproot_key_path_sig: optionalHex(input.taprootKeySignature),
  taproot_script_path_sigs: listOf(input.taprootScriptSignatures, ({ leafHash, signature, xonly }) => ({
    pubkey: toHex(xonly),
    leaf_hash: toHex(leafHash),
    sig: toHex(signature)
  })),
  taproot_scripts: input.taprootLeaves.size === 0
    ? undefined
    : sortedLeaves(input.taprootLeaves).map(({ controlBlocks, leafVersion, script }) => ({
      script: toHex(script),
      leaf_ver: leafVersion,
      control_blocks: controlBlocks.map(toHex)
    })),
  taproot_bip32_derivs: taprootOriginsJson(input),
  taproot_internal_key: optionalHex(input.taprootInternalKey),
  taproot_merkle_root: optionalHex(input.taprootMerkleRoot),
  musig2_participant_pubkeys: participantsJson(input),
  musig2_pubnonces: listOf(input.musig2Nonces, (share) => ({ ...signerJson(share), pubnonce: toHex(share.value) })),
  musig2_partial_sigs: listOf(
    input.musig2Signatures,
    (share) => ({ ...signerJson(share), partial_sig: toHex(share.value) })
  )
})

const inputJson = (context: ShapeContext, input: PsbtInput): Result.ValueOf<typeof INPUT> => {
  const { finalScriptSig, finalScriptWitness, sighashType } = input
  return {
    ...utxoJson(context, input),
    partial_signatures: mapOf(
      input.partialSignatures,
      ({ pubkey, signature }) => [toHex(pubkey), toHex(signature)]
    ),
    sighash: sighashType === undefined ? undefined : hashTypeText(sighashType & 0xff),
    redeem_script: innerScriptJson(context, input.redeemScript),
    witness_script: innerScriptJson(context, input.witnessScript),
    bip32_derivs: originsJson(input),
    final_scriptSig: finalScriptSig === undefined ? undefined : scriptSigJson(finalScriptSig),
    final_scriptwitness: finalScriptWitness?.map(toHex),
    ripemd160_preimages: preimagesJson(input.ripemd160),
    sha256_preimages: preimagesJson(input.sha256),
    hash160_preimages: preimagesJson(input.hash160),
    hash256_preimages: preimagesJson(input.hash256),
    ...taprootJson(input),
    proprietary: listOf(input.proprietary, proprietaryJson),
    unknown: mapOf(input.unknown, unknownEntry)
  }
}

const outputJson = (context: ShapeContext, output: PsbtOutput): Result.ValueOf<typeof OUTPUT> => ({
  redeem_script: innerScriptJson(context, output.redeemScript),
  witness_script: innerScriptJson(context, output.witnessScript),
  bip32_derivs: originsJson(output),
  taproot_internal_key: optionalHex(output.taprootInternalKey),
  taproot_tree: output.taprootTree?.map(({ depth, leafVersion, script }) => ({
    depth,
    leaf_ver: leafVersion,
    script: toHex(script)
  })),
  taproot_bip32_derivs: taprootOriginsJson(output),
  musig2_participant_pubkeys: participantsJson(output),
  proprietary: listOf(output.proprietary, proprietaryJson),
  unknown: mapOf(output.unknown, unknownEntry)
})

/** `undefined` if unknown or if an amount is out of range. */
const feeOf = (psbt: Psbt): number | undefined => {
  let [paid, spent] = [0, 0]
  for (const [index] of psbt.inputs.entries()) {
    spent += spentOutput(psbt, index)?.value ?? Number.NaN
    if (!isMoney(spent)) return undefined
  }
  for (const { value } of psbt.transaction.outputs) {
    paid += value
    if (!isMoney(value) || !isMoney(paid)) return undefined
  }
  return spent - paid
}

export const psbtJson = (context: ShapeContext, psbt: Psbt): Result.ValueOf<typeof DECODED_PSBT> => {
  const fee = feeOf(psbt)
  return {
    tx: transactionJson(context, psbt.transaction),
    global_xpubs: sortedXpubs(psbt.xpubs).map(({ origin, xpub }) => ({
      xpub: encodeBase58Check(xpub),
      ...originJson(origin)
    })),
    psbt_version: 0,
    proprietary: sorted(psbt.proprietary).map(proprietaryJson),
    unknown: new Map(sorted(psbt.unknown).map(unknownEntry)),
    inputs: itemsOf(psbt.inputs, (input) => inputJson(context, input)),
    outputs: itemsOf(psbt.outputs, (output) => outputJson(context, output)),
    fee: fee === undefined ? undefined : new Amount(fee)
  }
}
