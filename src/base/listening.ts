import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { Server } from "node:net"
import { type Address, formatHostPort } from "./addresses.ts"
import { codeOf, reasonOf } from "./errorCode.ts"

export class BindFailed extends Schema.TaggedError<BindFailed>()("BindFailed", {
  what: Schema.Literal("RPC", "metrics", "mail", "peers", "DNS", "Electrum"),
  address: Schema.String,
  /** The system's code, such as `EADDRINUSE`. */
  code: Schema.String
}) {
  override get message(): string {
    return `cannot listen on ${this.address} for ${this.what}: ${reasonOf(this.code)}`
  }
}

/**
 * An empty host is every interface, port 0 any free port. Returns the address with the actual port. Later errors, such
 * as too many open files, are logged: the listener continues, and refused clients retry.
 */
export const listenOn = (
  server: Server,
  { host, port }: Address,
  what: BindFailed["what"]
): Effect.Effect<Address, BindFailed> =>
  Effect.flatMap(Effect.runtime<never>(), (runtime) =>
    Effect.async((resume) => {
      const failed = (error: Error): void =>
        resume(new BindFailed({ what, address: formatHostPort({ host, port }), code: codeOf(error) }))
      const troubled = (error: Error): void =>
        void Runtime.runFork(runtime)(
          Effect.logWarning("accepting connections failed", { for: what, reason: reasonOf(codeOf(error)) })
        )
      server.once("error", failed)
      // Without a host, Node listens on IPv4 and IPv6, or on the one available.
      server.listen({ port, host: host === "" ? undefined : host }, () => {
        server.off("error", failed).on("error", troubled)
        const bound = server.address()
        resume(Effect.succeed({ host, port: typeof bound === "object" && bound !== null ? bound.port : port }))
      })
    }))
