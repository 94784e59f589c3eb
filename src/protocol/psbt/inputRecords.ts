import { binaryString, type Bytes, compare, concat } from "../bytes.ts"
import { hash160 } from "../hash.ts"
import type { Reader } from "../Reader.ts"
import type { Steps } from "../steps.ts"
import { readTransaction, type Transaction, type TransactionOutput } from "../transaction.ts"
import {
  leafKey,
  type Musig2Share,
  type PartialSignature,
  type Preimage,
  type PreimageKind,
  type PsbtInput,
  slimInput,
  type TaprootLeaf,
  type TaprootScriptSignature
} from "./Psbt.ts"
import {
  dataKey,
  hashOrNone,
  keyOfRecord,
  nonEmpty,
  PsbtFault,
  type PsbtRecord,
  publicKey,
  RecordReader,
  sized,
  whole
} from "./RecordReader.ts"
import { type MapDraft, newMapDraft, sharedReaders } from "./sharedRecords.ts"
import { InputType } from "./types.ts"

/** Reads the map of an input. Upstream `psbt.h`, `PSBTInput::Unserialize`. */

/** Control blocks are sorted after the whole map is read: there may be hundreds of thousands. */
interface LeafDraft extends TaprootLeaf {
  readonly controlBlocks: Array<Bytes>
}

type InputReader = RecordReader<"input">

interface InputDraft extends MapDraft {
  nonWitnessUtxo: Transaction | undefined
  witnessUtxo: TransactionOutput | undefined
  sighashType: number | undefined
  finalScriptSig: Bytes | undefined
  finalScriptWitness: ReadonlyArray<Bytes> | undefined
  taprootKeySignature: Bytes | undefined
  taprootMerkleRoot: Bytes | undefined
  readonly partialSignatures: Map<string, PartialSignature>
  readonly preimages: Readonly<Record<PreimageKind, Map<string, Preimage>>>
  readonly taprootScriptSignatures: Map<string, TaprootScriptSignature>
  readonly taprootLeaves: Map<string, LeafDraft>
  readonly musig2Nonces: Map<string, Musig2Share>
  readonly musig2Signatures: Map<string, Musig2Share>
}

const newDraft = (): InputDraft => ({
  ...newMapDraft(),
  nonWitnessUtxo: undefined,
  witnessUtxo: undefined,
  sighashType: undefined,
  finalScriptSig: undefined,
  finalScriptWitness: undefined,
  taprootKeySignature: undefined,
  taprootMerkleRoot: undefined,
  partialSignatures: new Map(),
  preimages: { ripemd160: new Map(), sha256: new Map(), hash160: new Map(), hash256: new Map() },
  taprootScriptSignatures: new Map(),
  taprootLeaves: new Map(),
  musig2Nonces: new Map(),
  musig2Signatures: new Map()
})

/** A negative amount stands for a missing output. */
const readOutput = (reader: Reader): TransactionOutput | undefined => {
  const output = { value: reader.i64("value"), script: reader.varBytes("scriptPubKey") }
  return output.value === -1 ? undefined : output
}

const readItems = (reader: Reader): ReadonlyArray<Bytes> | undefined => {
  const items = Array.from({ length: reader.count("witness items", 1) }, () => reader.varBytes("witness item"))
  return items.length === 0 ? undefined : items
}

const HASH_SIZES: Readonly<Record<PreimageKind, number>> = { ripemd160: 20, sha256: 32, hash160: 20, hash256: 32 }

const PREIMAGE_KINDS: ReadonlyMap<number, PreimageKind> = new Map([
  [InputType.RIPEMD160, "ripemd160"],
  [InputType.SHA256, "sha256"],
  [InputType.HASH160, "hash160"],
  [InputType.HASH256, "hash256"]
])

const readPreimage = (draft: InputDraft, kind: PreimageKind, record: PsbtRecord): void => {
  const { data } = record
  if (data.length !== HASH_SIZES[kind]) {
    throw new PsbtFault(`Size of key was not the expected size for the type ${kind} preimage`)
  }
  const known = draft.preimages[kind]
  if (known.has(dataKey(record))) throw new PsbtFault(`Duplicate Key, input ${kind} preimage already provided`)
  known.set(dataKey(record), { hash: data, preimage: record.value })
}

