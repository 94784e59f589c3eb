import type { UnixTime } from "../../protocol/keys.ts"
import type { Traffic } from "../Peer.ts"
import { isMessageCommand } from "../wire/message.ts"
import type { UploadTarget } from "./UploadTarget.ts"

/** Key for unknown commands, which peers choose freely. */
const OTHER = "*other*"

const increase = (counts: Map<string, number>, command: string, bytes: number): void => {
  const key = isMessageCommand(command) ? command : OTHER
  counts.set(key, (counts.get(key) ?? 0) + bytes)
}

export interface Totals {
  sent: number
  received: number
  readonly upload?: Pick<UploadTarget, "sent">
}

/** Seconds since 1970. */
export class Counters implements Traffic {
  bytesSent = 0
  bytesReceived = 0
  lastSend = 0
  lastReceive = 0
  dropped = 0
  readonly sentByCommand = new Map<string, number>()
  readonly receivedByCommand = new Map<string, number>()
  private readonly totals: Totals

  constructor(totals: Totals) {
    this.totals = totals
  }

  sent(bytes: number, now: UnixTime): void {
    this.bytesSent += bytes
    this.totals.sent += bytes
    this.totals.upload?.sent(bytes, now)
    this.lastSend = now
  }

  received(bytes: number, now: UnixTime): void {
    this.bytesReceived += bytes
    this.totals.received += bytes
    this.lastReceive = now
  }

  messageSent(command: string, bytes: number): void {
    increase(this.sentByCommand, command, bytes)
  }

  messageReceived(command: string, bytes: number): void {
    increase(this.receivedByCommand, command, bytes)
  }
}
