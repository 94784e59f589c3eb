import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Json } from "../../rpc/json/json.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { CallParams, RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"

/**
 * Returns `undefined` for an error response, because some daemons lack the method. Fails without a response, and while
 * the daemon starts.
 */
export const ask = (
  daemon: Daemon,
  method: string,
  params?: CallParams
): Effect.Effect<Json | undefined, RpcClientError> =>
  Effect.catchIf(
    daemon.ask(method, params),
    (error) => error._tag === "RpcFailure" && error.code !== RPC_CODE.warmUp,
    () => Effect.succeed(undefined)
  )

/** Whether the user lacks the right to a call, or to any call of a batch (docs/security.md). */
export const isForbidden = (error: RpcClientError): boolean => error._tag === "UnexpectedReply" && error.status === 403

/**
 * Sends the calls as one batch and returns their results in order. The daemon refuses a whole batch for one forbidden
 * call; the calls are then sent one by one.
 */
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
  ).pipe(Effect.catchIf(isForbidden, () =>
    Effect.forEach(calls, ([method, params]) =>
      Effect.catchIf(ask(daemon, method, params), isForbidden, () =>
        Effect.succeed(undefined)))))

export const BLOCK_SECONDS = 600
