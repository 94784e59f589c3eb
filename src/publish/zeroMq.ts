import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import type { Bytes } from "../protocol/bytes.ts"

/** The used part of the optional package `zeromq`, whose native code does not exist for all platforms. */

export interface PublisherSocket {
  bind(address: string): Promise<void>
  /** Only one at a time. */
  send(parts: ReadonlyArray<string | Bytes>): Promise<void>
  close(): void
}

interface ZeroMq {
  readonly Publisher: new(options: {
    readonly sendHighWaterMark: number
    readonly tcpKeepalive: number
    readonly ipv6: boolean
    readonly linger: number
  }) => PublisherSocket
}

/** The package is missing, or its native code does not load. */
export class ZeroMqMissing extends Schema.TaggedError<ZeroMqMissing>()("ZeroMqMissing", {
  option: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.option} needs the package zeromq, which cannot be loaded (${this.reason}); ` +
      "install it beside svcd with npm install zeromq@6, or remove the -zmqpub options"
  }
}

const isZeroMq = (loaded: unknown): loaded is ZeroMq =>
  typeof loaded === "object" && loaded !== null && "Publisher" in loaded && typeof loaded.Publisher === "function"

/** Loads the package; `option` is the one that needs it. */
export const loadZeroMq = (option: string): Effect.Effect<ZeroMq, ZeroMqMissing> =>
  Effect.try({
    try: (): unknown => createRequire(import.meta.url)("zeromq"),
    catch: (cause) =>
      new ZeroMqMissing({
        option,
        reason: (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? ""
      })
  }).pipe(Effect.filterOrFail(
    isZeroMq,
    () => new ZeroMqMissing({ option, reason: "it has no publisher sockets" })
  ))

/** An IPv6 address in brackets. Only Linux may be asked for IPv6 without one. */
const IPV6 = /^tcp:\/\/\[/

/** Opens a socket at a libzmq address, with the number of messages kept for a slow subscriber. */
export const openPublisher = (
  { Publisher }: ZeroMq,
  { address, hwm }: { readonly address: string; readonly hwm: number }
) =>
  Effect.acquireRelease(
    Effect.sync(() => new Publisher({ sendHighWaterMark: hwm, tcpKeepalive: 1, ipv6: IPV6.test(address), linger: 0 })),
    (socket) => Effect.sync(() => socket.close())
  ).pipe(Effect.tap((socket) => Effect.tryPromise(() => socket.bind(address))))
