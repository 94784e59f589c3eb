import type { Bytes } from "../bytes.ts"
import { binaryString } from "../bytes.ts"
import { makeTransaction, type Transaction, type TransactionOutput } from "../transaction.ts"

/**
 * Partially signed transactions, version 0 (BIP 174, taproot fields of BIP 371, MuSig2 fields of BIP 373): what those
 * who sign a transaction together tell each other. Nothing here is changed in place.
 */

/** Where a key comes from (BIP 32). */
export interface KeyOrigin {
  /** First four bytes of the HASH160 of the master key. */
  readonly fingerprint: Bytes
  /** Child numbers from the master key on, hardened ones from 2^31. */
  readonly path: ReadonlyArray<number>
}

/** Records by their key: `binaryString` of what stands behind the type in the file's own key. */
export type Records<A> = ReadonlyMap<string, A>

/** A record that nobody here understands; `key` begins with its type. */
export interface UnknownRecord {
  readonly key: Bytes
  readonly value: Bytes
}

/** A record of somebody's own type (BIP 174, "Proprietary Use Type"); `key` is whole, its type included. */
export interface ProprietaryRecord extends UnknownRecord {
  readonly identifier: Bytes
  readonly subtype: number
}

export interface PubkeyOrigin {
  readonly pubkey: Bytes
  readonly origin: KeyOrigin
}

/** Where an x-only key comes from, and in which leaves of the tree it stands. */
export interface TaprootOrigin {
  /** 32 bytes. */
  readonly xonly: Bytes
  /** In order of their bytes. */
  readonly leafHashes: ReadonlyArray<Bytes>
  readonly origin: KeyOrigin
}

/** A signature with the key that made it. */
export interface PartialSignature {
  readonly pubkey: Bytes
  /** DER and the hash type. */
  readonly signature: Bytes
}

export interface TaprootScriptSignature {
  readonly xonly: Bytes
  readonly leafHash: Bytes
  /** 64 bytes, and the hash type unless it is the default. */
  readonly signature: Bytes
}

/** A leaf of a tree of scripts with the ways to prove that the output commits to it. */
export interface TaprootLeaf {
  readonly script: Bytes
  readonly leafVersion: number
  /** Shortest first. */
  readonly controlBlocks: ReadonlyArray<Bytes>
}

/** A leaf by its depth in a tree that is listed depth first. */
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

/** A public nonce or a partial signature of somebody who signs with others under one key. */
export interface Musig2Share {
  readonly participant: Bytes
  readonly aggregate: Bytes
  /** `undefined` for the spend by key. */
  readonly leafHash: Bytes | undefined
  readonly value: Bytes
}

/** What inputs and outputs have alike. Empty scripts count as none. */
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
  /** The output that is spent. */
  readonly witnessUtxo: TransactionOutput | undefined
  /** By HASH160 of the public key. */
  readonly partialSignatures: Records<PartialSignature>
  /** Signed 32-bit. */
  readonly sighashType: number | undefined
  readonly finalScriptSig: Bytes | undefined
  /** Never without an item. */
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
  /** None where the output has no tree. */
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
  /** As many as the transaction has. */
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

/** The records, or the one map that stands for none: an input has fifteen of them, and nearly all are empty. */
export const recordsOr = <A>(records: Records<A>): Records<A> => records.size === 0 ? NONE : records

/** A map whose empty records take no memory. */
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

/** An input of which nothing is known. */
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

/** The same of an input. */
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

/** An output of which nothing is known. */
export const EMPTY_OUTPUT: PsbtOutput = { ...EMPTY_MAP, taprootTree: [] }

/** A transaction without what its inputs were signed with. */
export const withoutSignatures = ({ inputs, lockTime, outputs, version }: Transaction): Transaction =>
  makeTransaction({
    version,
    inputs: inputs.map(({ prevout, sequence }) => ({ prevout, sequence, scriptSig: new Uint8Array(0), witness: [] })),
    outputs,
    lockTime
  })

/** The PSBT of a transaction of which nothing more is known. Signatures that it has are left out. */
export const psbtOf = (transaction: Transaction): Psbt => ({
  transaction: withoutSignatures(transaction),
  xpubs: NONE,
  inputs: transaction.inputs.map(() => EMPTY_INPUT),
  outputs: transaction.outputs.map(() => EMPTY_OUTPUT),
  proprietary: NONE,
  unknown: NONE
})

/** The PSBT with another transaction, of as many inputs and outputs, in its place. */
export const withTransaction = (psbt: Psbt, transaction: Transaction): Psbt => ({ ...psbt, transaction })

/** The key under which a leaf stands in `taprootLeaves`. */
export const leafKey = ({ leafVersion, script }: Pick<TaprootLeaf, "script" | "leafVersion">): string =>
  binaryString(script) + String.fromCharCode(leafVersion)

/** Whether an input has what it needs to be spent, as far as it says so itself. */
export const isFinal = ({ finalScriptSig, finalScriptWitness }: PsbtInput): boolean =>
  finalScriptSig !== undefined || finalScriptWitness !== undefined
