/** Bytes of a piece: one write to a socket. */
export const PIECE = 65_536

/** JSON text in immutable pieces, shared by callers with the same answer. Counts against each caller until released. */
export class LongText<out A = unknown> {
  /** As in `RawJson`. */
  declare readonly says: A
  readonly pieces: ReadonlyArray<Uint8Array>
  readonly length: number

  constructor(pieces: ReadonlyArray<Uint8Array>) {
    this.pieces = pieces
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  }

  static of<A>(text: string): LongText<A> {
    const bytes = Buffer.from(text, "utf8")
    const pieces = Array.from(
      { length: Math.ceil(bytes.length / PIECE) },
      (_, at) => bytes.subarray(at * PIECE, (at + 1) * PIECE)
    )
    return new LongText(pieces)
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString("utf8")
  }
}
