import { binaryString, type Bytes, compare, concat, concatAll, EMPTY } from "../bytes.ts"
import { hash160 } from "../hash.ts"
import { Reader } from "../Reader.ts"
import { readTransaction, type Transaction, type TransactionOutput } from "../transaction.ts"
import type { ItemCodec, ValueCodec } from "./FieldTable.ts"
import type {
  GlobalXpub,
  KeyOrigin,
  Musig2Participants,
  Musig2Share,
  PartialSignature,
  Preimage,
  PreimageKind,
  ProprietaryRecord,
  PubkeyOrigin,
  Records,
  TaprootLeaf,
  TaprootOrigin,
  TaprootScriptSignature,
  TreeLeaf
} from "./Psbt.ts"
import { PsbtFault, type PsbtRecord, publicKey, sized, sorted, valueBytes, whole } from "./records.ts"

/** The messages are those of upstream `psbt.h`. */

export type MapPlace = "input" | "output"

export const capital = (place: MapPlace): "Input" | "Output" => place === "input" ? "Input" : "Output"

// Values

const same = (value: Bytes): Bytes => value

/** An empty script counts as missing. */
export const SCRIPT_CODEC: ValueCodec<Bytes> = { read: (value) => value.length === 0 ? undefined : value, write: same }

/** 32 bytes; `undefined` for zeros. */
const hashOrNone = (value: Bytes): Bytes | undefined => sized(value, 32).every((byte) => byte === 0) ? undefined : value

export const HASH: ValueCodec<Bytes> = { read: hashOrNone, write: same }

export const WHOLE_TRANSACTION: ValueCodec<Transaction> = {
  read: (value) => whole(value, (reader) => readTransaction(reader)),
  write: (transaction) => transaction.strippedBytes()
}

export const UNSIGNED: ValueCodec<Transaction> = {
  read: (value) => {
    const transaction = whole(value, (reader) => readTransaction(reader, false))
    if (transaction.inputs.some(({ scriptSig }) => scriptSig.length > 0)) {
      throw new PsbtFault("Unsigned tx does not have empty scriptSigs and scriptWitnesses.")
    }
    return transaction
  },
  write: WHOLE_TRANSACTION.write
}

/** Version 0 alone, which is never written: it is the one of a PSBT without a version. */
export const VERSION: ValueCodec<never> = {
  read: (value) => {
    if (sized(value, 4).some((byte) => byte !== 0)) throw new PsbtFault("Unsupported version number")
    return undefined
  },
  write: same
}

/** A negative amount stands for a missing output. */
const readOutput = (reader: Reader): TransactionOutput | undefined => {
  const output = { value: reader.i64("value"), script: reader.varBytes("scriptPubKey") }
  return output.value === -1 ? undefined : output
}

export const SPENT_OUTPUT: ValueCodec<TransactionOutput> = {
  read: (value) => whole(value, readOutput),
  write: ({ script, value }) => valueBytes((writer) => writer.i64(value).varBytes(script))
}

export const HASH_TYPE: ValueCodec<number> = {
  read: (value) => whole(sized(value, 4), (reader) => reader.i32("sighash")),
  write: (hashType) => valueBytes((writer) => writer.i32(hashType))
}

const readItems = (reader: Reader): ReadonlyArray<Bytes> | undefined => {
  const items = Array.from({ length: reader.count("witness items", 1) }, () => reader.varBytes("witness item"))
  return items.length === 0 ? undefined : items
}

export const WITNESS: ValueCodec<ReadonlyArray<Bytes>> = {
  read: (value) => whole(value, readItems),
  write: (items) =>
    valueBytes((writer) => {
      writer.compactSize(items.length)
      for (const item of items) writer.varBytes(item)
    })
}

const checkSchnorrSize = (signature: Bytes, path: "key" | "script"): Bytes => {
  if (signature.length < 64) throw new PsbtFault(`Input Taproot ${path} path signature is shorter than 64 bytes`)
  if (signature.length > 65) throw new PsbtFault(`Input Taproot ${path} path signature is longer than 65 bytes`)
  return signature
}

export const KEY_SIGNATURE: ValueCodec<Bytes> = { read: (value) => checkSchnorrSize(value, "key"), write: same }

/** Maximum branches between a leaf and the root (BIP 341). */
const MAX_DEPTH = 128

/** Whether depths, listed depth first, are exactly the leaf depths of one binary tree. */
export const isWholeTree = (depths: ReadonlyArray<number>): boolean => {
  const open: Array<number> = []
  for (const depth of depths) {
    const last = open[open.length - 1]
    if (last !== undefined && depth < last) return false
    open.push(depth)
    for (;;) {
      const [left, right] = open.slice(-2)
      if (right === undefined || left !== right || right === 0) break
      open.splice(-2, 2, right - 1)
    }
  }
  return open.length === 1 && open[0] === 0
}

