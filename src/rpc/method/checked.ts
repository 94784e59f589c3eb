import * as Effect from "effect/Effect"
import { RpcError } from "./RpcError.ts"

/** Runs what throws an `RpcError` for a parameter that it does not take, as readers of parameters do. */
export const checked = <A>(read: () => A): Effect.Effect<A, RpcError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      if (error instanceof RpcError) return Effect.fail(error)
      throw error
    }
  })
