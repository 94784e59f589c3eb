import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Server } from "node:net"
import { type Address, formatHostPort } from "./addresses.ts"
import { codeOf, reasonOf } from "./errorCode.ts"

export class BindFailed extends Schema.TaggedError<BindFailed>()("BindFailed", {
  what: Schema.Literal("RPC", "metrics", "mail"),
  address: Schema.String,
  /** The system's error code, such as `EADDRINUSE`. */
  code: Schema.String
}) {
  override get message(): string {
    return `cannot listen on ${this.address} for ${this.what}: ${reasonOf(this.code)}`
  }
}

/** Listens; an empty host is every interface, port 0 any free port. Returns the address with the actual port. */
export const listenOn = (
  server: Server,
  { host, port }: Address,
  what: BindFailed["what"]
): Effect.Effect<Address, BindFailed> =>
  Effect.async((resume) => {
    const failed = (error: Error): void =>
      resume(new BindFailed({ what, address: formatHostPort({ host, port }), code: codeOf(error) }))
    server.once("error", failed)
    server.listen({ port, host: host === "" ? undefined : host }, () => {
      server.removeListener("error", failed)
      const bound = server.address()
      resume(Effect.succeed({ host, port: typeof bound === "object" && bound !== null ? bound.port : port }))
    })
  })
