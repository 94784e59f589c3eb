import type { Traffic } from "../Peer.ts"
import { isCommand } from "../wire/message.ts"

/** What stands for commands that have no meaning: they are the peer's to choose, so they are no keys. */
const OTHER = "*other*"

const increase = (counts: Map<string, number>, command: string, bytes: number): void => {
  const key = isCommand(command) ? command : OTHER
  counts.set(key, (counts.get(key) ?? 0) + bytes)
}

/** Bytes of all connections since the start. */
export interface Totals {
  sent: number
  received: number
}

/** Counts what goes over one connection. Times are in seconds since 1970. */
export class Counters implements Traffic {
  bytesSent = 0
  bytesReceived = 0
  lastSend = 0
  lastReceive = 0
  /** Messages that were left out: a wrong checksum, a payload that does not parse, one that is too long. */
  dropped = 0
  readonly sentByCommand = new Map<string, number>()
  readonly receivedByCommand = new Map<string, number>()
  private readonly totals: Totals

  constructor(totals: Totals) {
    this.totals = totals
  }

  /** Bytes went out, whatever they are part of. */
  sent(bytes: number, now: number): void {
    this.bytesSent += bytes
    this.totals.sent += bytes
    this.lastSend = now
  }

  /** Bytes came in, whatever they are part of. */
  received(bytes: number, now: number): void {
    this.bytesReceived += bytes
    this.totals.received += bytes
    this.lastReceive = now
  }

  /** A whole message goes out; `bytes` of its frame. */
  messageSent(command: string, bytes: number): void {
    increase(this.sentByCommand, command, bytes)
  }

  /** A whole message came in; `bytes` of its frame. */
  messageReceived(command: string, bytes: number): void {
    increase(this.receivedByCommand, command, bytes)
  }
}
