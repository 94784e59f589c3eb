import { type Bytes, concatAll } from "../../protocol/bytes.ts"

/** Messages of a stream: each ends with a newline (electrum-protocol, `protocol-basics.rst`). */

const NEWLINE = 0x0a

/** Joins pieces to lines, at most `longest` bytes each. Behind a longer one nothing is read any more. */
export class LineFrames {
  readonly #longest: number
  readonly #lines: Array<Bytes> = []
  /** Of the unfinished line. */
  #pieces: Array<Bytes> = []
  #length = 0
  /** Of complete lines that wait. */
  #waiting = 0
  #isTooLong = false

  constructor(longest: number) {
    this.#longest = longest
  }

  /** Bytes kept. */
  get size(): number {
    return this.#waiting + this.#length
  }

  /** Whether a line has begun and not ended. */
  get isUnfinished(): boolean {
    return this.#length > 0
  }

  /** Whether a line was longer than allowed. The lines before it can still be taken. */
  get isTooLong(): boolean {
    return this.#isTooLong
  }

  push(piece: Bytes): void {
    let from = 0
    while (!this.#isTooLong) {
      const end = piece.indexOf(NEWLINE, from)
      this.#extend(end === -1 ? piece.subarray(from) : piece.subarray(from, end))
      if (end === -1) return
      this.#finish()
      from = end + 1
    }
  }

  /** The next complete line, without its newline. */
  next(): Bytes | undefined {
    const line = this.#lines.shift()
    if (line !== undefined) this.#waiting -= line.length
    return line
  }

  #extend(bytes: Bytes): void {
    if (bytes.length === 0) return
    this.#length += bytes.length
    this.#isTooLong = this.#length > this.#longest
    if (this.#isTooLong) this.#clear()
    else this.#pieces.push(bytes)
  }

  #finish(): void {
    if (this.#isTooLong) return
    const [only, ...more] = this.#pieces
    const line = only !== undefined && more.length === 0 ? only : concatAll(this.#pieces)
    this.#clear()
    this.#lines.push(line)
    this.#waiting += line.length
  }

  #clear(): void {
    this.#pieces = []
    this.#length = 0
  }
}
