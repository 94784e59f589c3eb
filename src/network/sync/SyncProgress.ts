/** Milliseconds between two lines. */
const PAUSE = 10_000

/** Blocks behind from which on a download is worth a line. */
const FAR = 144

/** How far a long download is. */
export interface ProgressLine {
  readonly headers: number
  readonly blocks: number
  /** Of the blocks that are known to be missing or there. */
  readonly percent: number
  readonly blocksPerSecond: number
  readonly peers: number
  /** How long it will take at this rate, as people write it. */
  readonly left: string
}

const spell = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return "unknown"
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return `${Math.ceil(seconds)} s`
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Says now and then how far a long download is. Times are milliseconds of one clock. */
export class SyncProgress {
  private last: { readonly time: number; readonly blocks: number } | undefined

  /** A line to be logged, if it is time for one. */
  look(
    now: number,
    at: { readonly headers: number; readonly blocks: number; readonly peers: number }
  ): ProgressLine | undefined {
    const { blocks, headers, peers } = at
    if (headers - blocks < FAR) {
      this.last = undefined
      return undefined
    }
    if (this.last === undefined) this.last = { time: now, blocks }
    const elapsed = now - this.last.time
    if (elapsed < PAUSE) return undefined
    const rate = Math.max((1000 * (blocks - this.last.blocks)) / elapsed, 0)
    this.last = { time: now, blocks }
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
