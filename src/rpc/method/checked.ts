import * as Effect from "effect/Effect"
import { RpcError } from "./RpcError.ts"

/** Runs a reader that throws an `RpcError` for an invalid parameter, and turns the exception into a failure. */
export const checked = <A>(read: () => A): Effect.Effect<A, RpcError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      if (error instanceof RpcError) return Effect.fail(error)
      throw error
    }
  })
