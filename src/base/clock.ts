import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Whole seconds since 1970, as in block headers and JSON-RPC. */
export const unixTime: Effect.Effect<number> = Effect.map(
  Clock.currentTimeMillis,
  (milliseconds) => Math.floor(milliseconds / 1000)
)
