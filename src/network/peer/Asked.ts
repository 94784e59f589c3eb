import type { Millis } from "../../protocol/keys.ts"
import type { Message, Owed } from "../wire/message.ts"
import { countItems, isBlockItem } from "../wire/messages/inv.ts"

/** Expected bytes of a requested block and of the answer to `getheaders`, read without delay. */
const BLOCK_BYTES = 1_000_000
const HEADERS_BYTES = 200_000

/** In flight from one peer (reference/protocol.md 6.8). */
export const MOST_BLOCKS = 16

/** Milliseconds after which an answer is read like unsolicited data. */
export const ANSWER_TIME = 120_000

interface Due {
  count: number
  bytes: number
  until: number
}

const nothing = (): Due => ({ count: 0, bytes: 0, until: -Infinity })

const blocksAskedFor = (message: Message): number => {
  if (message.type === "getblocktxn") return 1
  return message.type === "getdata" ? countItems(message.items, isBlockItem) : 0
}

/** Maximum headers of an announcement (BIP 130; upstream `MAX_BLOCKS_TO_ANNOUNCE`). */
const MOST_ANNOUNCED = 8

/** Bytes of outstanding headers and blocks are read without delay. Monotonic milliseconds. */
export class Asked {
  private headers = nothing()
  private blocks = nothing()
  /** Whether a long answer may still arrive, however late, for the payload limits. */
  private openHeaders = false
  private openBlocks = 0

  /** Late answers are still read, as the peer may have a slow connection. */
  get owed(): Owed {
    return { headers: this.openHeaders, blocks: this.openBlocks > 0 }
  }

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

  bytes(now: number): number {
    this.expire(now)
    return this.headers.bytes + this.blocks.bytes
  }

  distrust(): void {
    this.headers = nothing()
    this.blocks = nothing()
  }

  /** Returns whether all received bytes may be part of answers. */
  arrived(size: number, now: Millis): boolean {
    const expected = size <= this.bytes(now)
    const ofBlocks = Math.min(size, this.blocks.bytes)
    this.blocks.bytes -= ofBlocks
    this.headers.bytes = Math.max(0, this.headers.bytes - (size - ofBlocks))
    return expected
  }

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
        // It may be an announcement, so a requested block stays outstanding.
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
