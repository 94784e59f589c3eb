import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"

/** Milliseconds that a peer may be behind our tip, and then has to answer (reference/protocol.md 6.10). */
const BEHIND_TIME = 20 * 60_000
const LAST_CHANCE = 2 * 60_000

/** Peers protected from this disconnection (6.10). */
const MOST_PROTECTED = 4

interface Timer {
  readonly protectable: boolean
  protected: boolean
  deadline: number | undefined
  mark: HeaderId
  asked: boolean
}

/** `ask`: whether the peer has this block, our tip when it fell behind. */
export type BehindVerdict = "nothing" | "drop" | { readonly ask: HeaderId }

/**
 * Outbound peers that stay behind our tip may keep us from the best chain. Milliseconds of one clock. Source: upstream
 * `net_processing.cpp`, `ConsiderEviction`.
 */
export class ChainSyncTimers {
  private readonly tree: Pick<HeaderTree, "compareWork" | "tip">
  private readonly timers = new Map<PeerId, Timer>()

  constructor(tree: Pick<HeaderTree, "compareWork" | "tip">) {
    this.tree = tree
  }

  add(id: PeerId, protectable: boolean): void {
    this.timers.set(id, { protectable, protected: false, deadline: undefined, mark: NO_HEADER, asked: false })
  }

  remove(id: PeerId): void {
    this.timers.delete(id)
  }

  /** `best`: the end of the peer's chain, `NO_HEADER` if unknown. */
  consider(id: PeerId, best: HeaderId, now: number): BehindVerdict {
    const timer = this.timers.get(id)
    if (timer === undefined || timer.protected) return "nothing"
    const { tree } = this
    const tip = tree.tip()
    const reaches = (mark: HeaderId): boolean => best !== NO_HEADER && tree.compareWork(best, mark) >= 0
    if (reaches(tip)) {
      timer.deadline = undefined
      this.protect(timer)
      return "nothing"
    }
    if (timer.deadline === undefined || reaches(timer.mark)) {
      timer.deadline = now + BEHIND_TIME
      timer.mark = tip
      timer.asked = false
      return "nothing"
    }
    if (now <= timer.deadline) return "nothing"
    if (timer.asked) return "drop"
    timer.asked = true
    timer.deadline = now + LAST_CHANCE
    return { ask: timer.mark }
  }

  private protect(timer: Timer): void {
    if (!timer.protectable) return
    const count = [...this.timers.values()].filter((other) => other.protected).length
    timer.protected = count < MOST_PROTECTED
  }
}