const readTree = (value: Bytes): ReadonlyArray<TreeLeaf> => {
  if (value.length === 0) throw new PsbtFault("Output Taproot tree must not be empty")
  const reader = new Reader(value)
  const leaves: Array<TreeLeaf> = []
  while (reader.remaining > 0) {
    const depth = reader.u8("depth")
    const leafVersion = reader.u8("leaf version")
    const script = reader.varBytes("leaf script")
    if (depth > MAX_DEPTH) throw new PsbtFault("Output Taproot tree has as leaf greater than Taproot maximum depth")
    if ((leafVersion & 1) !== 0) throw new PsbtFault("Output Taproot tree has a leaf with an invalid leaf version")
    leaves.push({ depth, leafVersion, script })
  }
  if (!isWholeTree(leaves.map(({ depth }) => depth))) throw new PsbtFault("Output Taproot tree is malformed")
  return leaves
}

export const TREE: ValueCodec<ReadonlyArray<TreeLeaf>> = {
  read: readTree,
  write: (leaves) =>
    valueBytes((writer) => {
      for (const { depth, leafVersion, script } of leaves) writer.u8(depth).u8(leafVersion).varBytes(script)
    })
}

// Keys and their origins

const keyOfRecord = ({ data }: PsbtRecord, type: string): Bytes => {
  if (data.length !== 33 && data.length !== 65) {
    throw new PsbtFault(`Size of key was not the expected size for the type ${type}`)
  }
  return publicKey(data)
}

const readOrigin = (value: Bytes): KeyOrigin => {
  if (value.length === 0 || value.length % 4 !== 0) throw new PsbtFault("Invalid length for HD key path")
  const reader = new Reader(value, 4)
  const path = Array.from({ length: value.length / 4 - 1 }, () => reader.u32("key path"))
  return { fingerprint: value.subarray(0, 4), path }
}

const originBytes = ({ fingerprint, path }: KeyOrigin): Uint8Array =>
  valueBytes((writer) => {
    writer.bytes(fingerprint)
    for (const child of path) writer.u32(child)
  })

export const ORIGIN: ItemCodec<PubkeyOrigin> = {
  read: (record) => ({ pubkey: keyOfRecord(record, "BIP32 keypath"), origin: readOrigin(record.value) }),
  write: ({ origin, pubkey }) => [pubkey, originBytes(origin)]
}

const XPUB_SIZE = 78

const CHAIN_CODE = 13
const PUBKEY = 45

const compareOrigins = (a: KeyOrigin, b: KeyOrigin): number => {
  const byLength = compare(a.fingerprint, b.fingerprint) || a.path.length - b.path.length
  if (byLength !== 0) return byLength
  const at = a.path.findIndex((child, n) => child !== b.path[n])
  return at < 0 ? 0 : (a.path[at] ?? 0) - (b.path[at] ?? 0)
}

export const sortedXpubs = (xpubs: Records<GlobalXpub>): ReadonlyArray<GlobalXpub> =>
  [...sorted(xpubs)].sort((a, b) => compareOrigins(a.origin, b.origin))

export const XPUB_TWICE = "Duplicate key, global xpub already provided"

export const XPUB: ItemCodec<GlobalXpub> = {
  // Two keys differ if their derivation differs.
  key: ({ xpub }) => binaryString(concat(xpub.subarray(PUBKEY), xpub.subarray(CHAIN_CODE, PUBKEY))),
  clash: XPUB_TWICE,
  order: sortedXpubs,
  read: (record) => {
    if (record.data.length !== XPUB_SIZE) {
      throw new PsbtFault("Size of key was not the expected size for the type global xpub")
    }
    publicKey(record.data.subarray(PUBKEY))
    return { xpub: record.data, origin: readOrigin(record.value) }
  },
  write: ({ origin, xpub }) => [xpub, originBytes(origin)]
}

export const sortedHashes = (hashes: ReadonlyArray<Bytes>): ReadonlyArray<Bytes> =>
  [...new Map(hashes.map((hash) => [binaryString(hash), hash])).values()].sort(compare)

export const taprootOrigin = (place: MapPlace): ItemCodec<TaprootOrigin> => {
  const name = `${capital(place)} Taproot BIP32 keypath`
  return {
    read: (record) => {
      if (record.data.length !== 32) throw new PsbtFault(`${name} key is not at 33 bytes`)
      const reader = new Reader(record.value)
      if (reader.remaining === 0) throw new PsbtFault(`${name} has an invalid length`)
      const count = reader.compactSize("leaf hashes")
      if (count * 32 > reader.remaining) throw new PsbtFault(`${name} has an invalid length`)
      const hashes = Array.from({ length: count }, () => reader.bytes(32, "leaf hash"))
      const origin = readOrigin(record.value.subarray(reader.offset))
      return { xonly: record.data, leafHashes: sortedHashes(hashes), origin }
    },
    write: ({ leafHashes, origin, xonly }) => {
      const hashes = valueBytes((writer) => writer.compactSize(leafHashes.length).bytes(concatAll(leafHashes)))
      return [xonly, concat(hashes, originBytes(origin))]
    }
  }
}

// Signatures and what they need

