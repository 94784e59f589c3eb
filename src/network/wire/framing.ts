import { type Bytes, equal } from "../../protocol/bytes.ts"
import { hash256 } from "../../protocol/hash.ts"

// Frames of the version 1 transport (reference/protocol.md 6.4): magic (4), command (12, ASCII padded with zeros),
// payload length (LE32), checksum (the first 4 bytes of the payload's double SHA-256), payload.

export const FRAME_HEADER_SIZE = 24

/** Protocol: 32 MiB. Upstream `net.h`, `MAX_PROTOCOL_MESSAGE_LENGTH`. */
export const MAX_PAYLOAD = 0x02000000

const MAGIC_SIZE = 4
const COMMAND_SIZE = 12
const CHECKSUM_SIZE = 4

/** Payloads up to this size are allocated at once, longer ones as their bytes arrive. */
const FIRST_ALLOCATION = 0x10000

/** The next frame's start is unknown, so the connection must end. */
export class FramingError extends Error {
  readonly _tag = "FramingError"
  readonly reason: "magic" | "length" | "memory"

  constructor(reason: FramingError["reason"], message: string) {
    super(message)
    this.name = "FramingError"
    this.reason = reason
  }
}

export type Framed =
  | { readonly type: "frame"; readonly command: string; readonly payload: Uint8Array }
  /** Dropped without penalty: wrong checksum, bad command or excessive payload, of `size` bytes. */
  | {
    readonly type: "dropped"
    readonly command: string
    readonly reason: "checksum" | "command" | "length"
    readonly size: number
  }
  | { readonly type: "fatal"; readonly error: FramingError }

export interface FrameMemory {
  /** False if there is no room, which fails the frame and the stream. */
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
}

const UNLIMITED: FrameMemory = { take: () => true, give: () => {} }

interface Pending {
  readonly command: string
  readonly named: boolean
  readonly length: number
  readonly checksum: Bytes
  readonly skipped: boolean
}

const readCommand = (field: Bytes): { readonly command: string; readonly named: boolean } => {
  let command = ""
  let named = true
  let ended = false
  for (const byte of field) {
    if (byte === 0) ended = true
    else if (ended || byte < 0x20 || byte > 0x7e) named = false
    else command += String.fromCharCode(byte)
  }
  return { command, named }
}

export interface FrameLimits {
  /** A longer payload ends the connection. */
  readonly maxPayload?: number
  /** The longest payload stored per command; a longer one is skipped as it arrives. */
  readonly limitOf?: (command: string) => number
  readonly memory?: FrameMemory
}

/**
 * Holds at most one payload, whose memory grows with the received bytes, not with the announced length. Each byte is
 * copied a bounded number of times. Payloads are never views of the chunks. A payload above the limit of its command is
 * oversized and skipped as it arrives.
 */
export class FrameParser {
  private readonly magic: Bytes
  private readonly maxPayload: number
  private readonly limitOf: (command: string) => number
  private readonly memory: FrameMemory
  private readonly header = new Uint8Array(FRAME_HEADER_SIZE)
  private headerSize = 0
  private pending: Pending | undefined
  private payload = new Uint8Array(0)
  private received = 0
  private failed = false

  constructor(
    magic: Bytes,
    { maxPayload = MAX_PAYLOAD, limitOf = () => maxPayload, memory = UNLIMITED }: FrameLimits = {}
  ) {
    this.magic = magic
    this.maxPayload = maxPayload
    this.limitOf = limitOf
    this.memory = memory
  }

  get held(): number {
    return this.payload.length
  }

  get idle(): boolean {
    return this.headerSize === 0 && !this.failed
  }

  push(chunk: Bytes): ReadonlyArray<Framed> {
    const found: Array<Framed> = []
    for (let at = 0; at < chunk.length && !this.failed;) {
      if (this.pending === undefined) {
        at += this.takeHeader(chunk, at)
        const error = this.headerError()
        if (error !== undefined) {
          this.failed = true
          found.push({ type: "fatal", error })
          return found
        }
        if (this.headerSize === FRAME_HEADER_SIZE) this.pending = this.readHeader()
      } else {
        const size = this.takePayload(chunk, at, this.pending)
        if (size === undefined) {
          found.push({ type: "fatal", error: this.fail() })
          return found
        }
        at += size
      }
      if (this.pending !== undefined && this.received === this.pending.length) {
        found.push(this.finish(this.pending))
      }
    }
    return found
  }

