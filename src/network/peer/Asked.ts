import type { Message, Owed } from "../wire/message.ts"
import { countItems, isBlockItem } from "../wire/messages/inv.ts"

/** Bytes of a block that is asked for, and of the headers that answer `getheaders`, as far as they are not held back. */
const BLOCK_BYTES = 1_000_000
const HEADERS_BYTES = 200_000

/** Most blocks that a peer is waited for: as many as it is asked for at a time (reference/protocol.md 6.8). */
export const MOST_BLOCKS = 16

/** How long an answer is waited for, milliseconds. One that comes later is read like anything else. */
export const ANSWER_TIME = 120_000

/** An answer, or several of one kind, that a peer owes us. */
interface Due {
  /** Messages that are to come. */
  count: number
  /** Bytes that may be theirs. */
  bytes: number
  /** When nobody waits for them any more. */
  until: number
}

const nothing = (): Due => ({ count: 0, bytes: 0, until: -Infinity })

/** Blocks that a message of ours asks for. */
const blocksAskedFor = (message: Message): number => {
  if (message.type === "getblocktxn") return 1
  return message.type === "getdata" ? countItems(message.items, isBlockItem) : 0
}

/** Headers of a message that may announce new blocks as well as answer a question (BIP 130; upstream `MAX_BLOCKS_TO_ANNOUNCE`). */
const MOST_ANNOUNCED = 8

/**
 * What a peer was asked for and has not given: headers and blocks, the long answers. Their bytes are read without delay.
 * A question that is put again while there is no answer allows no more bytes, and an answer takes back what it left.
 * Times are milliseconds of a clock that does not go back.
 */
export class Asked {
  private headers = nothing()
  private blocks = nothing()
  /** Whether a long answer may come, however late: for the limits of payloads. */
  private openHeaders = false
  private openBlocks = 0

  /** Which long answers are still open. One that is late is read all the same: it may come over a slow line. */
  get owed(): Owed {
    return { headers: this.openHeaders, blocks: this.openBlocks > 0 }
  }

  /** Notes a message of ours. */
  sent(message: Message, now: number): void {
    this.expire(now)
    if (message.type === "getheaders") {
      this.openHeaders = true
      if (this.headers.count === 0) this.headers = { count: 1, bytes: HEADERS_BYTES, until: now + ANSWER_TIME }
      return
    }
    const { blocks } = this
    const wanted = blocksAskedFor(message)
    this.openBlocks += wanted
    const more = Math.min(wanted, MOST_BLOCKS - blocks.count)
    if (more === 0) return
    blocks.count += more
    blocks.bytes = Math.min(BLOCK_BYTES * MOST_BLOCKS, blocks.bytes + BLOCK_BYTES * more)
    blocks.until = now + ANSWER_TIME
  }

  /** Bytes that may be part of answers. */
  bytes(now: number): number {
    this.expire(now)
    return this.headers.bytes + this.blocks.bytes
  }

  /** What is owed is read like anything else from now on, though still at the length of an answer. */
  distrust(): void {
    this.headers = nothing()
    this.blocks = nothing()
  }

  /** Notes bytes that came. Returns whether all of them may be part of answers. */
  arrived(size: number, now: number): boolean {
    const expected = size <= this.bytes(now)
    const ofBlocks = Math.min(size, this.blocks.bytes)
    this.blocks.bytes -= ofBlocks
    this.headers.bytes = Math.max(0, this.headers.bytes - (size - ofBlocks))
    return expected
  }

  /** Notes a message that came. Returns whether it is of a kind that was asked for. */
  answered(message: Message, now: number): boolean {
    this.expire(now)
    switch (message.type) {
      case "headers":
        if (message.headers.length > MOST_ANNOUNCED) this.openHeaders = false
        return this.less("headers", 1)
      case "block":
      case "blocktxn":
        this.openBlocks = Math.max(0, this.openBlocks - 1)
        return this.less("blocks", 1)
      case "cmpctblock":
        // It may be an announcement, while an answer is still open.
        return this.less("blocks", 1)
      case "notfound": {
        const missing = countItems(message.items, isBlockItem)
        this.openBlocks = Math.max(0, this.openBlocks - missing)
        this.less("blocks", missing)
        return false
      }
      default:
        return false
    }
  }

  private less(kind: "headers" | "blocks", count: number): boolean {
    const due = this[kind]
    if (due.count === 0) return false
    due.count -= Math.min(due.count, count)
    if (due.count === 0) this[kind] = nothing()
    return true
  }

  private expire(now: number): void {
    if (this.headers.until <= now) this.headers = nothing()
    if (this.blocks.until <= now) this.blocks = nothing()
  }
}
