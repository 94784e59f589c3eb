import * as Redacted from "effect/Redacted"
import { createHmac, timingSafeEqual } from "node:crypto"
import { type Bytes, concat, EMPTY, fromBinaryString } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { CLASSES, META_TYPES } from "../wire/codes.ts"
import { lowerCaseName, type WireName } from "../wire/name.ts"
import { readWireName } from "../wire/readName.ts"

/** Messages signed with a shared key (RFC 8945). */

/** A key of `-dnstsig`. */
export interface TransferKey {
  readonly name: WireName
  readonly algorithm: "hmac-sha256" | "hmac-sha512"
  readonly secret: Redacted.Redacted<Bytes>
}

/** Codes of the field "error" (RFC 8945, section 3). */
export const TSIG_ERRORS = { NONE: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const

export type TsigFault = Exclude<keyof typeof TSIG_ERRORS, "NONE">

/** Seconds that two clocks may differ: the recommended fudge of section 10, and the most that is accepted. */
const FUDGE_SECONDS = 300

const HASHES = { "hmac-sha256": "sha256", "hmac-sha512": "sha512" } as const

const MAC_BYTES = { "hmac-sha256": 32, "hmac-sha512": 64 } as const

const ALGORITHM_NAMES = {
  "hmac-sha256": "\x0bhmac-sha256\0" as WireName,
  "hmac-sha512": "\x0bhmac-sha512\0" as WireName
} as const

const u16 = (value: number): Uint8Array => Uint8Array.of(value >>> 8 & 0xff, value & 0xff)

/** 48 bits. */
const timeBytes = (seconds: number): Uint8Array => {
  const bytes = new Uint8Array(6)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, Math.floor(seconds / 0x1_0000_0000))
  view.setUint32(2, seconds % 0x1_0000_0000)
  return bytes
}

export interface TsigRecord {
  readonly keyName: WireName
  readonly algorithm: WireName
  /** Seconds since 1970. */
  readonly time: number
  readonly fudge: number
  readonly mac: Bytes
  readonly originalId: number
  readonly error: number
  readonly other: Bytes
}

/** Reads the TSIG record at an offset; `undefined` if it is malformed. */
export const readTsig = (message: Bytes, at: number): TsigRecord | undefined => {
  try {
    const view = new DataView(message.buffer, message.byteOffset, message.length)
    const owner = readWireName(message, at)
    if (view.getUint16(owner.end) !== META_TYPES.TSIG || view.getUint16(owner.end + 2) !== CLASSES.ANY) return undefined
    // The TTL is not signed, and has to be 0 (section 4.2).
    if (view.getUint32(owner.end + 4) !== 0) return undefined
    const data = owner.end + 10
    const algorithm = readWireName(message, data)
    const fields = algorithm.end
    const macLength = view.getUint16(fields + 8)
    const behindMac = fields + 10 + macLength
    const otherLength = view.getUint16(behindMac + 4)
    const end = behindMac + 6 + otherLength
    if (end !== message.length || end !== data + view.getUint16(owner.end + 8)) return undefined
    return {
      keyName: lowerCaseName(owner.name),
      algorithm: lowerCaseName(algorithm.name),
      time: view.getUint16(fields) * 0x1_0000_0000 + view.getUint32(fields + 2),
      fudge: view.getUint16(fields + 6),
      mac: new Uint8Array(message.subarray(fields + 10, behindMac)),
      originalId: view.getUint16(behindMac),
      error: view.getUint16(behindMac + 2),
      other: new Uint8Array(message.subarray(behindMac + 6, end))
    }
  } catch (error) {
    // RangeError: the record is cut off.
    if (error instanceof DecodeError || error instanceof RangeError) return undefined
    throw error
  }
}

interface Signed {
  readonly time: number
  readonly fudge: number
  readonly error: number
  readonly other: Bytes
}

const timersOf = ({ fudge, time }: Signed): Bytes => concat(timeBytes(time), u16(fudge))

/** Section 4.3.3. */
const variablesOf = ({ algorithm, name }: TransferKey, signed: Signed): Bytes =>
  concat(
    fromBinaryString(name),
    u16(CLASSES.ANY),
    new Uint8Array(4),
    fromBinaryString(ALGORITHM_NAMES[algorithm]),
    timersOf(signed),
    u16(signed.error),
    u16(signed.other.length),
    signed.other
  )

const hmac = ({ algorithm, secret }: TransferKey, ...parts: ReadonlyArray<Bytes>): Uint8Array => {
  const digest = createHmac(HASHES[algorithm], Redacted.value(secret))
  for (const part of parts) digest.update(part)
  return new Uint8Array(digest.digest())
}

/** The MAC of the message before, with its length; nothing before the first. */
const chained = (before: Bytes): Bytes => before.length === 0 ? EMPTY : concat(u16(before.length), before)

/** Without its TSIG record, as it was signed. */
const unsignedPart = (message: Bytes, at: number, { originalId }: TsigRecord): Uint8Array => {
  // A Buffer's `slice` would not copy.
  const bytes = new Uint8Array(message.subarray(0, at))
  const view = new DataView(bytes.buffer)
  view.setUint16(0, originalId)
  view.setUint16(10, view.getUint16(10) - 1)
  return bytes
}

interface TsigFields extends Signed {
  readonly keyName: WireName
  readonly algorithm: WireName
  readonly mac: Bytes
}