const readPartialSignature = (draft: InputDraft, record: PsbtRecord, isSignature: IsSignature): void => {
  const pubkey = keyOfRecord(record, "partial signature pubkey")
  const keyHash = binaryString(hash160(pubkey))
  if (draft.partialSignatures.has(keyHash)) {
    throw new PsbtFault("Duplicate Key, input partial signature for pubkey already provided")
  }
  if (!isSignature(record.value)) throw new PsbtFault("Signature is not a valid encoding")
  draft.partialSignatures.set(keyHash, { pubkey, signature: record.value })
}

const checkSchnorrSize = (signature: Bytes, path: "key" | "script"): Bytes => {
  if (signature.length < 64) throw new PsbtFault(`Input Taproot ${path} path signature is shorter than 64 bytes`)
  if (signature.length > 65) throw new PsbtFault(`Input Taproot ${path} path signature is longer than 65 bytes`)
  return signature
}

const readScriptSignature = (draft: InputDraft, records: InputReader, record: PsbtRecord): void => {
  const { data } = record
  records.once(record, "input Taproot script signature")
  if (data.length !== 64) throw new PsbtFault("Input Taproot script signature key is not 65 bytes")
  const signature = checkSchnorrSize(record.value, "script")
  const [xonly, leafHash] = [data.subarray(0, 32), data.subarray(32)]
  draft.taprootScriptSignatures.set(dataKey(record), { xonly, leafHash, signature })
}

/** Sorts the shortest first, then by their bytes. */
export const compareControlBlocks = (a: Bytes, b: Bytes): number => a.length - b.length || compare(a, b)

const readLeaf = (draft: InputDraft, records: InputReader, record: PsbtRecord): void => {
  const { data } = record
  records.once(record, "input Taproot leaf script")
  if (record.key.length < 34) throw new PsbtFault("Taproot leaf script key is not at least 34 bytes")
  if ((record.key.length - 2) % 32 !== 0) {
    throw new PsbtFault("Input Taproot leaf script key's control block size is not valid")
  }
  const { value } = record
  const leafVersion = value[value.length - 1]
  if (leafVersion === undefined) throw new PsbtFault("Input Taproot leaf script must be at least 1 byte")
  const leaf = { script: value.subarray(0, -1), leafVersion }
  const key = leafKey(leaf)
  const known = draft.taprootLeaves.get(key)
  if (known === undefined) draft.taprootLeaves.set(key, { ...leaf, controlBlocks: [data] })
  else known.controlBlocks.push(data)
}

const NO_LEAF = new Uint8Array(32)

/** The key of a share. Keys are in the order in which shares are written. */
export const shareKey = ({ aggregate, leafHash, participant }: Omit<Musig2Share, "value">): string =>
  binaryString(concat(aggregate, leafHash ?? NO_LEAF, participant))

const readShare = (draft: InputDraft, records: InputReader, record: PsbtRecord): void => {
  const isNonce = record.type === InputType.MUSIG2_NONCE
  const [name, to] = isNonce ? ["pubnonce", draft.musig2Nonces] : ["partial sig", draft.musig2Signatures]
  const { data } = record
  records.once(record, `input musig2 ${name}`)
  if (data.length !== 66 && data.length !== 98) {
    throw new PsbtFault(`Input musig2 ${name} key is not expected size of 67 or 99 bytes`)
  }
  const aggregate = publicKey(data.subarray(33, 66), "musig2 aggregate pubkey is invalid")
  const participant = publicKey(data.subarray(0, 33), "musig2 participant pubkey is invalid")
  const leafHash = data.length === 66 ? undefined : hashOrNone(data.subarray(66))
  const value = isNonce ? checkNonce(record.value) : sized(record.value, 32)
  const share = { aggregate, participant, leafHash, value }
  if (!to.has(shareKey(share))) to.set(shareKey(share), share)
}

