import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
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

/** The same for several methods, in one request. The answers are in the order of the calls. */
export const askEach = (
  daemon: Daemon,
  calls: ReadonlyArray<readonly [method: string, params?: CallParams]>
): Effect.Effect<ReadonlyArray<Json | undefined>, RpcClientError> =>
  Effect.flatMap(
    daemon.batch(calls.map(([method, params = []]) => ({ method, params }))),
    (outcomes) => {
      const starting = outcomes.find((outcome) => Either.isLeft(outcome) && outcome.left.code === RPC_CODE.warmUp)
      return starting === undefined
        ? Effect.succeed(outcomes.map(Either.getOrUndefined))
        : Effect.map(starting, () => [])
    }
  )

/** Seconds between two blocks, on the networks with a steady rate. */
export const BLOCK_SECONDS = 600
