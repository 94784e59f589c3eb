import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Server } from "node:net"
import { type Address, formatHostPort } from "./addresses.ts"

export class BindFailed extends Schema.TaggedError<BindFailed>()("BindFailed", {
  what: Schema.Literal("RPC", "metrics", "mail"),
  address: Schema.String,
  /** The system's error code, such as `EADDRINUSE`. */
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

/** The system's error code. For an error without a code, its name. */
export const codeOrName = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : error.name

/** Listens; an empty host is every interface, port 0 any free port. Returns the address with the actual port. */
export const listenOn = (
  server: Server,
  { host, port }: Address,
  what: BindFailed["what"]
): Effect.Effect<Address, BindFailed> =>
  Effect.async((resume) => {
    const failed = (error: Error): void =>
      resume(new BindFailed({ what, address: formatHostPort({ host, port }), code: codeOrName(error) }))
    server.once("error", failed)
    server.listen({ port, host: host === "" ? undefined : host }, () => {
      server.removeListener("error", failed)
      const bound = server.address()
      resume(Effect.succeed({ host, port: typeof bound === "object" && bound !== null ? bound.port : port }))
    })
  })
