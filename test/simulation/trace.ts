/** What happened in a run: a number that two runs of a seed share, and the last events in words. */

/** Events that a failure shows. */
const SHOWN = 200

export interface TracedEvent {
  /** Virtual nanoseconds. */
  readonly at: number
  readonly who: string
  readonly what: string
}

const mix = (hash: number, word: number): number => {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1)
  return (mixed ^ (mixed >>> 15)) | 0
}

/** Virtual nanoseconds as hours, minutes, seconds and milliseconds. */
export const clockTime = (nanos: number): string => {
  const seconds = Math.floor(nanos / 1e9)
  const two = (value: number): string => String(value).padStart(2, "0")
  const rest = (nanos / 1e6 % 1000).toFixed(3).padStart(7, "0")
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${rest}`
}

export interface TraceOptions {
  /** The directory of the world, which has another name in each run: events have none. */
  readonly root?: string | undefined
  /** Gets each event in words as it happens. */
  readonly show?: ((event: TracedEvent) => void) | undefined
}

export class Trace {
  private low = 0x243f6a88
  private high = 0x13198a2e
  private readonly ring: Array<TracedEvent> = []
  private at = 0
  private readonly options: TraceOptions

  constructor(options: TraceOptions = {}) {
    this.options = options
  }

  /** An event that only counts: cheap enough for each task. */
  count(nanos: number, group: number, kind: number): void {
    this.low = mix(this.low, nanos | 0)
    this.high = mix(this.high ^ group, Math.floor(nanos / 0x100000000) ^ kind)
  }

  /** An event that a reader wants to see. Its words count too. */
  note(happened: TracedEvent): void {
    const { root, show } = this.options
    const event = root === undefined ? happened : { ...happened, what: happened.what.replaceAll(root, "") }
    for (let i = 0; i < event.what.length; i++) this.low = mix(this.low, event.what.charCodeAt(i))
    this.count(event.at, event.what.length, event.who.length)
    this.ring[this.at++ % SHOWN] = event
    show?.(event)
  }

  get hash(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0")
    return hex(this.high) + hex(mix(this.low, this.high))
  }

  /** The last events, oldest first. */
  get last(): ReadonlyArray<TracedEvent> {
    const from = this.at % SHOWN
    return this.at <= SHOWN ? [...this.ring] : [...this.ring.slice(from), ...this.ring.slice(0, from)]
  }
}

export const eventLine = ({ at, what, who }: TracedEvent): string => `${clockTime(at)} ${who.padEnd(8)} ${what}`
