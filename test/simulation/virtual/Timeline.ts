/** Virtual time in whole nanoseconds, and what waits for it. */

export interface Timer {
  /** Nanoseconds since the beginning. */
  readonly at: number
  /** Breaks ties: the order of creation. */
  readonly order: number
  readonly run: () => void
  /** Its place in the heap; -1 when it has run or was removed. */
  place: number
}

export const NANOS_PER_MS = 1_000_000

/** A later timer would leave the whole numbers of a double; nothing waits for years. */
const NEVER = 2 ** 52

const isBefore = (a: Timer, b: Timer): boolean => a.at === b.at ? a.order < b.order : a.at < b.at

/** A binary heap of timers. Time moves only where the driver says so. */
export class Timeline {
  /** Nanoseconds since the beginning. */
  now = 0
  private readonly heap: Array<Timer> = []
  private created = 0

  /** Runs once `nanos` have passed, in the order of due times. */
  add(nanos: number, run: () => void): Timer {
    const at = Math.min(NEVER, this.now + Math.max(0, Math.ceil(nanos)))
    const timer: Timer = { at, order: this.created++, run, place: this.heap.length }
    this.heap.push(timer)
    this.rise(timer)
    return timer
  }

  remove(timer: Timer): void {
    const { place } = timer
    if (place === -1) return
    timer.place = -1
    const last = this.heap.pop()
    if (last === undefined || last === timer) return
    this.put(last, place)
    this.rise(last)
    this.sink(last)
  }

  /** When the first timer is due. */
  get next(): number | undefined {
    const first = this.heap[0]
    return first === undefined || first.at >= NEVER ? undefined : first.at
  }

  /** Runs what is due by now. Returns how many timers ran. */
  fire(): number {
    let fired = 0
    for (let first = this.heap[0]; first !== undefined && first.at <= this.now; first = this.heap[0]) {
      this.remove(first)
      first.run()
      fired++
    }
    return fired
  }

  private put(timer: Timer, place: number): void {
    this.heap[place] = timer
    timer.place = place
  }

  private rise(timer: Timer): void {
    while (timer.place > 0) {
      const above = (timer.place - 1) >> 1
      const parent = this.heap[above]
      if (parent === undefined || !isBefore(timer, parent)) return
      this.put(parent, timer.place)
      this.put(timer, above)
    }
  }

  private sink(timer: Timer): void {
    for (;;) {
      const left = 2 * timer.place + 1
      const [a, b] = [this.heap[left], this.heap[left + 1]]
      const child = a !== undefined && b !== undefined && isBefore(b, a) ? b : a
      if (child === undefined || !isBefore(child, timer)) return
      const { place } = timer
      this.put(timer, child.place)
      this.put(child, place)
    }
  }
}
