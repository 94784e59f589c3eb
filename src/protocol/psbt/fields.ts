import { type Bytes, concat } from "../bytes.ts"
import type { Transaction } from "../transaction.ts"
import {
  capital,
  compareControlBlocks,
  HASH,
  HASH_TYPE,
  KEY_SIGNATURE,
  type MapPlace,
  ORIGIN,
  PARTIAL_SIGNATURE,
  participants,
  preimage,
  readLeaf,
  readProprietary,
  readUnknown,
  SCRIPT_CODEC,
  SCRIPT_SIGNATURE,
  share,
  sortedLeaves,
  SPENT_OUTPUT,
  taprootOrigin,
  TREE,
  UNSIGNED,
  VERSION,
  WHOLE_TRANSACTION,
  WITNESS,
  XPUB,
  XPUB_TWICE
} from "./codecs.ts"
import { type Field, type FieldNames, FieldTable, kept, many, provided, single, unlessFinal } from "./FieldTable.ts"
import {
  both,
  EMPTY_INPUT,
  EMPTY_OUTPUT,
  leafKey,
  NO_RECORDS,
  type Psbt,
  type PsbtInput,
  type PsbtOutput,
  type Records,
  type TaprootLeaf
} from "./Psbt.ts"

/** Fields of version 0 (BIP 174, 371, 373), per map and in upstream's order of writing (`psbt.h`, `Serialize`). */

/** `psbt` and 0xff. */
export const PSBT_MAGIC = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff)

const named = (place: MapPlace, what: string): FieldNames => ({
  duplicate: `${place} ${what}`,
  name: `${capital(place)} ${what}`
})

const inputNames = (name: string): FieldNames => ({
  duplicate: `input ${name.charAt(0).toLowerCase()}${name.slice(1)}`,
  name
})

const PROPRIETARY = kept(0xfc, "Duplicate Key, proprietary key already found", readProprietary)

const UNKNOWN = kept(undefined, provided("key for unknown value"), readUnknown)

export interface PsbtGlobals extends Pick<Psbt, "xpubs" | "proprietary" | "unknown"> {
  readonly transaction: Transaction | undefined
  readonly version: undefined
}

export const GLOBALS = new FieldTable<PsbtGlobals>({
  place: "the global",
  empty: {
    transaction: undefined,
    xpubs: NO_RECORDS,
    version: undefined,
    proprietary: NO_RECORDS,
    unknown: NO_RECORDS
  },
  other: "unknown",
  fields: {
    transaction: single(0x00, { duplicate: "unsigned tx", name: "Global unsigned tx" }, UNSIGNED),
    xpubs: many(0x01, XPUB_TWICE, XPUB),
    version: single(0xfb, { duplicate: "version", name: "Global version" }, VERSION),
    proprietary: PROPRIETARY,
    unknown: UNKNOWN
  }
})

/** One record for each control block; those of one leaf are together in one item. */
const taprootLeaves = (type: number): Field<Records<TaprootLeaf>> => ({
  type,
  duplicate: provided("input Taproot leaf script"),
  open: () => {
    const leaves = new Map<string, TaprootLeaf & { readonly controlBlocks: Array<Bytes> }>()
    return {
      add: (record) => {
        const leaf = readLeaf(record)
        const known = leaves.get(leafKey(leaf))
        if (known === undefined) leaves.set(leafKey(leaf), { ...leaf, controlBlocks: [record.data] })
        else known.controlBlocks.push(record.data)
      },
      // Sorted at the end alone: there may be hundreds of thousands.
      end: () => {
        for (const { controlBlocks } of leaves.values()) controlBlocks.sort(compareControlBlocks)
        return leaves
      }
    }
  },
  write: (leaves, to) => {
    for (const { controlBlocks, leafVersion, script } of sortedLeaves(leaves)) {
      const value = concat(script, Uint8Array.of(leafVersion))
      for (const control of controlBlocks) to.record(type, control, value)
    }
  },
  merge: both
})

const ORIGIN_TWICE = provided("pubkey derivation path")

export const INPUT = new FieldTable<PsbtInput>({
  place: "an input",
  empty: EMPTY_INPUT,
  other: "unknown",
  fields: {
    nonWitnessUtxo: single(0x00, inputNames("Non-witness utxo"), WHOLE_TRANSACTION),
    witnessUtxo: single(0x01, inputNames("Witness utxo"), SPENT_OUTPUT),
    ...unlessFinal({
      partialSignatures: many(0x02, provided("input partial signature for pubkey"), PARTIAL_SIGNATURE),
      sighashType: single(0x03, inputNames("Sighash type"), HASH_TYPE),
      redeemScript: single(0x04, named("input", "redeemScript"), SCRIPT_CODEC),
      witnessScript: single(0x05, named("input", "witnessScript"), SCRIPT_CODEC),
      origins: many(0x06, ORIGIN_TWICE, ORIGIN),
      ripemd160: many(0x0a, provided("input ripemd160 preimage"), preimage("ripemd160")),
      sha256: many(0x0b, provided("input sha256 preimage"), preimage("sha256")),
      hash160: many(0x0c, provided("input hash160 preimage"), preimage("hash160")),
      hash256: many(0x0d, provided("input hash256 preimage"), preimage("hash256")),
      taprootKeySignature: single(0x13, named("input", "Taproot key signature"), KEY_SIGNATURE),
      taprootScriptSignatures: many(0x14, provided("input Taproot script signature"), SCRIPT_SIGNATURE),
      taprootLeaves: taprootLeaves(0x15),
      taprootOrigins: many(0x16, provided("input Taproot BIP32 keypath"), taprootOrigin("input")),
      taprootInternalKey: single(0x17, named("input", "Taproot internal key"), HASH),
      taprootMerkleRoot: single(0x18, named("input", "Taproot merkle root"), HASH),
      musig2Participants: many(0x1a, provided("input participant pubkeys for an aggregate key"), participants("input")),
      musig2Nonces: many(0x1b, provided("input musig2 pubnonce"), share("pubnonce")),
      musig2Signatures: many(0x1c, provided("input musig2 partial sig"), share("partial sig"))
    }),
    finalScriptSig: single(0x07, inputNames("Final scriptSig"), SCRIPT_CODEC),
    finalScriptWitness: single(0x08, inputNames("Final scriptWitness"), WITNESS),
    proprietary: PROPRIETARY,
    unknown: UNKNOWN
  }
})

export const OUTPUT = new FieldTable<PsbtOutput>({
  place: "an output",
  empty: EMPTY_OUTPUT,
  other: "unknown",
  fields: {
    redeemScript: single(0x00, named("output", "redeemScript"), SCRIPT_CODEC),
    witnessScript: single(0x01, named("output", "witnessScript"), SCRIPT_CODEC),
    origins: many(0x02, ORIGIN_TWICE, ORIGIN),
    proprietary: PROPRIETARY,
    taprootInternalKey: single(0x05, named("output", "Taproot internal key"), HASH),
    taprootTree: single(0x06, named("output", "Taproot tree"), TREE),
    taprootOrigins: many(0x07, provided("output Taproot BIP32 keypath"), taprootOrigin("output")),
    musig2Participants: many(0x08, provided("output participant pubkeys for an aggregate key"), participants("output")),
    unknown: UNKNOWN
  }
})
