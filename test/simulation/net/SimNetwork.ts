import type { Random } from "../../../src/base/random.ts"
import { NANOS_PER_MS } from "../virtual/Timeline.ts"
import { type Cut, Links, SECOND, type Way } from "./links.ts"
import type { NetworkTime } from "./Pipe.ts"
import { type Endpoint, SimConnection } from "./SimConnection.ts"
import type { SimSocket } from "./SimSocket.ts"

/** A network between hosts in one process: connections over links with delays and faults, all from one seed. */

export interface SimNetworkOptions {
  readonly time: NetworkTime
  /** The random stream of a link or a connection, by name. */
  readonly streamOf: (name: string) => Random
  readonly observe?: (event: NetworkEvent) => void
  /** Before code of a host runs. */
  readonly entering?: (host: string) => void
}

export interface NetworkEvent extends Way {
  readonly type: "connected" | "refused" | "reset" | "unreachable"
}

/** How a call ends. */
export interface Caller {
  readonly connected: (socket: SimSocket) => void
  /** `code`: that of the system. */
  readonly failed: (code: string) => void
}

export type Accept = (socket: SimSocket) => void

interface Host {
  readonly listeners: Map<number, Accept>
  /** How to cancel its calls that nothing has answered. */
  readonly calls: Set<() => void>
  isUp: boolean
  nextPort: number
  nextFree: number
}

/** The first port of callers (Linux, `ip_local_port_range`). */
const FIRST_PORT = 32_768
const PORTS = 28_000

/** The first port that a host gives to listeners that ask for any (IANA, dynamic ports), and how many it has. */
const FIRST_FREE = 49_152
const FREE_PORTS = 0x10000 - FIRST_FREE

/** Times at which a system calls again while nothing answers, and when it gives up (Linux, `tcp_syn_retries`). */
const CALLS = [0, 1, 3, 7, 15, 31, 63].map((seconds) => seconds * SECOND)
const CALL_LIMIT = 127 * SECOND

/** Chance that a killed host loses power. */
const POWER_CUT = 0.4

export class SimNetwork {
  readonly links: Links
  private readonly options: SimNetworkOptions
  private readonly hosts = new Map<string, Host>()
  private readonly connections = new Set<SimConnection>()
  private readonly kills: Random

  constructor(options: SimNetworkOptions) {
    this.options = options
    this.links = new Links((name) => options.streamOf(`link ${name}`))
    this.kills = options.streamOf("kills")
  }

  /** Open ends of connections at a host. */
  openAt(host: string): number {
    let count = 0
    for (const connection of this.connections) if (connection.has(host)) count += 1
    return count
  }

  /** Connections of two hosts. */
  between(host: string, other: string): number {
    return this.of(host).filter((connection) => connection.has(other)).length
  }

  /**
   * Since when all connections of two hosts have no fault, in nanoseconds; `undefined` if they have none, or one with a
   * fault: which of them carries transactions is not known here.
   */
  steadySince(host: string, other: string): number | undefined {
    const since = this.of(host).flatMap((connection) =>
      connection.has(other) ? [connection.steadySince ?? Infinity] : []
    )
    const last = Math.max(-Infinity, ...since)
    return Number.isFinite(last) ? last : undefined
  }

  /** Accepts connections. Returns how to stop; `undefined` if the port is taken. */
  listen({ host, port }: Endpoint, accept: Accept): (() => void) | undefined {
    const { listeners } = this.begin(host)
    if (listeners.has(port)) return undefined
    listeners.set(port, accept)
    return () => {
      if (listeners.get(port) === accept) listeners.delete(port)
    }
  }

  /** A port at which nobody listens, another one each time; `undefined` if all are taken. */
  freePort(name: string): number | undefined {
    const host = this.hostOf(name)
    for (let tried = 0; tried < FREE_PORTS; tried++) {
      const port = FIRST_FREE + host.nextFree++ % FREE_PORTS
      if (!host.listeners.has(port)) return port
    }
    return undefined
  }

