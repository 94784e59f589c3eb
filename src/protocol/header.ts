import { type Bytes } from "./bytes.ts"
import { hash256 } from "./hash.ts"
import { Reader } from "./Reader.ts"
import { Writer } from "./Writer.ts"

/** Bytes of a header without its merged-mining proof. */
export const HEADER_SIZE = 80

/** Version bit that says that a merged-mining proof follows (protocol.md 2.2). */
export const AUXPOW_FLAG = 0x100

/** The 80 bytes of a header, taken apart. The hash covers just these bytes and never the proof behind them. */
export class Header {
  /** 80 bytes. */
  readonly bytes: Bytes
  /** Signed 32-bit. */
  readonly version: number
  /** Wire order. */
  readonly prevHash: Bytes
  readonly merkleRoot: Bytes
  /** Seconds since 1970. */
  readonly time: number
  /** The target in compact form. */
  readonly bits: number
  readonly nonce: number
  private knownHash: Uint8Array | undefined

  constructor(bytes: Bytes) {
    const reader = new Reader(bytes)
    this.bytes = bytes
    this.version = reader.i32("version")
    this.prevHash = reader.bytes(32, "previous block")
    this.merkleRoot = reader.bytes(32, "merkle root")
    this.time = reader.u32("time")
    this.bits = reader.u32("bits")
    this.nonce = reader.u32("nonce")
  }

  /** The block hash, wire order. */
  get hash(): Uint8Array {
    return this.knownHash ??= hash256(this.bytes)
  }

  /** Whether the version says that a merged-mining proof follows. */
  get hasAuxpowFlag(): boolean {
    return (this.version & AUXPOW_FLAG) !== 0
  }
}

/** Reads the 80 bytes of a header. Throws `DecodeError` where there are fewer. */
export const readHeader = (reader: Reader): Header => new Header(reader.bytes(HEADER_SIZE, "header"))

/** Makes a header from its parts. */
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

/** Base version: the remainder by 256, with the sign of the version (protocol.md 2.2). */
export const baseVersion = (version: number): number => version % 256

/** Chain id: the version divided by 65536, rounded towards zero (protocol.md 2.2). */
export const chainId = (version: number): number => Math.trunc(version / 65536)

/** Whether a version is exactly the one of blocks from before merged mining. */
export const isLegacyVersion = (version: number): boolean => version === 1
