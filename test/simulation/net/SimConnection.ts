import type { Random } from "../../../src/base/random.ts"
import { type Links, type Way } from "./links.ts"
import { type Listening, type NetworkTime, Pipe } from "./Pipe.ts"
import { SimSocket } from "./SimSocket.ts"

/** A connection between two hosts: two ends, and a pipe in each direction. */

export interface Endpoint {
  readonly host: string
  readonly port: number
}

export interface ConnectionOptions {
  readonly links: Links
  readonly time: NetworkTime
  /** Of this connection alone. */
  readonly random: Random
  readonly isUp: (host: string) => boolean
  /** Before code of a host runs. */
  readonly entering: (host: string) => void
  /** Runs once for each end that closes. */
  readonly left: (host: string) => void
}

interface End {
  readonly at: Endpoint
  readonly socket: SimSocket
  readonly outgoing: Pipe
  /** Whether its system still knows it. A host that lost power forgets it. */
  known: boolean
}

export class SimConnection {
  readonly caller: SimSocket
  readonly called: SimSocket
  private readonly options: ConnectionOptions
  private readonly ends: readonly [End, End]
  /** When the connection was made, or last disturbed by a fault of its links; in nanoseconds. */
  private steadyFrom: number
  private isDisturbed = false

  constructor(options: ConnectionOptions, from: Endpoint, to: Endpoint) {
    this.options = options
    this.steadyFrom = options.time.now()
    const caller = this.end(from, to, () => this.ends[1])
    const called = this.end(to, from, () => this.ends[0])
    this.ends = [caller, called]
    this.caller = caller.socket
    this.called = called.socket
  }

  /** Whether both ends are closed. */
  get isOver(): boolean {
    return this.ends.every(({ known }) => !known)
  }

  has(host: string): boolean {
    return this.ends.some(({ at, known }) => known && at.host === host)
  }

  changed(): void {
    for (const { outgoing } of this.ends) outgoing.changed()
    // What was sent over a slow link still arrives by its old schedule.
    if (this.isDisturbed) {
      this.steadyFrom = Math.max(this.options.time.now(), ...this.ends.map(({ outgoing }) => outgoing.lastArrival))
    }
    this.isDisturbed = !this.isSteady
  }

  /** Since when bytes go both ways without a fault, in nanoseconds; `undefined` if they do not. */
  get steadySince(): number | undefined {
    return this.isSteady && this.ends.every(({ known }) => known) ? this.steadyFrom : undefined
  }

  private get isSteady(): boolean {
    const [{ at: { host: one } }, { at: { host: other } }] = this.ends
    const { isUp, links } = this.options
    return isUp(one) && isUp(other) && !this.ends.some(({ outgoing }) => outgoing.isTorn) &&
      links.isSteady({ from: one, to: other }) && links.isSteady({ from: other, to: one })
  }

  /** Both ends learn of a reset. */
  reset(): void {
    for (const end of this.ends) if (end.known) this.break(end, "ECONNRESET")
  }

  /** The owner of an end runs no more. With `power`, its system still ends the connection. */
  kill(host: string, power: boolean): void {
    for (const end of this.ends) {
      if (end.at.host !== host || !end.known) continue
      if (!power) end.outgoing.close()
      end.socket.forget()
    }
  }

  private end(at: Endpoint, other: Endpoint, opposite: () => End): End {
    const { entering, random, links, time } = this.options
    const way: Way = { from: at.host, to: other.host }
    const outgoing = new Pipe({
      way,
      links,
      time,
      random,
      listening: () => this.listening(opposite()),
      deliver: (bytes) => {
        entering(other.host)
        return opposite().socket.push(bytes ?? null)
      },
      broken: (code) => this.break(end, code),
      torn: () => {
        this.isDisturbed = true
      },
      breaks: () => this.reset()
    }, time.now())
    const socket = new SimSocket({
      localAddress: at.host,
      localPort: at.port,
      remoteAddress: other.host,
      remotePort: other.port
    }, {
      write: (bytes, taken) =>
        outgoing.write(bytes, () => {
          entering(at.host)
          taken()
        }),
      end: () => outgoing.end(),
      read: () => opposite().outgoing.read(),
      closed: () => this.closed(end)
    })
    const end: End = { at, socket, outgoing, known: true }
    return end
  }

  private break({ at, socket }: End, code: string): void {
    this.options.entering(at.host)
    socket.break(code)
  }

  private listening({ at, known }: End): Listening {
    if (!this.options.isUp(at.host)) return "gone"
    return known ? "yes" : "unknown"
  }

  /** A system sends what was written, and the end. Bytes that nobody read are answered with a reset, as later ones are. */
  private closed(end: End): void {
    if (!end.known) return
    end.known = false
    const { links, time } = this.options
    const opposite = end === this.ends[0] ? this.ends[1] : this.ends[0]
    if (opposite.outgoing.isUnread && !end.outgoing.isOver) {
      const way = { from: end.at.host, to: opposite.at.host }
      end.outgoing.close()
      time.after(links.shape(way).latency, () => {
        if (opposite.known && links.isOpen(way)) this.break(opposite, "ECONNRESET")
      })
    } else end.outgoing.end()
    this.options.left(end.at.host)
  }
}
