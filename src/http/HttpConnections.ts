import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import type { PlaceShare } from "../base/FairPlaces.ts"

export interface HttpConnection {
  /** User and address. */
  readonly share: PlaceShare
  readonly end: () => void
}

/**
 * Limits the connections that wait for their client. Those with a running call count in `OpenCalls` instead. Beyond the
 * limit, a new connection closes the least recently used one of the user and address with the most, so there is always
 * room.
 */
export class HttpConnections<A extends HttpConnection> implements Iterable<A> {
  readonly #open = new Set<A>()
  readonly #idle: EvictingPlaces<A>

  constructor(max: number) {
    this.#idle = new EvictingPlaces(max, (connection) => {
      this.#open.delete(connection)
      connection.end()
    })
  }

  get size(): number {
    return this.#open.size
  }

  add(connection: A): void {
    this.#open.add(connection)
    this.#idle.enter(connection, connection.share)
  }

  used(connection: A): void {
    this.#idle.use(connection, connection.share)
  }

  /** A call of the connection begins or ends. */
  working(connection: A, works: boolean): void {
    if (works) this.#idle.leave(connection)
    else if (this.#open.has(connection)) this.#idle.enter(connection, connection.share)
  }

  remove(connection: A): void {
    this.#open.delete(connection)
    this.#idle.leave(connection)
  }

  [Symbol.iterator](): Iterator<A> {
    return this.#open.values()
  }
}
