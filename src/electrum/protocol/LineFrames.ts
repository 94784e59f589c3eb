import { type Bytes, concatAll, EMPTY } from "../../protocol/bytes.ts"

/** Messages of a stream: each ends with a newline (electrum-protocol, `protocol-basics.rst`). */

const NEWLINE = 0x0a

/**
 * Joins pieces to lines, at most `longest` bytes each. Behind a longer one nothing is read any more. Lines are cut as
 * they are taken, so that waiting ones take no more than their bytes.
 */
export class LineFrames {
  readonly #longest: number
  #pieces: Array<Bytes> = []
  /** The piece with the first byte that was not taken, and that byte. */
  #piece = 0
  #offset = 0
  /** The first piece without a known end of the first line. */
  #searched = 0
  #size = 0
  /** Bytes behind the last newline. */
  #tail = 0
  #isTooLong = false

  constructor(longest: number) {
    this.#longest = longest
  }

  /** Bytes kept. */
  get size(): number {
    return this.#size
  }

  /** Whether a line has begun and not ended. */
  get isUnfinished(): boolean {
    return this.#tail > 0
  }

  /** Whether a line was longer than allowed. The lines before it can still be taken. */
  get isTooLong(): boolean {
    return this.#isTooLong
  }

  push(piece: Bytes): void {
    if (this.#isTooLong || piece.length === 0) return
    this.#pieces.push(piece)
    this.#size += piece.length
    const last = piece.lastIndexOf(NEWLINE)
    this.#tail = last === -1 ? this.#tail + piece.length : piece.length - last - 1
    this.#isTooLong = this.#tail > this.#longest
  }

  /** The next complete line, without its newline. */
  next(): Bytes | undefined {
    for (; this.#searched < this.#pieces.length; this.#searched++) {
      const from = this.#searched === this.#piece ? this.#offset : 0
      const end = this.#pieces[this.#searched]?.indexOf(NEWLINE, from) ?? -1
      if (end !== -1) return this.#take(end)
    }
    // The rest of an overlong line is useless.
    if (this.#isTooLong) this.#clear()
    return undefined
  }

  /** Takes the line that ends in the searched piece. */
  #take(end: number): Bytes | undefined {
    const parts: Array<Bytes> = []
    for (let at = this.#piece; at <= this.#searched; at++) {
      const from = at === this.#piece ? this.#offset : 0
      parts.push(this.#pieces[at]?.subarray(from, at === this.#searched ? end : undefined) ?? EMPTY)
    }
    this.#piece = this.#searched
    this.#offset = end + 1
    const [only = EMPTY, ...more] = parts
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    this.#size -= length + 1
    this.#forgetTaken()
    if (length > this.#longest) {
      this.#isTooLong = true
      this.#clear()
      return undefined
    }
    return more.length === 0 ? only : concatAll(parts)
  }

  #forgetTaken(): void {
    if (this.#size > 0 && this.#piece < KEPT_PIECES) return
    this.#pieces = this.#size === 0 ? [] : this.#pieces.slice(this.#piece)
    this.#searched -= this.#piece
    if (this.#size === 0) this.#offset = 0
    this.#piece = 0
  }

  #clear(): void {
    this.#pieces = []
    this.#piece = 0
    this.#offset = 0
    this.#searched = 0
    this.#size = 0
    this.#tail = 0
  }
}

/** Pieces whose lines were taken are let go of in lots of these. */
const KEPT_PIECES = 64
