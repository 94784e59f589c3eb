import * as Effect from "effect/Effect"
import * as http from "node:http"

/** Node's client of HTTP. TLS takes long to load, and most daemons are on the same machine. */
export const webOf = (secure: boolean): Effect.Effect<Pick<typeof http, "Agent" | "request">> =>
  secure ? Effect.promise(() => import("node:https")) : Effect.succeed(http)
