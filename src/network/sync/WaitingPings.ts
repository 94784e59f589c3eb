import type { PeerId } from "../../protocol/keys.ts"
import type { BlockOrder } from "./BlockOrder.ts"

/** Milliseconds, as a long reorg must not silence a peer. */
const LONGEST_WAIT = 20_000

export interface WaitingPing {
  readonly peer: PeerId
  readonly answer: () => void
}

/** A pong says that the blocks before the ping have their effect, as in the reference node. */
export class WaitingPings {
  private readonly blockOrder: Pick<BlockOrder, "isPassing">
  private readonly waiting = new Map<WaitingPing, number>()

  constructor(blockOrder: Pick<BlockOrder, "isPassing">) {
    this.blockOrder = blockOrder
  }

  /** @param now monotonic milliseconds */
  add(ping: WaitingPing, now: number): void {
    this.waiting.set(ping, now + LONGEST_WAIT)
    this.look(now)
  }

  look(now: number): void {
    for (const [ping, until] of this.waiting) {
      if (this.blockOrder.isPassing(ping.peer) && now < until) continue
      this.waiting.delete(ping)
      ping.answer()
    }
  }
}
