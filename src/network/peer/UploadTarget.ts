import { MAX_BLOCK_SIZE } from "../../consensus/params.ts"
import { TARGET_SPACING } from "../../consensus/readerParams.ts"
import type { UnixTime } from "../../protocol/keys.ts"

/** Seconds (upstream `net.cpp`, `MAX_UPLOAD_TIMEFRAME`). */
export const UPLOAD_CYCLE = 86_400

/** As in `getnettotals`: bytes and seconds. */
export interface UploadState {
  /** Bytes per cycle; 0 for no limit. */
  readonly target: number
  readonly isReached: boolean
  readonly servesOldBlocks: boolean
  readonly bytesLeft: number
  readonly secondsLeft: number
}

/**
 * Bytes per 24 hours against `-maxuploadtarget`, which only stops answers for old blocks and the mempool. Source:
 * upstream `net.cpp`, `OutboundTargetReached`. Seconds since 1970.
 */
export class UploadTarget {
  private readonly target: number
  private started = 0
  private bytes = 0

  constructor(target: number) {
    this.target = target
  }

  sent(bytes: number, now: UnixTime): void {
    if (this.started + UPLOAD_CYCLE < now) {
      this.started = now
      this.bytes = 0
    }
    this.bytes += bytes
  }

  isReached(): boolean {
    return this.target > 0 && this.bytes >= this.target
  }

  /** Whether the rest of the target is reserved for new blocks. */
  refusesOldBlocks(now: UnixTime): boolean {
    if (this.target === 0) return false
    // Room for new blocks: the largest one in each spacing that is left of the cycle.
    const kept = Math.floor(this.secondsLeft(now) / TARGET_SPACING) * MAX_BLOCK_SIZE
    return kept >= this.target || this.bytes >= this.target - kept
  }

  state(now: UnixTime): UploadState {
    return {
      target: this.target,
      isReached: this.isReached(),
      servesOldBlocks: !this.refusesOldBlocks(now),
      bytesLeft: Math.max(0, this.target - this.bytes),
      secondsLeft: this.secondsLeft(now)
    }
  }

  private secondsLeft(now: UnixTime): number {
    if (this.target === 0) return 0
    return this.started === 0 ? UPLOAD_CYCLE : Math.max(0, this.started + UPLOAD_CYCLE - now)
  }
}
