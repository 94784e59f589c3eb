export interface HttpConnection {
  /** The identity of its client. */
  readonly key: string
  /** Whether it may be closed for a new one: false while a call of it is carried out. */
  readonly idle: () => boolean
  readonly end: () => void
}

/**
 * The connections of a listener, up to a limit. Beyond it, a new connection closes another one: of the client with the
 * most connections, the oldest without any request, else the least recently used one. So a client that fills the limit
 * with silent connections loses those, and clients with requests are served.
 */
export class HttpConnections<A extends HttpConnection> implements Iterable<A> {
  readonly #max: number
  /** Connections without a request yet, oldest first. */
  readonly #silent = new Set<A>()
  /** The others, least recently used first. */
  readonly #used = new Set<A>()
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#silent.size + this.#used.size
  }

  /** Counts a new connection. `false` if all others are busy and none can be closed for it. */
  add(connection: A): boolean {
    if (this.size >= this.#max && !this.#makeRoom()) return false
    this.#silent.add(connection)
    this.#counts.set(connection.key, this.#countOf(connection) + 1)
    return true
  }

  used(connection: A): void {
    if (this.#used.delete(connection) || this.#silent.delete(connection)) this.#used.add(connection)
  }

  remove(connection: A): void {
    if (!this.#used.delete(connection) && !this.#silent.delete(connection)) return
    const left = this.#countOf(connection) - 1
    if (left > 0) this.#counts.set(connection.key, left)
    else this.#counts.delete(connection.key)
  }

  *[Symbol.iterator](): Iterator<A> {
    yield* this.#silent
    yield* this.#used
  }

  #countOf({ key }: A): number {
    return this.#counts.get(key) ?? 0
  }

  #makeRoom(): boolean {
    let victim: A | undefined
    let most = 0
    for (const connection of this) {
      const count = this.#countOf(connection)
      if (count <= most || !connection.idle()) continue
      victim = connection
      most = count
    }
    if (victim === undefined) return false
    this.remove(victim)
    victim.end()
    return true
  }
}
