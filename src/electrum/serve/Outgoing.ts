/** What a connection has to send, in pieces: the next one is written when one before it is taken. */

/** Bytes of a piece, and of what is written without waiting. */
const PIECE = 65_536

export interface PieceToWrite {
  readonly bytes: Buffer
  /** Whether it ends its message. */
  readonly isLast: boolean
}

export interface OutgoingOptions {
  /** Calls `done` when the system has taken the piece. Never, once the connection is closed. */
  readonly write: (piece: PieceToWrite, done: () => void) => void
  /** Called when all is taken. */
  readonly emptied: () => void
  /** Milliseconds. */
  readonly now: () => number
}

interface Waiting {
  readonly bytes: Buffer
  /** Bytes handed over. */
  written: number
  readonly sent: () => void
}

/** The messages that wait for a client, in order. */
export class Outgoing {
  readonly #options: OutgoingOptions
  readonly #waiting: Array<Waiting> = []
  /** Bytes written and not taken. */
  #inFlight = 0
  #size = 0
  #progressAt = 0
  #isWriting = false

  constructor(options: OutgoingOptions) {
    this.#options = options
  }

  /** Bytes that the client has not taken. */
  get size(): number {
    return this.#size
  }

  /** Since when the client has taken nothing of what waits, milliseconds; `undefined` if nothing waits. */
  get stalledSince(): number | undefined {
    return this.#size === 0 ? undefined : this.#progressAt
  }

  /** Calls `sent` when the client has taken all of it. */
  send(bytes: Buffer, sent: () => void): void {
    if (this.#size === 0) this.#progressAt = this.#options.now()
    this.#waiting.push({ bytes, written: 0, sent })
    this.#size += bytes.length
    this.#write()
  }

  #write(): void {
    // Some writes are done before they return.
    if (this.#isWriting) return
    this.#isWriting = true
    for (let [first] = this.#waiting; first !== undefined && this.#inFlight < PIECE; [first] = this.#waiting) {
      this.#writePiece(first)
    }
    this.#isWriting = false
  }

  #writePiece(message: Waiting): void {
    const from = message.written
    const bytes = message.bytes.subarray(from, from + PIECE)
    message.written += bytes.length
    const isLast = message.written === message.bytes.length
    if (isLast) this.#waiting.shift()
    this.#inFlight += bytes.length
    this.#options.write({ bytes, isLast }, () => {
      this.#inFlight -= bytes.length
      this.#size -= bytes.length
      this.#progressAt = this.#options.now()
      if (isLast) message.sent()
      this.#write()
      if (this.#size === 0) this.#options.emptied()
    })
  }
}
