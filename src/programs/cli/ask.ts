import * as Effect from "effect/Effect"
import type { Json } from "../../rpc/json/json.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { CallParams, RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"

/** Calls a method that not every daemon has: `undefined` if it answers with an error. Fails without an answer. */
export const ask = (
  daemon: Daemon,
  method: string,
  params?: CallParams
): Effect.Effect<Json | undefined, RpcClientError> =>
  Effect.catchIf(
    daemon.call(method, params),
    (error) => error._tag === "RpcFailure" && error.code !== RPC_CODE.warmUp,
    () => Effect.succeed(undefined)
  )

/** Seconds between two blocks, on the networks with a steady rate. */
export const BLOCK_SECONDS = 600
