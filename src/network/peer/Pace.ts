import type { Message } from "../wire/message.ts"
import { isBlockItem } from "../wire/messages/inv.ts"

/** The part of the time that all peers who called us may take together with what nobody asked them for. */
const SHARE = 0.1

/** Milliseconds of it that may be taken at once, after a quiet time. */
const BURST = 500

/**
 * Holds back what comes uncalled-for, so that it cannot keep the node from what it is doing: messages take time to read
 * whatever is in them, and anybody may send them. Peers that we called ourselves are not held back, nor are answers.
 * Milliseconds of a clock that does not go back.
 */
export class Pace {
  private credit = BURST
  private since: number

  constructor(now: number) {
    this.since = now
  }

  private refill(now: number): void {
    this.credit = Math.min(BURST, this.credit + SHARE * (now - this.since))
    this.since = now
  }

  /** Notes time that was taken. */
  spent(milliseconds: number, now: number): void {
    this.refill(now)
    this.credit -= milliseconds
  }

  /** How long nothing more is to be read. */
  wait(now: number): number {
    this.refill(now)
    return this.credit >= 0 ? 0 : Math.ceil(-this.credit / SHARE)
  }
}

/** Bytes of a block that is asked for, and of the headers that answer `getheaders`, as far as they are not held back. */
const BLOCK_BYTES = 1_000_000
const HEADERS_BYTES = 200_000

/** Most bytes that a peer is waited for. */
export const MOST_EXPECTED = 64_000_000

/** The bytes that a message of ours asks for. */
export const bytesAskedFor = (message: Message): number => {
  switch (message.type) {
    case "getdata":
      return BLOCK_BYTES * message.items.filter(isBlockItem).length
    case "getblocktxn":
      return BLOCK_BYTES
    case "getheaders":
      return HEADERS_BYTES
    default:
      return 0
  }
}