export const PARTIAL_SIGNATURE: ItemCodec<PartialSignature> = {
  key: ({ pubkey }) => binaryString(hash160(pubkey)),
  read: (record, { isSignature }) => {
    const pubkey = keyOfRecord(record, "partial signature pubkey")
    if (!isSignature(record.value)) throw new PsbtFault("Signature is not a valid encoding")
    return { pubkey, signature: record.value }
  },
  write: ({ pubkey, signature }) => [pubkey, signature]
}

const HASH_SIZES: Readonly<Record<PreimageKind, number>> = { ripemd160: 20, sha256: 32, hash160: 20, hash256: 32 }

export const preimage = (kind: PreimageKind): ItemCodec<Preimage> => ({
  read: (record) => {
    if (record.data.length !== HASH_SIZES[kind]) {
      throw new PsbtFault(`Size of key was not the expected size for the type ${kind} preimage`)
    }
    return { hash: record.data, preimage: record.value }
  },
  write: ({ hash, preimage }) => [hash, preimage]
})

export const SCRIPT_SIGNATURE: ItemCodec<TaprootScriptSignature> = {
  read: (record) => {
    const { data } = record
    if (data.length !== 64) throw new PsbtFault("Input Taproot script signature key is not 65 bytes")
    const signature = checkSchnorrSize(record.value, "script")
    return { xonly: data.subarray(0, 32), leafHash: data.subarray(32), signature }
  },
  write: ({ leafHash, signature, xonly }) => [concat(xonly, leafHash), signature]
}

/** The leaf in a record. Its control block is the data of the key. */
export const readLeaf = (record: PsbtRecord): Pick<TaprootLeaf, "script" | "leafVersion"> => {
  if (record.key.length < 34) throw new PsbtFault("Taproot leaf script key is not at least 34 bytes")
  if ((record.key.length - 2) % 32 !== 0) {
    throw new PsbtFault("Input Taproot leaf script key's control block size is not valid")
  }
  const { value } = record
  const leafVersion = value[value.length - 1]
  if (leafVersion === undefined) throw new PsbtFault("Input Taproot leaf script must be at least 1 byte")
  return { script: value.subarray(0, -1), leafVersion }
}

/** Sorts the shortest first, then by their bytes. */
export const compareControlBlocks = (a: Bytes, b: Bytes): number => a.length - b.length || compare(a, b)

/** Sorts leaves by their scripts, then by their versions. */
export const sortedLeaves = (leaves: Records<TaprootLeaf>): ReadonlyArray<TaprootLeaf> =>
  [...leaves.values()].sort((a, b) => compare(a.script, b.script) || a.leafVersion - b.leafVersion)

// MuSig2

export const participants = (place: MapPlace): ItemCodec<Musig2Participants> => {
  const named = `${capital(place)} musig2`
  return {
    read: (record) => {
      if (record.data.length !== 33) throw new PsbtFault(`${named} participants pubkeys aggregate key is not 34 bytes`)
      const aggregate = publicKey(record.data, `${named} aggregate pubkey is invalid`)
      const { value } = record
      const participants: Array<Bytes> = []
      for (let at = 0; at + 33 <= value.length; at += 33) {
        participants.push(publicKey(value.subarray(at, at + 33), `${named} participant pubkey is invalid`))
      }
      if (value.length % 33 !== 0) {
        throw new PsbtFault(`${named} participants pubkeys value size is not a multiple of 33`)
      }
      return { aggregate, participants }
    },
    write: ({ aggregate, participants }) => [aggregate, concatAll(participants)]
  }
}

const NO_LEAF = new Uint8Array(32)

/** The key of a share. Keys are in the order in which shares are written. */
export const shareKey = ({ aggregate, leafHash, participant }: Omit<Musig2Share, "value">): string =>
  binaryString(concat(aggregate, leafHash ?? NO_LEAF, participant))

const checkNonce = (nonce: Bytes): Bytes => {
  if (nonce.length !== 66) throw new PsbtFault("Input musig2 pubnonce value is not 66 bytes")
  return nonce
}

export const share = (name: "pubnonce" | "partial sig"): ItemCodec<Musig2Share> => ({
  key: shareKey,
  read: (record) => {
    const { data } = record
    if (data.length !== 66 && data.length !== 98) {
      throw new PsbtFault(`Input musig2 ${name} key is not expected size of 67 or 99 bytes`)
    }
    const aggregate = publicKey(data.subarray(33, 66), "musig2 aggregate pubkey is invalid")
    const participant = publicKey(data.subarray(0, 33), "musig2 participant pubkey is invalid")
    const leafHash = data.length === 66 ? undefined : hashOrNone(data.subarray(66))
    const value = name === "pubnonce" ? checkNonce(record.value) : sized(record.value, 32)
    return { aggregate, participant, leafHash, value }
  },
  write: ({ aggregate, leafHash, participant, value }) => [concat(participant, aggregate, leafHash ?? EMPTY), value]
})

// Records that are kept whole

export const readUnknown = ({ key, value }: PsbtRecord) => ({ key, value })

export const readProprietary = (record: PsbtRecord): ProprietaryRecord => {
  const reader = new Reader(record.data)
  const identifier = reader.varBytes("proprietary identifier")
  const subtype = reader.compactSize("proprietary subtype")
  return { identifier, subtype, key: record.key, value: record.value }
}
