/** Milliseconds between two log lines. */
const PAUSE = 10_000

const FAR = 144

export interface ProgressLine {
  readonly headers: number
  readonly blocks: number
  readonly percent: number
  readonly blocksPerSecond: number
  readonly peers: number
  /** Estimated time left at this rate, for display. */
  readonly left: string
}

const spell = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return "unknown"
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return `${Math.ceil(seconds)} s`
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

interface Place {
  readonly headers: number
  readonly blocks: number
}

/** Reports that a download is stuck once, unless peers are missing. Milliseconds of one clock. */
export class SyncProgress {
  private told: Place | undefined
  private last: { readonly time: number; readonly blocks: number } | undefined

  look(
    now: number,
    at: Place & { readonly peers: number }
  ): ProgressLine | undefined {
    const { blocks, headers, peers } = at
    if (headers - blocks < FAR) {
      this.last = undefined
      return undefined
    }
    if (this.last === undefined) this.last = { time: now, blocks }
    const elapsed = now - this.last.time
    if (elapsed < PAUSE) return undefined
    const gained = blocks - this.last.blocks
    const rate = Math.max((1000 * gained) / elapsed, 0)
    this.last = { time: now, blocks }
    const isSame = this.told?.blocks === blocks && this.told.headers === headers
    if (isSame || (peers === 0 && gained === 0)) return undefined
    this.told = { headers, blocks }
    return {
      headers,
      blocks,
      percent: Math.floor((10_000 * blocks) / headers) / 100,
      blocksPerSecond: Math.round(10 * rate) / 10,
      peers,
      left: spell((headers - blocks) / rate)
    }
  }
}
