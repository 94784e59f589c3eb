import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import type { PlaceShare } from "../base/FairPlaces.ts"

export interface HttpConnection {
  /** Its user and its address. */
  readonly share: PlaceShare
  readonly end: () => void
}

/**
 * The connections of a listener. The limit is for those that wait for their client; one with a running call counts
 * against the limits of calls instead (`OpenCalls`). Beyond the limit, a new connection closes the least recently used
 * one of the user and address with the most. So a new connection always finds room, whatever the others do.
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

  /** Records a request. */
  used(connection: A): void {
    this.#idle.use(connection, connection.share)
  }

  /** Records that a call of the connection runs or has ended. */
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
