/**
 * COPY's binary format, which PostgreSQL reads without parsing text. Source: PostgreSQL, documentation of COPY, "Binary
 * Format", and the `recv` functions of the types.
 */

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1")

/** The signature, no flags, no extension. */
const HEAD = Buffer.concat([SIGNATURE, Buffer.alloc(8)])

/** In place of a column count: no row follows. */
const TAIL = Buffer.from([0xff, 0xff])

const PIECE = 256 * 1024

/** Bytes of a length or number before its content. */
const WORD = 4

/** Milliseconds from 1970 to PostgreSQL's epoch. */
const YEAR_2000 = 946_684_800_000

/** Values are written in column order. */
export class CopyRows {
  private readonly full: Array<Buffer> = [HEAD]
  private piece = Buffer.allocUnsafe(PIECE)
  private at = 0
  private count = 0

  row(columns: number): void {
    this.reserve(2)
    this.at = this.piece.writeInt16BE(columns, this.at)
    this.count++
  }

  /** Signed, 32 bits. */
  integer(value: number): void {
    this.reserve(2 * WORD)
    this.piece.writeInt32BE(WORD, this.at)
    this.at = this.piece.writeInt32BE(value, this.at + WORD)
  }

  /** A `bytea`; the caller has validated the digits. */
  hex(digits: string): void {
    const length = digits.length / 2
    this.reserve(WORD + length)
    const start = this.piece.writeInt32BE(length, this.at)
    this.at = start + this.piece.write(digits, start, "hex")
  }

  /** Returns a view of the bytes until the next call. */
  hexBytes(digits: string): Uint8Array {
    this.hex(digits)
    return this.piece.subarray(this.at - digits.length / 2, this.at)
  }

  /** A `text` or enumeration word; `undefined` is NULL. */
  text(text: string | undefined): void {
    if (text === undefined) return this.nothing()
    // UTF-8 has at most three bytes per UTF-16 unit.
    this.reserve(WORD + 3 * text.length)
    const start = this.at + WORD
    const length = this.piece.write(text, start, "utf8")
    this.piece.writeInt32BE(length, this.at)
    this.at = start + length
  }

  /** A `jsonb`; `undefined` is NULL. */
  json(text: string | undefined): void {
    // The version of the format, then the text.
    this.text(text === undefined ? undefined : `\u0001${text}`)
  }

  /** A `timestamptz` from seconds since 1970. */
  time(seconds: number): void {
    this.reserve(3 * WORD)
    this.piece.writeInt32BE(2 * WORD, this.at)
    this.at = this.piece.writeBigInt64BE(1_000n * BigInt(1_000 * seconds - YEAR_2000), this.at + WORD)
  }

  private nothing(): void {
    this.reserve(WORD)
    this.at = this.piece.writeInt32BE(-1, this.at)
  }

  get isEmpty(): boolean {
    return this.count === 0
  }

  /** All rows so far, with header and trailer. */
  get pieces(): ReadonlyArray<Uint8Array> {
    return [...this.full, this.piece.subarray(0, this.at), TAIL]
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.piece.length) return
    this.full.push(this.piece.subarray(0, this.at))
    this.piece = Buffer.allocUnsafe(Math.max(PIECE, bytes))
    this.at = 0
  }
}