const checkNonce = (nonce: Bytes): Bytes => {
  if (nonce.length !== 66) throw new PsbtFault("Input musig2 pubnonce value is not 66 bytes")
  return nonce
}

/** Whether bytes are an ECDSA signature in strict encoding with a defined hash type. This is a consensus rule. */
export type IsSignature = (signature: Bytes) => boolean

interface InputReading {
  readonly records: InputReader
  readonly isSignature: IsSignature
}

const readRecord = (draft: InputDraft, record: PsbtRecord, { isSignature, records }: InputReading): void => {
  const kind = PREIMAGE_KINDS.get(record.type)
  if (kind !== undefined) return readPreimage(draft, kind, record)
  const single = (what: string): Bytes =>
    records.single(record, { duplicate: `input ${what}`, name: what.charAt(0).toUpperCase() + what.slice(1) })
  switch (record.type) {
    case InputType.NON_WITNESS_UTXO:
      draft.nonWitnessUtxo = whole(single("non-witness utxo"), (reader) => readTransaction(reader))
      return
    case InputType.WITNESS_UTXO:
      draft.witnessUtxo = whole(single("witness utxo"), readOutput)
      return
    case InputType.PARTIAL_SIGNATURE:
      return readPartialSignature(draft, record, isSignature)
    case InputType.SIGHASH:
      draft.sighashType = whole(sized(single("sighash type"), 4), (reader) => reader.i32("sighash"))
      return
    case InputType.REDEEM_SCRIPT:
      return sharedReaders.redeemScript(draft, records, record)
    case InputType.WITNESS_SCRIPT:
      return sharedReaders.witnessScript(draft, records, record)
    case InputType.BIP32_DERIVATION:
      return sharedReaders.origin(draft, records, record)
    case InputType.SCRIPT_SIG:
      draft.finalScriptSig = nonEmpty(single("final scriptSig"))
      return
    case InputType.SCRIPT_WITNESS:
      draft.finalScriptWitness = whole(single("final scriptWitness"), readItems)
      return
    default:
      return readTaprootRecord(draft, records, record)
  }
}

const readTaprootRecord = (draft: InputDraft, records: InputReader, record: PsbtRecord): void => {
  const single = (name: string): Bytes =>
    records.single(record, { duplicate: `input Taproot ${name}`, name: `Input Taproot ${name}` })
  switch (record.type) {
    case InputType.TAP_KEY_SIGNATURE:
      draft.taprootKeySignature = checkSchnorrSize(single("key signature"), "key")
      return
    case InputType.TAP_SCRIPT_SIGNATURE:
      return readScriptSignature(draft, records, record)
    case InputType.TAP_LEAF_SCRIPT:
      return readLeaf(draft, records, record)
    case InputType.TAP_BIP32_DERIVATION:
      return sharedReaders.taprootOrigin(draft, records, record)
    case InputType.TAP_INTERNAL_KEY:
      return sharedReaders.internalKey(draft, records, record)
    case InputType.TAP_MERKLE_ROOT:
      draft.taprootMerkleRoot = hashOrNone(single("merkle root"))
      return
    case InputType.MUSIG2_PARTICIPANTS:
      return sharedReaders.musig2(draft, records, record)
    case InputType.MUSIG2_NONCE:
    case InputType.MUSIG2_SIGNATURE:
      return readShare(draft, records, record)
    case InputType.PROPRIETARY:
      return sharedReaders.proprietary(draft, records, record)
    default:
      return records.unknown(record, draft.unknown)
  }
}

/** Reads the map of an input up to its separator, one record per step. */
export function* readInput(reader: Reader, isSignature: IsSignature): Steps<PsbtInput> {
  const records = new RecordReader(reader, "input")
  const draft = newDraft()
  for (let record = records.next(); record !== undefined; record = records.next()) {
    readRecord(draft, record, { records, isSignature })
    yield
  }
  for (const { controlBlocks } of draft.taprootLeaves.values()) controlBlocks.sort(compareControlBlocks)
  return slimInput(draft)
}
