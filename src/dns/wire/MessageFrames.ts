import { type Bytes, concatAll } from "../../protocol/bytes.ts"

/** Bytes of the length in front of each message (RFC 1035, section 4.2.2). */
const LENGTH_BYTES = 2

/** Takes the messages out of a stream. Chunks are joined when a message is whole: one byte at a time costs no copies. */
export class MessageFrames {
  private chunks: Array<Bytes> = []
  private held = 0
  private wanted = LENGTH_BYTES
  private isInMessage = false

  /** The messages that this chunk completes. */
  push(chunk: Bytes): ReadonlyArray<Bytes> {
    this.chunks.push(chunk)
    this.held += chunk.length
    if (this.held < this.wanted) return []
    const messages: Array<Bytes> = []
    let rest: Bytes = concatAll(this.chunks)
    while (rest.length >= this.wanted) {
      const part = rest.subarray(0, this.wanted)
      rest = rest.subarray(this.wanted)
      if (this.isInMessage) messages.push(part)
      this.wanted = this.isInMessage ? LENGTH_BYTES : (part[0] ?? 0) << 8 | (part[1] ?? 0)
      this.isInMessage = !this.isInMessage
    }
    this.chunks = [rest]
    this.held = rest.length
    return messages
  }
}

/** A message with its length in front. */
export const framed = (message: Bytes): Bytes =>
  concatAll([Uint8Array.of(message.length >>> 8, message.length & 0xff), message])
