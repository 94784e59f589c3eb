import type { Bytes } from "../bytes.ts"
import { binaryString } from "../bytes.ts"
import { makeTransaction, type Transaction, type TransactionOutput } from "../transaction.ts"

/**
 * Partially signed transactions, version 0 (BIP 174, taproot fields of BIP 371, MuSig2 fields of BIP 373): the data
 * that the signers of a transaction exchange. No value here is changed in place.
 */

export interface KeyOrigin {
  /** First four bytes of the HASH160 of the master key. */
  readonly fingerprint: Bytes
  /** Child numbers from the master key, hardened ones from 2^31. */
  readonly path: ReadonlyArray<number>
}

/** Records by their key: `binaryString` of the bytes after the type in the key of the file. */
export type Records<A> = ReadonlyMap<string, A>

/** A record of an unknown type. `key` begins with the type. */
export interface UnknownRecord {
  readonly key: Bytes
  readonly value: Bytes
}

/** A record of a proprietary type (BIP 174, "Proprietary Use Type"). `key` is the whole key, its type included. */
export interface ProprietaryRecord extends UnknownRecord {
  readonly identifier: Bytes
  readonly subtype: number
}

export interface PubkeyOrigin {
  readonly pubkey: Bytes
  readonly origin: KeyOrigin
}

/** The origin of an x-only key, and the leaves of the tree that contain it. */
export interface TaprootOrigin {
  /** 32 bytes. */
  readonly xonly: Bytes
  /** In the order of their bytes. */
  readonly leafHashes: ReadonlyArray<Bytes>
  readonly origin: KeyOrigin
}

export interface PartialSignature {
  readonly pubkey: Bytes
  /** DER, followed by the hash type. */
  readonly signature: Bytes
}

export interface TaprootScriptSignature {
  readonly xonly: Bytes
  readonly leafHash: Bytes
  /** 64 bytes, followed by the hash type unless it is the default. */
  readonly signature: Bytes
}

/** A leaf of a script tree, with control blocks that prove that the output commits to it. */
export interface TaprootLeaf {
  readonly script: Bytes
  readonly leafVersion: number
  /** Shortest first. */
  readonly controlBlocks: ReadonlyArray<Bytes>
}

/** A leaf and its depth, in a tree that is listed depth first. */
export interface TreeLeaf {
  readonly depth: number
  readonly leafVersion: number
  readonly script: Bytes
}

export interface Preimage {
  readonly hash: Bytes
  readonly preimage: Bytes
}

export interface Musig2Participants {
  readonly aggregate: Bytes
  readonly participants: ReadonlyArray<Bytes>
}

/** A public nonce or a partial signature of one of several signers under one key. */
export interface Musig2Share {
  readonly participant: Bytes
  readonly aggregate: Bytes
  /** `undefined` for the key path. */
  readonly leafHash: Bytes | undefined
  readonly value: Bytes
}

/** The fields of both inputs and outputs. An empty script counts as missing. */
export interface PsbtMap {
  readonly redeemScript: Bytes | undefined
  readonly witnessScript: Bytes | undefined
  /** By public key. */
  readonly origins: Records<PubkeyOrigin>
  /** x-only, 32 bytes. */
  readonly taprootInternalKey: Bytes | undefined
  /** By x-only key. */
  readonly taprootOrigins: Records<TaprootOrigin>
  /** By aggregate key. */
  readonly musig2Participants: Records<Musig2Participants>
  /** By the whole key. */
  readonly proprietary: Records<ProprietaryRecord>
  /** By the whole key. */
  readonly unknown: Records<UnknownRecord>
}

export type PreimageKind = "ripemd160" | "sha256" | "hash160" | "hash256"

export interface PsbtInput extends PsbtMap {
  /** The whole transaction whose output is spent. */
  readonly nonWitnessUtxo: Transaction | undefined
  readonly witnessUtxo: TransactionOutput | undefined
  /** By HASH160 of the public key. */
  readonly partialSignatures: Records<PartialSignature>
  /** Signed 32-bit. */
  readonly sighashType: number | undefined
  readonly finalScriptSig: Bytes | undefined
  /** Has at least one item. */
  readonly finalScriptWitness: ReadonlyArray<Bytes> | undefined
  /** By hash. */
  readonly preimages: Readonly<Record<PreimageKind, Records<Preimage>>>
  readonly taprootKeySignature: Bytes | undefined
  /** By x-only key and leaf hash. */
  readonly taprootScriptSignatures: Records<TaprootScriptSignature>
  /** By script and leaf version. */
  readonly taprootLeaves: Records<TaprootLeaf>
  /** 32 bytes. */
  readonly taprootMerkleRoot: Bytes | undefined
  /** By aggregate key, leaf hash and participant, in the order in which they are written. */
  readonly musig2Nonces: Records<Musig2Share>
  readonly musig2Signatures: Records<Musig2Share>
}

