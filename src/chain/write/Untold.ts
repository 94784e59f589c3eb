import type { HeaderId } from "../../protocol/keys.ts"
import type { ChainEvent } from "../ChainEvent.ts"
import type { Connected } from "../state/Connector.ts"

/** Maximum blocks and bytes by which followers lag during an import, as larger writes are faster. */
const BACKLOG = { blocks: 256, bytes: 4 * 1024 * 1024 }

/** Connected blocks and events of which followers and listeners have not been notified. */
export class Untold {
  readonly #blocks = new Map<HeaderId, Connected>()
  readonly #events: Array<ChainEvent> = []
  #bytes = 0

  get blocks(): ReadonlyMap<HeaderId, Connected> {
    return this.#blocks
  }

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  get isLong(): boolean {
    return this.#blocks.size >= BACKLOG.blocks || this.#bytes >= BACKLOG.bytes
  }

  connected(one: Connected, event: ChainEvent): void {
    this.#blocks.set(one.id, one)
    this.#bytes += one.block.size
    this.#events.push(event)
  }

  happened(events: ReadonlyArray<ChainEvent>): void {
    this.#events.push(...events)
  }

  /**
   * Takes what followers know now, and returns the events for listeners. With `more`, one event remains until no follower lags, so that its listener finds all blocks
   * everywhere.
   */
  take(more: boolean): ReadonlyArray<ChainEvent> {
    this.#blocks.clear()
    this.#bytes = 0
    return this.#events.splice(0, this.#events.length - (more ? 1 : 0))
  }
}
