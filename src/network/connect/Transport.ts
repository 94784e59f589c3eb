import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { promises as dns } from "node:dns"
import { connect, createServer } from "node:net"
import type { Address } from "../../base/addresses.ts"
import { codeOf } from "../../base/errorCode.ts"
import { type BindFailed, listenOn } from "../../base/listening.ts"

/** A connected byte stream, as `net.Socket` defines it. The owner reads it in paused mode. */
export interface PeerStream {
  /** `undefined` once the stream is destroyed. */
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  /** Bytes written that the system has not accepted. */
  readonly writableLength: number
  readonly readableEnded: boolean
  readonly destroyed: boolean
  /** `close` comes once, after everything else. `readable` means that `read` has something new, or that the end came. */
  on(event: "readable" | "end" | "close", listener: () => void): this
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): this
  off(event: "readable" | "end" | "close", listener: () => void): this
  off(event: "error", listener: (error: NodeJS.ErrnoException) => void): this
  /**
   * All bytes received, or exactly `size`; `null` if there are none, or too few. After the end, the rest even if fewer.
   */
  read(size?: number): Uint8Array | null
  /** `done` runs when the system accepted the bytes, or with an error. */
  write(bytes: Uint8Array, done?: (error?: Error | null) => void): unknown
  setNoDelay(on: boolean): unknown
  /** Ends the stream at once, in both directions. `close` follows. */
  destroy(): unknown
}

/** A peer or proxy did not accept the connection. Becomes `PeerUnreachable`. */
export class DialFailed extends Data.TaggedError("DialFailed")<{
  /** The system's code, such as `ECONNREFUSED`. */
  readonly code: string
}> {}

/** The name of a DNS seed has no address, or the lookup failed. */
export class LookupFailed extends Data.TaggedError("LookupFailed")<{ readonly code: string }> {}

/** A host and port, or a Unix socket. */
export type DialTarget = Address | { readonly path: string }

/**
 * How the node reaches peers, proxies and DNS seeds. By default TCP and the system's resolver. A program provides
 * another transport to run nodes without a network.
 */
export class Transport extends Context.Reference<Transport>()("svcd/Transport", {
  defaultValue: (): TransportService => tcp
}) {}

export interface TransportService {
  /** Waits as long as the system does: the caller limits the time. The stream is destroyed when the scope closes. */
  readonly dial: (target: DialTarget) => Effect.Effect<PeerStream, DialFailed, Scope.Scope>
  /**
   * Listens while the scope is open. `accept` owns each stream. An empty host is every interface, port 0 any free port.
   * Returns the bound address.
   */
  readonly listen: (
    address: Address,
    accept: (stream: PeerStream) => void
  ) => Effect.Effect<Address, BindFailed, Scope.Scope>
  /** The IP addresses of a host. */
  readonly resolve: (host: string) => Effect.Effect<ReadonlyArray<string>, LookupFailed>
}

/** An error without a listener would end the process. */
const ignored = (): void => {}

export const tcp: TransportService = {
  dial: (target) =>
    Effect.acquireRelease(
      Effect.sync(() => connect({ ...target, noDelay: true }).on("error", ignored)),
      (socket) => Effect.sync(() => socket.destroy())
    ).pipe(
      Effect.flatMap((socket) =>
        Effect.async<PeerStream, DialFailed>((resume) => {
          socket.once("connect", () => resume(Effect.succeed(socket)))
          socket.once("error", (error) => resume(new DialFailed({ code: codeOf(error) })))
        })
      )
    ),

  listen: (address, accept) =>
    Effect.suspend(() => {
      const server = createServer({ noDelay: true }, (socket) => accept(socket.on("error", ignored)))
      // Each connection has its own owner, so closing does not wait for them.
      return Effect.acquireRelease(listenOn(server, address, "peers"), () => Effect.sync(() => server.close()))
    }),

  resolve: (host) =>
    Effect.tryPromise({
      try: () => dns.lookup(host, { all: true }),
      catch: (error) => new LookupFailed({ code: codeOf(error) })
    }).pipe(Effect.map((found) => found.map(({ address }) => address)))
}