/** The message with a TSIG record behind its records. */
const withTsig = (message: Bytes, { algorithm, error, fudge, keyName, mac, other, time }: TsigFields): Uint8Array => {
  const data = concat(
    fromBinaryString(algorithm),
    timersOf({ time, fudge, error, other }),
    u16(mac.length),
    mac,
    message.subarray(0, 2),
    u16(error),
    u16(other.length),
    other
  )
  const head = concat(u16(META_TYPES.TSIG), u16(CLASSES.ANY), new Uint8Array(4), u16(data.length))
  const bytes = concat(message, fromBinaryString(keyName), head, data)
  const view = new DataView(bytes.buffer)
  view.setUint16(10, view.getUint16(10) + 1)
  return bytes
}

/** Bytes that `TsigChain.sign` adds. */
export const tsigBytes = ({ algorithm, name }: TransferKey): number =>
  name.length + 10 + ALGORITHM_NAMES[algorithm].length + 16 + MAC_BYTES[algorithm]

/** The messages of one exchange, each signed over the MAC of the one before (section 5.3). */
export class TsigChain {
  readonly key: TransferKey
  private before: Bytes
  /** Messages of a transfer behind the first leave out what the first has said (section 5.3.1). */
  private isLater = false

  /** `before`: the MAC of the query; empty for a query itself. */
  constructor(key: TransferKey, before: Bytes = EMPTY) {
    this.key = key
    this.before = before
  }

  /** `now` in seconds since 1970. */
  sign(message: Bytes, now: number): Uint8Array {
    return this.signWith(message, { time: now, fudge: FUDGE_SECONDS, error: TSIG_ERRORS.NONE, other: EMPTY })
  }

  /** The answer to a query whose time is too far off: its own time, and ours (section 5.2.3). */
  signBadTime(message: Bytes, { fudge, time }: TsigRecord, now: number): Uint8Array {
    return this.signWith(message, { time, fudge, error: TSIG_ERRORS.BADTIME, other: timeBytes(now) })
  }

  private signWith(message: Bytes, signed: Signed): Uint8Array {
    const { algorithm, name } = this.key
    const variables = this.isLater ? timersOf(signed) : variablesOf(this.key, signed)
    const mac = hmac(this.key, chained(this.before), message, variables)
    this.before = mac
    this.isLater = true
    return withTsig(message, { ...signed, keyName: name, algorithm: ALGORITHM_NAMES[algorithm], mac })
  }

  /** Behind a query that this chain has signed: the chain of its answers. */
  answers(): TsigChain {
    return new TsigChain(this.key, this.before)
  }

  /** Whether the next message of the other side is signed with the key. Its time is not judged. */
  verifies(message: Bytes, at: number, record: TsigRecord): boolean {
    const { algorithm, name } = this.key
    if (record.keyName !== name || record.algorithm !== ALGORITHM_NAMES[algorithm]) return false
    const variables = this.isLater ? timersOf(record) : variablesOf(this.key, record)
    const mac = hmac(this.key, chained(this.before), unsignedPart(message, at, record), variables)
    if (record.mac.length !== mac.length || !timingSafeEqual(record.mac, mac)) return false
    this.before = mac
    this.isLater = true
    return true
  }
}

export type TsigCheck =
  /** `chain` signs the answers. */
  | { readonly _tag: "Signed"; readonly key: TransferKey; readonly chain: TsigChain }
  | { readonly _tag: "Malformed" }
  /** With what answers it: the record of an unsigned answer, or the chain that signs one about the time. */
  | {
    readonly _tag: "Refused"
    readonly fault: TsigFault
    readonly record: TsigRecord
    readonly chain: TsigChain | undefined
  }

export interface SignedQuery {
  readonly bytes: Bytes
  /** The offset of the TSIG record. */
  readonly tsigAt: number
}

/** Checks the TSIG record of a query in the order of section 5.2. `now` in seconds since 1970. */
export const checkTsig = (
  { bytes, tsigAt }: SignedQuery,
  keys: ReadonlyArray<TransferKey>,
  now: number
): TsigCheck => {
  const record = readTsig(bytes, tsigAt)
  if (record === undefined) return { _tag: "Malformed" }
  const refused = (fault: TsigFault, chain?: TsigChain): TsigCheck => ({ _tag: "Refused", fault, record, chain })
  const key = keys.find(({ algorithm, name }) =>
    name === record.keyName && ALGORITHM_NAMES[algorithm] === record.algorithm
  )
  if (key === undefined) return refused("BADKEY")
  const length = MAC_BYTES[key.algorithm]
  // Section 5.2.2.1: a longer one is malformed; truncated ones are possible, and nobody needs them.
  if (record.mac.length > length) return { _tag: "Malformed" }
  if (record.mac.length < length) return refused("BADTRUNC")
  if (!new TsigChain(key).verifies(bytes, tsigAt, record)) return refused("BADSIG")
  const chain = new TsigChain(key, record.mac)
  return Math.abs(now - record.time) > Math.min(record.fudge, FUDGE_SECONDS)
    ? refused("BADTIME", chain)
    : { _tag: "Signed", key, chain }
}

/** An answer that says why its query is refused. `message` has the response code NOTAUTH and no records. */
export const refuseTsig = (
  message: Bytes,
  { chain, fault, record }: Extract<TsigCheck, { readonly _tag: "Refused" }>,
  now: number
): Uint8Array =>
  chain === undefined
    ? withTsig(message, {
      keyName: record.keyName,
      algorithm: record.algorithm,
      time: record.time,
      fudge: record.fudge,
      mac: EMPTY,
      error: TSIG_ERRORS[fault],
      other: EMPTY
    })
    : chain.signBadTime(message, record, now)
