import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Server } from "node:net"
import { type Address, formatAddress } from "./addresses.ts"

/** An address cannot be listened on. */
export class BindFailed extends Schema.TaggedError<BindFailed>()("BindFailed", {
  /** What was to be served there. */
  what: Schema.Literal("RPC", "metrics", "mail"),
  address: Schema.String,
  /** The system's word for the reason, such as `EADDRINUSE`. */
  code: Schema.String
}) {
  override get message(): string {
    return `cannot listen on ${this.address} for ${this.what}: ${REASONS.get(this.code) ?? this.code}`
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "the address is in use; another program, or another svcd, listens there"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["EACCES", "permission denied"],
  ["ENOTFOUND", "the host is not known"]
])

/** The system's word for what went wrong; the name of an error that is not the system's. */
export const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : error.name

/**
 * Has a server listen. An empty host is every interface, port 0 any free one; returns the address with the port that was
 * found.
 */
export const listenOn = (
  server: Server,
  { host, port }: Address,
  what: BindFailed["what"]
): Effect.Effect<Address, BindFailed> =>
  Effect.async((resume) => {
    const failed = (error: Error): void =>
      resume(new BindFailed({ what, address: formatAddress({ host, port }), code: codeOf(error) }))
    server.once("error", failed)
    server.listen({ port, host: host === "" ? undefined : host }, () => {
      server.removeListener("error", failed)
      const bound = server.address()
      resume(Effect.succeed({ host, port: typeof bound === "object" && bound !== null ? bound.port : port }))
    })
  })
