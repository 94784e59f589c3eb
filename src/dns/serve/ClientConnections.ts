import { dnsConnections } from "../../metrics/dnsMetrics.ts"
import { dropped } from "./serving.ts"

/** A connection of a client, over any transport but UDP. */
export interface ClientConnection {
  readonly destroy: () => void
  /** Whether the client waits for an answer that is not ready. It must not be closed for idleness then. */
  readonly isWorking: () => boolean
}

interface Limits {
  readonly connections: number
  readonly idle: number
}

/**
 * The open connections, the least recently used one first. Beyond the limit, the oldest idle one makes room (RFC 7766,
 * section 6.2.2); where none is idle, the newcomer is refused.
 */
export class ClientConnections {
  readonly #limits: Limits
  readonly #now: () => number
  /** Milliseconds of the last use. */
  readonly #used = new Map<ClientConnection, number>()

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  get size(): number {
    return this.#used.size
  }

  /** Whether there was room. */
  admit(connection: ClientConnection): boolean {
    if (this.#used.size >= this.#limits.connections) {
      dropped("connections")
      const oldest = [...this.#used.keys()].find((each) => !each.isWorking())
      if (oldest === undefined) return false
      this.#close(oldest)
    }
    this.#used.set(connection, this.#now())
    dnsConnections.set(dnsConnections.value() + 1)
    return true
  }

  /** No-op for a closed connection. */
  use(connection: ClientConnection): void {
    if (this.#used.delete(connection)) this.#used.set(connection, this.#now())
  }

  remove(connection: ClientConnection): void {
    if (this.#used.delete(connection)) dnsConnections.set(dnsConnections.value() - 1)
  }

  closeIdle(): void {
    const latest = this.#now() - this.#limits.idle
    for (const [connection, used] of this.#used) {
      if (used > latest) return
      if (!connection.isWorking()) this.#close(connection)
    }
  }

  closeAll(): void {
    for (const connection of [...this.#used.keys()]) this.#close(connection)
  }

  #close(connection: ClientConnection): void {
    this.remove(connection)
    connection.destroy()
  }
}
