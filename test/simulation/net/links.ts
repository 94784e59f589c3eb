import { below, type Random } from "../../../src/base/random.ts"
import { NANOS_PER_MS } from "../virtual/Timeline.ts"

/** What the links between hosts are like: speed, delay, and what cuts them. All of it comes from the seed. */

export const SECOND = 1_000 * NANOS_PER_MS

/** One direction of a link. */
export interface LinkShape {
  /** Nanoseconds of a usual segment. */
  readonly latency: number
  /** Bytes per second. */
  readonly bandwidth: number
}

/** An integer of at least `least` and below `end`, each order of magnitude as likely as the others. */
const logUniform = (random: Random, [least, end]: readonly [number, number]): number =>
  Math.floor(least * (end / least) ** random())

const SLOWEST = 3 * SECOND

/** Most links are within 1 to 200 ms; one of sixteen is as slow as a bad mobile link. */
const drawShape = (random: Random): LinkShape => ({
  latency: random() < 1 / 16
    ? logUniform(random, [200 * NANOS_PER_MS, SLOWEST])
    : logUniform(random, [NANOS_PER_MS, 200 * NANOS_PER_MS]),
  bandwidth: logUniform(random, [30_000, 30_000_000])
})

/** Nanoseconds on the way: up to a fifth more than usual, and rarely up to three seconds, as after a retransmission. */
export const drawDelay = ({ latency }: LinkShape, random: Random): number =>
  random() < 1 / 256
    ? Math.max(latency, logUniform(random, [200 * NANOS_PER_MS, SLOWEST]))
    : latency + below(random, 1 + Math.floor(latency / 5))

/** In the middle of a message, its connection breaks, or nothing more arrives until the fault ends. */
export type Tear = "break" | "stall"

/** The smallest message that is torn, in bytes: a transaction or part of a block. */
const LEAST_TORN = 150

/** The largest segment, in bytes. */
const MOST = 0x4000

/** Bytes of the next segment of `size` waiting bytes: usually all, sometimes cut anywhere, such as within a header. */
export const drawCut = (size: number, random: Random): number => {
  const most = Math.min(size, MOST)
  const kind = random()
  if (kind < 1 / 32) return Math.min(most, 1 + below(random, 30))
  return kind < 1 / 6 ? 1 + below(random, most) : most
}

/** Keeps segments from one set of hosts to another from arriving. An absent set stands for all hosts. */
export interface Cut {
  readonly from: ReadonlySet<string> | undefined
  readonly to: ReadonlySet<string> | undefined
}

const covers = ({ from, to }: Cut, source: string, target: string): boolean =>
  (from === undefined || from.has(source)) && (to === undefined || to.has(target))

/** The direction of a link. */
export interface Way {
  readonly from: string
  readonly to: string
}

/** The links between all hosts. */
export class Links {
  private readonly streamOf: (name: string) => Random
  private readonly shapes = new Map<string, LinkShape>()
  private readonly slowed = new Map<string, number>()
  /** Directions whose next long message is torn. */
  private readonly tears = new Map<string, Tear>()
  private readonly stalled = new Set<string>()
  private readonly cuts = new Set<Cut>()

  /** Each link has a stream of its own, so that a change of one leaves the others as they are. */
  constructor(streamOf: (name: string) => Random) {
    this.streamOf = streamOf
  }

  shape({ from, to }: Way): LinkShape {
    const key = `${from}>${to}`
    const known = this.shapes.get(key) ?? drawShape(this.streamOf(key))
    this.shapes.set(key, known)
    const bandwidth = this.slowed.get(key)
    return bandwidth === undefined ? known : { ...known, bandwidth: Math.min(known.bandwidth, bandwidth) }
  }

  isOpen({ from, to }: Way): boolean {
    for (const cut of this.cuts) if (covers(cut, from, to)) return false
    return true
  }

  cut(cut: Cut): void {
    this.cuts.add(cut)
  }

  /** Ends one cut; others of the same hosts stay. */
  join(cut: Cut): void {
    this.cuts.delete(cut)
  }

  /** Ends all cuts and slow links, and tears no message. */
  heal(): void {
    this.cuts.clear()
    this.slowed.clear()
    this.tears.clear()
    this.stalled.clear()
  }

  /** Tears the next long message of a direction; `undefined` ends that, and lets a stalled one go on. */
  tear({ from, to }: Way, tear: Tear | undefined): void {
    const key = `${from}>${to}`
    if (tear !== undefined) this.tears.set(key, tear)
    else {
      this.tears.delete(key)
      this.stalled.delete(key)
    }
  }

  /** What a message of so many bytes meets; only one does. */
  takeTear({ from, to }: Way, size: number): Tear | undefined {
    const key = `${from}>${to}`
    const tear = size < LEAST_TORN ? undefined : this.tears.get(key)
    if (tear === undefined) return undefined
    this.tears.delete(key)
    if (tear === "stall") this.stalled.add(key)
    return tear
  }

  /** Whether a message of a direction waits in its middle. */
  isStalled({ from, to }: Way): boolean {
    return this.stalled.has(`${from}>${to}`)
  }

  /** Whether a direction is neither cut nor slow. */
  isSteady(way: Way): boolean {
    return this.isOpen(way) && !this.slowed.has(`${way.from}>${way.to}`)
  }

  /** Limits a direction to a number of bytes per second; `undefined` ends that. */
  limitBandwidth({ from, to }: Way, bandwidth: number | undefined): void {
    if (bandwidth === undefined) this.slowed.delete(`${from}>${to}`)
    else this.slowed.set(`${from}>${to}`, bandwidth)
  }
}
