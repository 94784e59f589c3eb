import type { Bytes } from "../bytes.ts"
import { binaryString } from "../bytes.ts"
import { makeTransaction, type Transaction, type TransactionOutput } from "../transaction.ts"

/** PSBT version 0 (BIP 174; taproot fields of BIP 371, MuSig2 fields of BIP 373). Immutable. */

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

type Preimages = { readonly [K in PreimageKind]: Records<Preimage> }

export interface PsbtInput extends PsbtMap, Preimages {
  readonly nonWitnessUtxo: Transaction | undefined
  readonly witnessUtxo: TransactionOutput | undefined
  /** By HASH160 of the public key. */
  readonly partialSignatures: Records<PartialSignature>
  /** Signed 32-bit. */
  readonly sighashType: number | undefined
  readonly finalScriptSig: Bytes | undefined
  /** Has at least one item. */
  readonly finalScriptWitness: ReadonlyArray<Bytes> | undefined
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
  /** Has at least one leaf. */
  readonly taprootTree: ReadonlyArray<TreeLeaf> | undefined
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

/** No records. One map for all: an input has fifteen, and nearly all are empty. */
export const NO_RECORDS: ReadonlyMap<string, never> = new Map<string, never>()

const EMPTY_MAP: PsbtMap = {
  redeemScript: undefined,
  witnessScript: undefined,
  origins: NO_RECORDS,
  taprootInternalKey: undefined,
  taprootOrigins: NO_RECORDS,
  musig2Participants: NO_RECORDS,
  proprietary: NO_RECORDS,
  unknown: NO_RECORDS
}

/** The first PSBT's record takes precedence. */
export const both = <A>(first: Records<A>, second: Records<A>): Records<A> =>
  second.size > 0 ? first.size > 0 ? new Map([...second, ...first]) : second : first.size > 0 ? first : NO_RECORDS

export const EMPTY_INPUT: PsbtInput = {
  ...EMPTY_MAP,
  nonWitnessUtxo: undefined,
  witnessUtxo: undefined,
  partialSignatures: NO_RECORDS,
  sighashType: undefined,
  finalScriptSig: undefined,
  finalScriptWitness: undefined,
  ripemd160: NO_RECORDS,
  sha256: NO_RECORDS,
  hash160: NO_RECORDS,
  hash256: NO_RECORDS,
  taprootKeySignature: undefined,
  taprootScriptSignatures: NO_RECORDS,
  taprootLeaves: NO_RECORDS,
  taprootMerkleRoot: undefined,
  musig2Nonces: NO_RECORDS,
  musig2Signatures: NO_RECORDS
}

export const EMPTY_OUTPUT: PsbtOutput = { ...EMPTY_MAP, taprootTree: undefined }

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
  xpubs: NO_RECORDS,
  inputs: transaction.inputs.map(() => EMPTY_INPUT),
  outputs: transaction.outputs.map(() => EMPTY_OUTPUT),
  proprietary: NO_RECORDS,
  unknown: NO_RECORDS
})

export const withTransaction = (psbt: Psbt, transaction: Transaction): Psbt => ({ ...psbt, transaction })

export const leafKey = ({ leafVersion, script }: Pick<TaprootLeaf, "script" | "leafVersion">): string =>
  binaryString(script) + String.fromCharCode(leafVersion)

/** The scripts are not verified. */
export const isFinalInput = ({ finalScriptSig, finalScriptWitness }: PsbtInput): boolean =>
  finalScriptSig !== undefined || finalScriptWitness !== undefined
