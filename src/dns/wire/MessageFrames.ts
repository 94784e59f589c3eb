import type { Bytes } from "../../protocol/bytes.ts"

const LENGTH_BYTES = 2

/**
 * The messages of a stream, each behind two bytes with its length (RFC 1035, section 4.2.2). At most one unfinished
 * message is copied; others are parts of what came.
 */
export class MessageFrames {
  readonly #chunks: Array<Bytes> = []
  /** Offset in the first chunk. */
  #at = 0
  #lengthRead = 0
  #length = 0
  #body: Uint8Array | undefined
  #filled = 0

  push(chunk: Bytes): void {
    if (chunk.length > 0) this.#chunks.push(chunk)
  }

  /** `undefined` until a whole message is there. An empty one is not a DNS message. */
  next(): Bytes | undefined {
    for (;;) {
      const chunk = this.#chunks[0]
      if (chunk === undefined) return undefined
      const message = this.#read(chunk)
      if (this.#at === chunk.length) {
        this.#chunks.shift()
        this.#at = 0
      }
      if (message !== undefined) return message
    }
  }

  /** The messages that this chunk completes. */
  take(chunk: Bytes): ReadonlyArray<Bytes> {
    this.push(chunk)
    const messages: Array<Bytes> = []
    for (let next = this.next(); next !== undefined; next = this.next()) messages.push(next)
    return messages
  }

  #read(chunk: Bytes): Bytes | undefined {
    while (this.#lengthRead < LENGTH_BYTES) {
      if (this.#at === chunk.length) return undefined
      this.#length = this.#length << 8 | (chunk[this.#at] ?? 0)
      this.#at += 1
      this.#lengthRead += 1
    }
    const missing = this.#length - this.#filled
    const piece = chunk.subarray(this.#at, this.#at + missing)
    this.#at += piece.length
    if (piece.length === this.#length) return this.#finish(piece)
    this.#body ??= new Uint8Array(this.#length)
    this.#body.set(piece, this.#filled)
    this.#filled += piece.length
    return this.#filled === this.#length ? this.#finish(this.#body) : undefined
  }

  #finish(message: Bytes): Bytes {
    this.#lengthRead = 0
    this.#length = 0
    this.#body = undefined
    this.#filled = 0
    return message
  }
}

/** The message with its length in front. */
export const framed = (message: Bytes): Uint8Array => {
  const whole = new Uint8Array(LENGTH_BYTES + message.length)
  whole[0] = message.length >>> 8
  whole[1] = message.length
  whole.set(message, LENGTH_BYTES)
  return whole
}