export interface PsbtOutput extends PsbtMap {
  /** Empty if the output has no tree. */
  readonly taprootTree: ReadonlyArray<TreeLeaf>
}

export interface GlobalXpub {
  /** The 78 bytes of BIP 32. */
  readonly xpub: Bytes
  readonly origin: KeyOrigin
}

export interface Psbt {
  /** Without scriptSigs and witnesses. */
  readonly transaction: Transaction
  /** By public key and chain code. */
  readonly xpubs: Records<GlobalXpub>
  readonly inputs: ReadonlyArray<PsbtInput>
  readonly outputs: ReadonlyArray<PsbtOutput>
  readonly proprietary: Records<ProprietaryRecord>
  readonly unknown: Records<UnknownRecord>
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>()

const EMPTY_MAP: PsbtMap = {
  redeemScript: undefined,
  witnessScript: undefined,
  origins: NONE,
  taprootInternalKey: undefined,
  taprootOrigins: NONE,
  musig2Participants: NONE,
  proprietary: NONE,
  unknown: NONE
}

/** Returns the records, or the shared empty map: an input has fifteen record maps, and nearly all are empty. */
export const recordsOr = <A>(records: Records<A>): Records<A> => records.size === 0 ? NONE : records

/** Copies a map so that its empty records take no memory. */
export const slimMap = (map: PsbtMap): PsbtMap => ({
  redeemScript: map.redeemScript,
  witnessScript: map.witnessScript,
  origins: recordsOr(map.origins),
  taprootInternalKey: map.taprootInternalKey,
  taprootOrigins: recordsOr(map.taprootOrigins),
  musig2Participants: recordsOr(map.musig2Participants),
  proprietary: recordsOr(map.proprietary),
  unknown: recordsOr(map.unknown)
})

export const EMPTY_INPUT: PsbtInput = {
  ...EMPTY_MAP,
  nonWitnessUtxo: undefined,
  witnessUtxo: undefined,
  partialSignatures: NONE,
  sighashType: undefined,
  finalScriptSig: undefined,
  finalScriptWitness: undefined,
  preimages: { ripemd160: NONE, sha256: NONE, hash160: NONE, hash256: NONE },
  taprootKeySignature: undefined,
  taprootScriptSignatures: NONE,
  taprootLeaves: NONE,
  taprootMerkleRoot: undefined,
  musig2Nonces: NONE,
  musig2Signatures: NONE
}

/** Copies an input so that its empty records take no memory. */
export const slimInput = (input: PsbtInput): PsbtInput => {
  const { hash160, hash256, ripemd160, sha256 } = input.preimages
  return {
    ...slimMap(input),
    nonWitnessUtxo: input.nonWitnessUtxo,
    witnessUtxo: input.witnessUtxo,
    partialSignatures: recordsOr(input.partialSignatures),
    sighashType: input.sighashType,
    finalScriptSig: input.finalScriptSig,
    finalScriptWitness: input.finalScriptWitness,
    preimages: hash160.size + hash256.size + ripemd160.size + sha256.size === 0
      ? EMPTY_INPUT.preimages
      : input.preimages,
    taprootKeySignature: input.taprootKeySignature,
    taprootScriptSignatures: recordsOr(input.taprootScriptSignatures),
    taprootLeaves: recordsOr(input.taprootLeaves),
    taprootMerkleRoot: input.taprootMerkleRoot,
    musig2Nonces: recordsOr(input.musig2Nonces),
    musig2Signatures: recordsOr(input.musig2Signatures)
  }
}

export const EMPTY_OUTPUT: PsbtOutput = { ...EMPTY_MAP, taprootTree: [] }

export const withoutSignatures = ({ inputs, lockTime, outputs, version }: Transaction): Transaction =>
  makeTransaction({
    version,
    inputs: inputs.map(({ prevout, sequence }) => ({ prevout, sequence, scriptSig: new Uint8Array(0), witness: [] })),
    outputs,
    lockTime
  })

/** The PSBT of a transaction, without further data. Its signatures are left out. */
export const psbtOf = (transaction: Transaction): Psbt => ({
  transaction: withoutSignatures(transaction),
  xpubs: NONE,
  inputs: transaction.inputs.map(() => EMPTY_INPUT),
  outputs: transaction.outputs.map(() => EMPTY_OUTPUT),
  proprietary: NONE,
  unknown: NONE
})

/** Replaces the transaction by another one with the same number of inputs and outputs. */
export const withTransaction = (psbt: Psbt, transaction: Transaction): Psbt => ({ ...psbt, transaction })

export const leafKey = ({ leafVersion, script }: Pick<TaprootLeaf, "script" | "leafVersion">): string =>
  binaryString(script) + String.fromCharCode(leafVersion)

/** Whether an input has final scripts. They are not verified. */
export const isFinalInput = ({ finalScriptSig, finalScriptWitness }: PsbtInput): boolean =>
  finalScriptSig !== undefined || finalScriptWitness !== undefined