  /** Calls an endpoint. Returns how to cancel the call, which has no effect later. */
  dial(from: string, to: Endpoint, caller: Caller): () => void {
    const { time } = this.options
    const way = { from, to: to.host }
    const host = this.begin(from)
    const port = FIRST_PORT + host.nextPort++ % PORTS
    const cancels = new Set<() => void>()
    const cancel = (): void => {
      for (const each of cancels) each()
      cancels.clear()
      host.calls.delete(cancel)
    }
    host.calls.add(cancel)
    const later = (nanos: number, task: () => void): void => {
      cancels.add(time.after(nanos, task))
    }
    const fail = (code: string): void => {
      cancel()
      this.options.observe?.({ type: code === "ECONNREFUSED" ? "refused" : "unreachable", ...way })
      this.enter(from)
      caller.failed(code)
    }
    const call = (): void => {
      if (!this.isAnswered(way)) return
      for (const each of cancels) each()
      later(this.roundTrip(way), () => {
        const accept = this.hosts.get(to.host)?.listeners.get(to.port)
        if (!this.isAnswered(way)) return fail("ETIMEDOUT")
        if (accept === undefined) return fail("ECONNREFUSED")
        for (const each of cancels) each()
        cancels.clear()
        const connection = this.connect({ host: from, port }, to)
        this.enter(to.host)
        accept(connection.called)
        // A task of its own, as another host runs it.
        later(0, () => {
          host.calls.delete(cancel)
          cancels.clear()
          this.enter(from)
          caller.connected(connection.caller)
        })
        cancels.add(() => void connection.caller.destroy())
      })
    }
    for (const at of CALLS) later(at, call)
    later(CALL_LIMIT, () => fail("ETIMEDOUT"))
    return cancel
  }

  /** Begins or ends a fault of the links. */
  change(apply: (links: Links) => void): void {
    apply(this.links)
    for (const connection of this.connections) connection.changed()
  }

  /** Cuts hosts off. Returns how to end that. */
  cut(cut: Cut): () => void {
    this.change((links) => links.cut(cut))
    return () => this.change((links) => links.join(cut))
  }

  /** Breaks the connections between two hosts, or all of one. */
  reset(host: string, other?: string): void {
    for (const connection of this.of(host)) {
      if (other !== undefined && !connection.has(other)) continue
      connection.reset()
    }
  }

  /**
   * Nothing of a host's process runs any more. With `power`, its system ends its connections; otherwise, others hear
   * nothing until it listens or calls again. The seed decides by default.
   */
  kill(host: string, power = this.kills() >= POWER_CUT): void {
    const killed = this.hostOf(host)
    killed.listeners.clear()
    for (const cancel of [...killed.calls]) cancel()
    if (!power) killed.isUp = false
    for (const connection of this.of(host)) connection.kill(host, power)
  }

  /** Ends all faults of links and hosts. */
  heal(): void {
    for (const host of this.hosts.values()) host.isUp = true
    this.change((links) => links.heal())
  }

  private of(host: string): ReadonlyArray<SimConnection> {
    return [...this.connections].filter((connection) => connection.has(host))
  }

  private hostOf(name: string): Host {
    const host = this.hosts.get(name) ??
      { listeners: new Map(), calls: new Set(), isUp: true, nextPort: 0, nextFree: 0 }
    this.hosts.set(name, host)
    return host
  }

  /** A host that does something has power. It has forgotten its connections. */
  private begin(name: string): Host {
    const host = this.hostOf(name)
    if (host.isUp) return host
    host.isUp = true
    this.change(() => {})
    return host
  }

  private isAnswered({ from, to }: Way): boolean {
    const { isUp } = this.hostOf(to)
    return isUp && this.links.isOpen({ from, to }) && this.links.isOpen({ from: to, to: from })
  }

  private roundTrip({ from, to }: Way): number {
    if (from === to) return NANOS_PER_MS
    return this.links.shape({ from, to }).latency + this.links.shape({ from: to, to: from }).latency
  }

  private connect(from: Endpoint, to: Endpoint): SimConnection {
    const way = { from: from.host, to: to.host }
    const connection: SimConnection = new SimConnection(
      {
        links: this.links,
        time: this.options.time,
        random: this.options.streamOf(`connection ${way.from}:${from.port}>${way.to}`),
        isUp: (host) => this.hostOf(host).isUp,
        entering: (host) => this.enter(host),
        // Its last bytes may still be on the way.
        left: () => {
          if (connection.isOver) this.connections.delete(connection)
        }
      },
      from,
      to
    )
    this.connections.add(connection)
    this.options.observe?.({ type: "connected", ...way })
    return connection
  }

  private enter(host: string): void {
    this.options.entering?.(host)
  }
}
