import type { UnixTime } from "../../protocol/keys.ts"

/** Seconds of a cycle (upstream `net.cpp`, `MAX_UPLOAD_TIMEFRAME`). */
export const UPLOAD_CYCLE = 86_400

/** Room kept for new blocks: one of this many bytes in each of these seconds that are left of the cycle. */
const BLOCK_BYTES = 4_000_000
const BLOCK_SECONDS = 600

/** The state of the target, as `getnettotals` shows it. Bytes and seconds. */
export interface UploadState {
  /** Bytes in a cycle; 0: no limit. */
  readonly target: number
  readonly isReached: boolean
  /** Whether peers get old blocks. */
  readonly servesOldBlocks: boolean
  readonly bytesLeft: number
  readonly secondsLeft: number
}

/**
 * Counts the bytes sent to all peers in cycles of 24 hours, against the operator's target (`-maxuploadtarget`). A
 * reached target stops nothing but answers to requests for old blocks and for the mempool. Source: upstream `net.cpp`,
 * `OutboundTargetReached`. Times are seconds since 1970.
 */
export class UploadTarget {
  /** Bytes in a cycle; 0: no limit. */
  private readonly target: number
  private started = 0
  private bytes = 0

  constructor(target: number) {
    this.target = target
  }

  /** Records sent bytes. */
  sent(bytes: number, now: UnixTime): void {
    if (this.started + UPLOAD_CYCLE < now) {
      this.started = now
      this.bytes = 0
    }
    this.bytes += bytes
  }

  /** Whether the target is reached. */
  isReached(): boolean {
    return this.target > 0 && this.bytes >= this.target
  }

  /** Whether old blocks are refused: the rest of the target is for new ones. */
  refusesOldBlocks(now: UnixTime): boolean {
    if (this.target === 0) return false
    const kept = Math.floor(this.secondsLeft(now) / BLOCK_SECONDS) * BLOCK_BYTES
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
