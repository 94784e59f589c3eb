/** One of the connections that are counted. */
export interface HttpConnection {
  /** What counts as one client. */
  readonly key: string
  /** Whether it may be ended for another's sake: not while a call of it is carried out. */
  readonly idle: () => boolean
  readonly end: () => void
}

/**
 * The connections of a listener, up to a number. When one more comes, another has to go: of the client with the most,
 * the oldest that never asked anything, else the one that asked least lately. So whoever fills the place with
 * connections that ask nothing pays with those, and who asks is answered.
 */
export class HttpConnections<A extends HttpConnection> implements Iterable<A> {
  readonly #max: number
  /** Those that have asked nothing yet, in the order in which they came. */
  readonly #silent = new Set<A>()
  /** The others; the one that was used last stands last. */
  readonly #used = new Set<A>()
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#silent.size + this.#used.size
  }

  /** Counts a new connection. `false` where all others are at work, and there is no place for it. */
  add(connection: A): boolean {
    if (this.size >= this.#max && !this.#makeRoom()) return false
    this.#silent.add(connection)
    this.#counts.set(connection.key, this.#countOf(connection) + 1)
    return true
  }

  /** It has asked something. */
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
