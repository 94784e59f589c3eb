import { binaryString, type Bytes, compare } from "../bytes.ts"
import { Reader } from "../Reader.ts"
import type { Musig2Participants, ProprietaryRecord, PubkeyOrigin, TaprootOrigin, UnknownRecord } from "./Psbt.ts"
import {
  dataKey,
  hashOrNone,
  keyOfRecord,
  nonEmpty,
  PsbtFault,
  type PsbtRecord,
  publicKey,
  readOrigin,
  type RecordReader
} from "./RecordReader.ts"

/** The records that both inputs and outputs have. Their type numbers differ. */

export interface MapDraft {
  redeemScript: Bytes | undefined
  witnessScript: Bytes | undefined
  taprootInternalKey: Bytes | undefined
  readonly origins: Map<string, PubkeyOrigin>
  readonly taprootOrigins: Map<string, TaprootOrigin>
  readonly musig2Participants: Map<string, Musig2Participants>
  readonly proprietary: Map<string, ProprietaryRecord>
  readonly unknown: Map<string, UnknownRecord>
}

export const newMapDraft = (): MapDraft => ({
  redeemScript: undefined,
  witnessScript: undefined,
  taprootInternalKey: undefined,
  origins: new Map(),
  taprootOrigins: new Map(),
  musig2Participants: new Map(),
  proprietary: new Map(),
  unknown: new Map()
})

export type MapName = "input" | "output"

type SharedReader = RecordReader<MapName>

export const capital = (map: MapName): "Input" | "Output" => map === "input" ? "Input" : "Output"

const redeemScript = (draft: MapDraft, records: SharedReader, record: PsbtRecord): void => {
  const { map } = records
  draft.redeemScript = nonEmpty(
    records.single(record, { duplicate: `${map} redeemScript`, name: `${capital(map)} redeemScript` })
  )
}

const witnessScript = (draft: MapDraft, records: SharedReader, record: PsbtRecord): void => {
  const { map } = records
  draft.witnessScript = nonEmpty(
    records.single(record, { duplicate: `${map} witnessScript`, name: `${capital(map)} witnessScript` })
  )
}

const origin = (draft: MapDraft, _records: SharedReader, record: PsbtRecord): void => {
  const pubkey = keyOfRecord(record, "BIP32 keypath")
  if (draft.origins.has(dataKey(record))) throw new PsbtFault("Duplicate Key, pubkey derivation path already provided")
  draft.origins.set(dataKey(record), { pubkey, origin: readOrigin(record.value) })
}

const internalKey = (draft: MapDraft, records: SharedReader, record: PsbtRecord): void => {
  const { map } = records
  const value = records.single(record, {
    duplicate: `${map} Taproot internal key`,
    name: `${capital(map)} Taproot internal key`
  })
  draft.taprootInternalKey = hashOrNone(value)
}

export const sortedHashes = (hashes: ReadonlyArray<Bytes>): ReadonlyArray<Bytes> =>
  [...new Map(hashes.map((hash) => [binaryString(hash), hash])).values()].sort(compare)

const taprootOrigin = (draft: MapDraft, records: SharedReader, record: PsbtRecord): void => {
  const { map } = records
  const { data } = record
  const name = "Taproot BIP32 keypath"
  records.once(record, `${map} ${name}`)
  if (data.length !== 32) throw new PsbtFault(`${capital(map)} ${name} key is not at 33 bytes`)
  const { value } = record
  const invalidLength = `${capital(map)} ${name} has an invalid length`
  if (value.length === 0) throw new PsbtFault(invalidLength)
  const reader = new Reader(value)
  const count = reader.compactSize("leaf hashes")
  if (count * 32 > reader.remaining) throw new PsbtFault(invalidLength)
  const hashes = Array.from({ length: count }, () => reader.bytes(32, "leaf hash"))
  draft.taprootOrigins.set(dataKey(record), {
    xonly: data,
    leafHashes: sortedHashes(hashes),
    origin: readOrigin(value.subarray(reader.offset))
  })
}

const musig2 = (draft: MapDraft, records: SharedReader, record: PsbtRecord): void => {
  const { map } = records
  const { data } = record
  records.once(record, `${map} participant pubkeys for an aggregate key`)
  if (data.length !== 33) {
    throw new PsbtFault(`${capital(map)} musig2 participants pubkeys aggregate key is not 34 bytes`)
  }
  const aggregate = publicKey(data, `${capital(map)} musig2 aggregate pubkey is invalid`)
  const { value } = record
  const participants: Array<Bytes> = []
  for (let at = 0; at + 33 <= value.length; at += 33) {
    participants.push(publicKey(value.subarray(at, at + 33), `${capital(map)} musig2 participant pubkey is invalid`))
  }
  if (value.length % 33 !== 0) {
    throw new PsbtFault(`${capital(map)} musig2 participants pubkeys value size is not a multiple of 33`)
  }
  draft.musig2Participants.set(dataKey(record), { aggregate, participants })
}

const proprietary = (draft: MapDraft, records: SharedReader, record: PsbtRecord): void =>
  records.proprietary(record, draft.proprietary)

export const sharedReaders = {
  redeemScript,
  witnessScript,
  origin,
  internalKey,
  taprootOrigin,
  musig2,
  proprietary
} as const
