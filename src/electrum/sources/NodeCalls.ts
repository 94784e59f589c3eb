import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Dispatch } from "../../rpc/Dispatch.ts"
import { encodeJson, type JsonValue } from "../../rpc/json/encodeJson.ts"
import { type Json, JsonObject } from "../../rpc/json/json.ts"
import { parseJson } from "../../rpc/json/readJson.ts"
import { rpcFailureOf } from "../../rpc/RpcClient.ts"
import { CODE, ElectrumError } from "../protocol/ElectrumError.ts"
import { quotedText } from "../protocol/pythonText.ts"

/** The node's own methods of JSON-RPC, where other Electrum servers ask their daemon. */

export class NodeRefused extends Data.TaggedError("NodeRefused")<{
  readonly code: number
  readonly message: string
}> {}

export interface NodeCalls {
  readonly call: (method: string, params?: ReadonlyArray<JsonValue>) => Effect.Effect<Json, NodeRefused>
  /** The same for a method whose refusal the client only passes on. */
  readonly ask: (method: string, params?: ReadonlyArray<JsonValue>) => Effect.Effect<Json, ElectrumError>
}

const INTERNAL = -32_603

/** Methods that the server calls; clients cannot choose others. */
const CALLER = { wallet: undefined, peer: "electrum", remote: true }

const LONGEST_CALL = "30 seconds"

const BUSY = { code: CODE.busy, message: "server busy - request timed out" }

/** What the client reads of a refusal; of one that came in time, what `refused` makes of its message. */
export const afterRefusal = (refused: (message: string) => ElectrumError) => ({ code, message }: NodeRefused) =>
  code === BUSY.code ? new ElectrumError(BUSY) : refused(message)

const electrumError = (refusal: NodeRefused): ElectrumError =>
  afterRefusal((message) =>
    new ElectrumError({
      code: CODE.daemonError,
      message: `daemon error: DaemonError({'code': ${refusal.code}, 'message': ${quotedText(message)}})`
    })
  )(refusal)

export const makeNodeCalls = (dispatch: typeof Dispatch.Service): NodeCalls => {
  const call: NodeCalls["call"] = (method, params = []) =>
    Effect.suspend(() => dispatch.read(encodeJson({ jsonrpc: "2.0", id: 1, method, params })).answer(CALLER)).pipe(
      Effect.flatMap(({ body }): Effect.Effect<Json, NodeRefused> => {
        const reply = parseJson(String(body))
        if (!(reply instanceof JsonObject)) {
          return new NodeRefused({ code: INTERNAL, message: `${method} gave an unexpected answer` })
        }
        const error = reply.get("error") ?? null
        return error === null ? Effect.succeed(reply.get("result") ?? null) : new NodeRefused(rpcFailureOf(error))
      }),
      Effect.timeoutFail({ duration: LONGEST_CALL, onTimeout: () => new NodeRefused(BUSY) })
    )
  return { call, ask: (method, params) => Effect.mapError(call(method, params), electrumError) }
}
