import type { Random } from "../../../src/base/random.ts"
import type { Bytes } from "../../../src/protocol/bytes.ts"
import { drawCut, drawDelay, type Links, SECOND, type Tear, type Way } from "./links.ts"

/** One direction of a connection: bytes arrive whole, in order and late, or the connection breaks. */

/** The virtual time of the world. */
export interface NetworkTime {
  /** Nanoseconds. */
  readonly now: () => number
  /** Runs a task after some nanoseconds. Returns how to cancel it. */
  readonly after: (nanos: number, task: () => void) => () => void
}

/** Bytes that a system takes from a writer before they are received, and keeps for a reader that does not read. */
const BUFFER = 0x10000

/** Time without an answer after which a system gives a connection up (Linux, `tcp_retries2`). */
const GIVE_UP = 924 * SECOND

/** Time in which the reader of a torn message has what arrived of it. */
const TEARING = SECOND

/** How the receiving system treats segments. */
export type Listening =
  | "yes"
  /** The host runs but does not know the connection: it answers with a reset. */
  | "unknown"
  /** Nothing answers. */
  | "gone"

export interface PipeOptions {
  readonly way: Way
  readonly links: Links
  readonly time: NetworkTime
  readonly random: Random
  readonly listening: () => Listening
  /** Gives bytes to the reader; false if it wants no more for now. `undefined`: the end. */
  readonly deliver: (bytes: Bytes | undefined) => boolean
  /** The writer's connection is broken. */
  readonly broken: (code: "ECONNRESET" | "ETIMEDOUT") => void
  /** A message waits in its middle. */
  readonly torn: () => void
  /** The connection is to break now, at both ends. */
  readonly breaks: () => void
}

export class Pipe {
  private readonly options: PipeOptions
  /** Written, not yet on the way. */
  private unsent: Array<Bytes> = []
  private unsentBytes = 0
  /** Tells the writer that the system has its last bytes; one write at a time waits. */
  private taken: (() => void) | undefined
  /** Whether the writer has ended. */
  private ends = false
  /** Whether the end is not yet on the way. */
  private isEnding = false
  /** On the way, in order. A segment of `undefined` is the end. */
  private sent: Array<Bytes | undefined> = []
  private sentBytes = 0
  /** Arrived, for a reader that does not read. */
  private arrived: Array<Bytes | undefined> = []
  private arrivedBytes = 0
  /** Whether the reader takes bytes. */
  private wanted = true
  /** The fault that has let through only the first half of a message. */
  private torn: Tear | undefined
  /** When the link has sent the last segment, and when it arrives: a later one does not overtake it. */
  private freeAt = 0
  /** When the last bytes so far arrive, in nanoseconds: later ones do not overtake them. */
  lastArrival: number
  /** Segments that a cut keeps from arriving. They arrive when it ends. */
  private held = 0
  private over = false
  private cancelGivingUp: (() => void) | undefined
  private readonly cancels = new Set<() => void>()

  constructor(options: PipeOptions, earliest: number) {
    this.options = options
    this.lastArrival = earliest
  }

  /** Calls `taken` once the writer's system has all of the bytes. The next write comes after that. */
  write(bytes: Bytes, taken: () => void): void {
    if (this.over) return
    this.unsent.push(bytes.slice())
    this.unsentBytes += bytes.length
    this.taken = taken
    this.move()
  }

  /** Sends the end after all bytes. */
  end(): void {
    if (this.over || this.ends) return
    this.ends = true
    this.isEnding = true
    this.move()
  }

  /** The reader wants bytes again. */
  read(): void {
    this.wanted = true
    this.give()
  }

  /** A cut began or ended, or a host came or went. */
  changed(): void {
    if (this.over) return
    if (this.torn === "stall" && !this.options.links.isStalled(this.options.way)) this.torn = undefined
    if (this.options.links.isOpen(this.options.way)) {
      const count = this.held
      this.held = 0
      for (let i = 0; i < count; i++) this.arrive()
    }
    this.move()
  }

  /** Nothing arrives any more, and nothing is taken. */
  close(): void {
    this.over = true
    this.cancelGivingUp?.()
    for (const cancel of this.cancels) cancel()
    this.cancels.clear()
    this.unsent = []
    this.sent = []
    this.arrived = []
    this.arrivedBytes = 0
  }