  private takeHeader(chunk: Bytes, at: number): number {
    const size = Math.min(FRAME_HEADER_SIZE - this.headerSize, chunk.length - at)
    this.header.set(chunk.subarray(at, at + size), this.headerSize)
    this.headerSize += size
    return size
  }

  /** A wrong magic is detected at its first wrong byte. */
  private headerError(): FramingError | undefined {
    const seen = Math.min(this.headerSize, MAGIC_SIZE)
    if (!equal(this.header.subarray(0, seen), this.magic.subarray(0, seen))) {
      return new FramingError("magic", "invalid magic: the bytes are not of this network")
    }
    if (this.headerSize < FRAME_HEADER_SIZE) return undefined
    const length = this.announcedLength()
    return length > this.maxPayload
      ? new FramingError("length", `oversized message: ${length} bytes are above the limit of ${this.maxPayload}`)
      : undefined
  }

  private announcedLength(): number {
    return new DataView(this.header.buffer).getUint32(MAGIC_SIZE + COMMAND_SIZE, true)
  }

  /** Marks an oversized payload as `skipped`. */
  private readHeader(): Pending {
    const { command, named } = readCommand(this.header.subarray(MAGIC_SIZE, MAGIC_SIZE + COMMAND_SIZE))
    const length = this.announcedLength()
    const checksum = this.header.slice(FRAME_HEADER_SIZE - CHECKSUM_SIZE)
    return { command, named, length, checksum, skipped: length > this.limitOf(command) }
  }

  private takePayload(chunk: Bytes, at: number, pending: Pending): number | undefined {
    const { length, skipped } = pending
    const size = Math.min(length - this.received, chunk.length - at)
    if (!skipped) {
      if (!this.reserve(this.received + size, pending)) return undefined
      this.payload.set(chunk.subarray(at, at + size), this.received)
    }
    this.received += size
    return size
  }

  /** Up to the payload's length. */
  private reserve(size: number, { length }: Pending): boolean {
    if (size <= this.payload.length) return true
    const wanted = Math.min(length, Math.max(size, 2 * this.payload.length, FIRST_ALLOCATION))
    if (!this.memory.take(wanted - this.payload.length)) return false
    const grown = new Uint8Array(wanted)
    grown.set(this.payload.subarray(0, this.received))
    this.payload = grown
    return true
  }

  private fail(): FramingError {
    const command = this.pending?.command ?? ""
    this.failed = true
    this.memory.give(this.payload.length)
    this.payload = new Uint8Array(0)
    return new FramingError("memory", `out of memory budget: a message of type ${command}`)
  }

  private finish({ checksum, command, length, named, skipped }: Pending): Framed {
    const { payload } = this
    this.memory.give(payload.length)
    this.pending = undefined
    this.headerSize = 0
    this.payload = new Uint8Array(0)
    this.received = 0
    if (skipped) return { type: "dropped", command, reason: "length", size: length }
    if (!equal(hash256(payload).subarray(0, CHECKSUM_SIZE), checksum)) {
      return { type: "dropped", command, reason: "checksum", size: length }
    }
    return named ? { type: "frame", command, payload } : { type: "dropped", command, reason: "command", size: length }
  }
}

/** @throws RangeError for a command or a payload that no frame can carry */
export const encodeFrame = (magic: Bytes, command: string, parts: ReadonlyArray<Bytes>): Uint8Array => {
  let length = 0
  for (const part of parts) length += part.length
  if (length > MAX_PAYLOAD) throw new RangeError(`a message of ${length} bytes does not fit into a frame`)
  if (!/^[\x20-\x7e]{1,12}$/.test(command)) throw new RangeError("a command is 1 to 12 printable characters")
  const frame = new Uint8Array(FRAME_HEADER_SIZE + length)
  frame.set(magic)
  for (let i = 0; i < command.length; i++) frame[MAGIC_SIZE + i] = command.charCodeAt(i)
  new DataView(frame.buffer).setUint32(MAGIC_SIZE + COMMAND_SIZE, length, true)
  let at = FRAME_HEADER_SIZE
  for (const part of parts) {
    frame.set(part, at)
    at += part.length
  }
  frame.set(hash256(frame.subarray(FRAME_HEADER_SIZE)).subarray(0, CHECKSUM_SIZE), FRAME_HEADER_SIZE - CHECKSUM_SIZE)
  return frame
}
