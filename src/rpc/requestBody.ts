import type { Readable } from "node:stream"

/** What came of reading a body. */
export type Body =
  | { readonly _tag: "Complete"; readonly bytes: Uint8Array }
  | { readonly _tag: "TooLarge" }
  /** All bodies together fill what there is for them. */
  | { readonly _tag: "NoRoom" }

const EMPTY = new Uint8Array(0)

/** Bytes of a body for which there is always room: nobody keeps ordinary requests out by sending large ones slowly. */
const SMALL = 65_536

/** Pieces of a body that are kept as they came: one of a byte takes as much memory as one of a few hundred. */
const MAX_PIECES = 256

/** Reads bodies, each up to a size, and all that are in memory at one time up to another. */
export class BodyReader {
  readonly #maxSize: number
  readonly #maxTotal: number
  #total = 0

  constructor(maxSize: number, maxTotal: number) {
    this.#maxSize = maxSize
    this.#maxTotal = maxTotal
  }

  /** Whether a body of a size that was announced is too large. */
  isTooLarge(announced: string | undefined): boolean {
    return announced !== undefined && Number(announced) > this.#maxSize
  }

  /** Calls `done` once, as soon as it is clear what the body is; never if the client goes away before. */
  read(request: Readable, done: (body: Body) => void): void {
    const joined: Array<Uint8Array> = []
    let pieces: Array<Uint8Array> = []
    let size = 0
    let settled = false
    const settle = (body: Body | undefined): void => {
      if (settled) return
      settled = true
      this.#total -= size
      if (body !== undefined) done(body)
    }
    request.on("data", (chunk: Uint8Array) => {
      if (settled) return
      size += chunk.length
      this.#total += chunk.length
      if (size > this.#maxSize) settle({ _tag: "TooLarge" })
      else if (this.#total > this.#maxTotal && size > SMALL) settle({ _tag: "NoRoom" })
      else if (pieces.push(chunk) === MAX_PIECES) {
        joined.push(Buffer.concat(pieces))
        pieces = []
      }
    })
    request.on("end", () => {
      const all = [...joined, ...pieces]
      const [only = EMPTY] = all
      settle({ _tag: "Complete", bytes: all.length > 1 ? Buffer.concat(all, size) : only })
    })
    request.on("close", () => settle(undefined))
  }
}
