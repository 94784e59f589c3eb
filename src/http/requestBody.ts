import type { Readable } from "node:stream"
import { fewATurn } from "../base/fewATurn.ts"
import type { CallerMemory } from "../rpc/CallerMemory.ts"

/** What came of reading a body. */
export type Body =
  /** It stays counted until `release` is called. */
  | { readonly _tag: "Complete"; readonly bytes: Uint8Array; readonly release: () => void }
  | { readonly _tag: "TooLarge" }
  /** There is no memory for it: this caller, or all together, fill what there is for bodies. */
  | { readonly _tag: "NoRoom" }

const EMPTY = new Uint8Array(0)

/** Bytes of a body for which there is always room: nobody keeps ordinary requests out by sending large ones slowly. */
const SMALL = 16_384

/** How long a caller who holds much is not read from while room is short, in milliseconds. */
const PAUSE = 20

/** Pieces of a body that are kept as they came: one of a byte takes as much memory as one of a few hundred. */
const MAX_PIECES = 256

/** Long bodies of which a piece is read in one turn of the event loop: each piece is 64 kB. */
const PIECES_A_TURN = 4

/** What counts the bytes of bodies. */
export type BodyMemory = Pick<CallerMemory, "take" | "give" | "isTight">

/**
 * Reads bodies, each up to a size, and as many as there is memory for. Long ones are read in turns, a few pieces in each
 * turn of the event loop: a hundred callers who send all that they can would keep short requests waiting.
 */
export class BodyReader {
  readonly #maxSize: number
  readonly #line = fewATurn(PIECES_A_TURN)

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Whether a body of a size that was announced is too large. */
  isTooLarge(announced: string | undefined): boolean {
    return announced !== undefined && Number(announced) > this.#maxSize
  }

  /** Calls `done` once, as soon as it is clear what the body is; never if the client goes away before. */
  read(request: Readable, memory: BodyMemory, done: (body: Body) => void): void {
    const joined: Array<Uint8Array> = []
    let pieces: Array<Uint8Array> = []
    let size = 0
    let counted = 0
    let settled = false
    const release = (): void => {
      memory.give("rpc_bodies", counted)
      counted = 0
    }
    const settle = (body: Body | undefined): void => {
      if (settled) return
      settled = true
      if (body?._tag !== "Complete") release()
      if (body !== undefined) done(body)
    }
    /** Counts what is beyond the first bytes, which come in one piece and go at once for nearly all bodies. */
    const hasRoom = (): boolean => {
      const beyond = size - counted - SMALL
      if (beyond <= 0) return true
      if (!memory.take("rpc_bodies", beyond)) return false
      counted += beyond
      return true
    }
    request.on("data", (chunk: Uint8Array) => {
      if (settled) return
      size += chunk.length
      if (size > this.#maxSize) return settle({ _tag: "TooLarge" })
      if (!hasRoom()) return settle({ _tag: "NoRoom" })
      if (pieces.push(chunk) === MAX_PIECES) {
        joined.push(Buffer.concat(pieces))
        pieces = []
      }
      if (size <= SMALL) return
      request.pause()
      const goOn = (): void => void request.resume()
      if (memory.isTight("rpc_bodies")) setTimeout(goOn, PAUSE)
      else this.#line.add(goOn)
    })
    request.on("end", () => {
      const all = [...joined, ...pieces]
      const [only = EMPTY] = all
      settle({ _tag: "Complete", bytes: all.length > 1 ? Buffer.concat(all, size) : only, release })
    })
    request.on("close", () => settle(undefined))
  }
}
