import type { Readable } from "node:stream"
import { monotonic } from "../base/clock.ts"
import { fewATurn } from "../base/fewATurn.ts"
import { afterDelay } from "../base/turns.ts"
import type { Millis } from "../protocol/keys.ts"
import type { CallerMemory } from "../rpc/CallerMemory.ts"

export type Body =
  /** Counted until `release` is called. */
  | { readonly _tag: "Complete"; readonly bytes: Uint8Array; readonly release: () => void }
  | { readonly _tag: "TooLarge" }
  /** The caller, or all callers together, use up the budget for bodies. */
  | { readonly _tag: "NoRoom" }

const EMPTY = new Uint8Array(0)

/** Bytes of a body that are never counted, so that slow large requests cannot keep ordinary ones out. */
const SMALL = 16_384

/** Milliseconds before more is read from a caller with large bodies while memory is short. */
const PAUSE = 20

/** Chunks before they are joined: one of a byte takes as much memory as one of a few hundred. */
const MAX_PIECES = 256

/** Long bodies read per turn of the event loop, one chunk of 64 kB each. */
const PIECES_A_TURN = 4

/** Bytes of long bodies per millisecond, and milliseconds' worth read at once after a pause: 2 MiB, a block in hex. */
const BYTES_A_MILLISECOND = 32_768
const BURST = 64

/** The common rate of long bodies. Without one, collecting their garbage takes a tenth of the event loop's time. */
export class BodyRate {
  /** When the bytes so far would have been read at this rate. */
  #paid = Number.NEGATIVE_INFINITY

  /** Milliseconds to wait after reading bytes at `now`; none if not positive. */
  waitAfter(bytes: number, now: Millis): number {
    this.#paid = Math.max(this.#paid, now - BURST) + bytes / BYTES_A_MILLISECOND
    return this.#paid - now
  }
}

export type BodyMemory = Pick<CallerMemory, "take" | "give" | "isTight">

/** Reads bodies within the memory budget, and long ones at a rate, so that uploads do not delay short requests. */
export class BodyReader {
  readonly #maxSize: number
  readonly #line = fewATurn(PIECES_A_TURN)
  readonly #rate = new BodyRate()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Calls `done` once; never if the client disconnects first. */
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
    /** Does not count the first bytes. Nearly all bodies fit into them, in one chunk. */
    const hasRoom = (): boolean => {
      const beyond = size - counted - SMALL
      if (beyond <= 0) return true
      if (!memory.take("rpc_bodies", beyond)) return false
      counted += beyond
      return true
    }
    const goOn = (): void => void request.resume()
    const lineUp = (): void => this.#line.add(goOn)
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
      const wait = Math.max(
        this.#rate.waitAfter(chunk.length, monotonic()),
        memory.isTight("rpc_bodies") ? PAUSE : 0
      )
      // Always through the queue: after a stop of the event loop, many timers are due in one turn.
      if (wait > 0) afterDelay(wait, lineUp)
      else lineUp()
    })
    request.on("end", () => {
      const all = [...joined, ...pieces]
      const [only = EMPTY] = all
      settle({ _tag: "Complete", bytes: all.length > 1 ? Buffer.concat(all, size) : only, release })
    })
    request.on("close", () => settle(undefined))
  }
}
