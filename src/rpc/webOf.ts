import * as Effect from "effect/Effect"
import * as http from "node:http"

/** Loads TLS only when needed: it takes long, and most daemons are local. */
export const webOf = (secure: boolean): Effect.Effect<Pick<typeof http, "Agent" | "request">> =>
  secure ? Effect.promise(() => import("node:https")) : Effect.succeed(http)