  get isOver(): boolean {
    return this.over
  }

  get isTorn(): boolean {
    return this.torn !== undefined
  }

  /** Whether the reader's system has bytes for it. */
  get isUnread(): boolean {
    return this.arrivedBytes > 0
  }

  /** Whether answers of the receiver arrive. */
  private get isAnswered(): boolean {
    const { links, listening, way: { from, to } } = this.options
    return listening() !== "gone" && links.isOpen({ from, to }) && links.isOpen({ from: to, to: from })
  }

  /** Sends as much as the receiver's buffer takes. */
  private move(): void {
    if (this.over) return
    if (this.isAnswered && this.torn === undefined) this.sendSome()
    this.watch()
    const { taken } = this
    if (taken === undefined || this.unsentBytes > BUFFER) return
    this.taken = undefined
    this.later(0, taken)
  }

  private sendSome(): void {
    for (;;) {
      const room = BUFFER - this.sentBytes - this.arrivedBytes
      const [first] = this.unsent
      if (first === undefined || room <= 0) break
      const tear = this.options.links.takeTear(this.options.way, first.length)
      if (tear !== undefined) return this.tear(first, tear)
      const size = drawCut(Math.min(first.length, room), this.options.random)
      this.unsentBytes -= size
      if (size === first.length) this.unsent.shift()
      else this.unsent[0] = first.subarray(size)
      this.send(first.subarray(0, size))
    }
    if (!this.isEnding || this.unsent.length > 0) return
    this.isEnding = false
    this.send(undefined)
  }

  private send(bytes: Bytes | undefined): void {
    const { random, links, time, way } = this.options
    const shape = links.shape(way)
    const size = bytes?.length ?? 0
    const left = Math.max(time.now(), this.freeAt) + Math.ceil(size * SECOND / shape.bandwidth)
    this.freeAt = left
    this.lastArrival = Math.max(this.lastArrival, left + drawDelay(shape, random))
    this.sent.push(bytes)
    this.sentBytes += size
    this.later(this.lastArrival - time.now(), () => this.arrive())
  }

  /** Sends half of a message, and nothing behind it for now. */
  private tear(message: Bytes, tear: Tear): void {
    const half = message.length >> 1
    this.torn = tear
    this.options.torn()
    this.unsent[0] = message.subarray(half)
    this.unsentBytes -= half
    this.send(message.subarray(0, half))
    if (tear === "break") this.later(this.lastArrival + TEARING - this.options.time.now(), this.options.breaks)
  }

  private later(nanos: number, task: () => void): void {
    const cancel = this.options.time.after(nanos, () => {
      this.cancels.delete(cancel)
      task()
    })
    this.cancels.add(cancel)
  }

  private arrive(): void {
    if (this.over) return
    const { links, listening, way } = this.options
    const host = listening()
    if (!links.isOpen(way) || host === "gone") {
      this.held += 1
      return this.watch()
    }
    const bytes = this.sent.shift()
    if (host === "unknown") return bytes === undefined ? this.close() : this.fail("ECONNRESET")
    this.sentBytes -= bytes?.length ?? 0
    this.arrived.push(bytes)
    this.arrivedBytes += bytes?.length ?? 0
    this.give()
  }

  private give(): void {
    while (this.wanted && this.arrived.length > 0) {
      const bytes = this.arrived.shift()
      this.arrivedBytes -= bytes?.length ?? 0
      this.wanted = this.options.deliver(bytes)
    }
    this.move()
  }

  /** Gives the connection up once bytes have waited too long for an answer. */
  private watch(): void {
    const waits = (this.unsent.length > 0 || this.sent.length > 0 || this.isEnding) && !this.isAnswered
    if (!waits) {
      this.cancelGivingUp?.()
      this.cancelGivingUp = undefined
    } else this.cancelGivingUp ??= this.options.time.after(GIVE_UP, () => this.fail("ETIMEDOUT"))
  }

  private fail(code: "ECONNRESET" | "ETIMEDOUT"): void {
    if (this.over) return
    this.close()
    this.options.broken(code)
  }
}
