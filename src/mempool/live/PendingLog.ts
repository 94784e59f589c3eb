import type { LiveEvent } from "../../names/events/LiveEvent.ts"

/** The last events of pending operations, shared by all readers, of which each has only a place. */
export class PendingLog {
  private readonly capacity: number
  /** The event number `n` is at `n % capacity`. */
  private readonly events: Array<LiveEvent> = []
  private added = 0

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get end(): number {
    return this.added
  }

  add(event: LiveEvent): void {
    this.events[this.added++ % this.capacity] = event
  }

  /** Whether all events after a place are still here. */
  reaches(place: number): boolean {
    return this.added - place <= this.capacity
  }

  /** The event after a place, which the log must reach; `undefined` at the end. */
  behind(place: number): LiveEvent | undefined {
    return place < this.added ? this.events[place % this.capacity] : undefined
  }
}
