import { type Bytes } from "./bytes.ts"
import { hash256 } from "./hash.ts"
import { DecodeError, type Reader } from "./Reader.ts"
import { Writer } from "./Writer.ts"

/** Bytes of a header without its merged-mining proof. */
export const HEADER_SIZE = 80

/** The version bit that announces a merged-mining proof (reference/protocol.md 2.2). */
export const AUXPOW_FLAG = 0x100

const i32 = (bytes: Bytes, at: number): number =>
  (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)

/** The fields of a header's 80 bytes. Its hash covers these alone, never the proof after them. */
export class Header {
  readonly bytes: Bytes
  /** Signed 32-bit. */
  readonly version: number
  /** Wire order. */
  readonly prevHash: Bytes
  /** Seconds since 1970. */
  readonly time: number
  readonly bits: number
  readonly nonce: number
  private knownHash: Uint8Array | undefined

  /** Takes exactly 80 bytes. Computes only what every rule needs, as peers send thousands of headers. */
  constructor(bytes: Bytes) {
    if (bytes.length !== HEADER_SIZE) {
      throw new DecodeError({ field: "header", reason: `has ${bytes.length} bytes instead of 80` }, 0)
    }
    this.bytes = bytes
    this.version = i32(bytes, 0)
    this.prevHash = bytes.subarray(4, 36)
    this.time = i32(bytes, 68) >>> 0
    this.bits = i32(bytes, 72) >>> 0
    this.nonce = i32(bytes, 76) >>> 0
  }

  /** Wire order. */
  get merkleRoot(): Bytes {
    return this.bytes.subarray(36, 68)
  }

  /** Wire order. */
  get hash(): Uint8Array {
    return this.knownHash ??= hash256(this.bytes)
  }

  get hasAuxpowFlag(): boolean {
    return (this.version & AUXPOW_FLAG) !== 0
  }
}

/** Throws `DecodeError`. */
export const readHeader = (reader: Reader): Header => new Header(reader.bytes(HEADER_SIZE, "header"))

export const makeHeader = (parts: {
  readonly version: number
  readonly prevHash: Bytes
  readonly merkleRoot: Bytes
  readonly time: number
  readonly bits: number
  readonly nonce: number
}): Header =>
  new Header(
    new Writer(HEADER_SIZE).i32(parts.version).bytes(parts.prevHash).bytes(parts.merkleRoot).u32(parts.time)
      .u32(parts.bits).u32(parts.nonce).toBytes()
  )

/** The version modulo 256, with the sign of the version (reference/protocol.md 2.2). */
export const baseVersion = (version: number): number => version % 256

/** The version divided by 65536, rounded towards zero (reference/protocol.md 2.2). */
export const chainId = (version: number): number => Math.trunc(version / 65536)

/** Whether a version is that of blocks before merged mining. */
export const isLegacyVersion = (version: number): boolean => version === 1
