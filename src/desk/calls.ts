import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { notPermitted } from "../http/permissions.ts"
import type { Caller, Dispatch } from "../rpc/Dispatch.ts"
import { encodeJson } from "../rpc/json/encodeJson.ts"
import { JsonObject } from "../rpc/json/json.ts"
import type { LongText } from "../rpc/json/LongText.ts"
import { parseJson } from "../rpc/json/readJson.ts"
import { type CallOf, positionsOf, type ResultOf, resultOf } from "../rpc/method/calling.ts"
import type { Contract } from "../rpc/method/contract.ts"
import type { AdmittedUser } from "../rpc/method/permission.ts"
import type { RpcReason } from "../rpc/method/RpcError.ts"
import { rpcFailureOf } from "../rpc/RpcClient.ts"

/** The desk acts only through RPC, with the methods, rights and errors of the session's user. */

/** `forbidden`: the user may not call the method. `unclear`: the answer does not say what happened. */
export type FailureCode = number | "forbidden" | "unclear"

export class CallFailed extends Data.TaggedError("CallFailed")<{
  readonly method: string
  readonly code: FailureCode
  readonly message: string
  readonly reason?: FailureReason | undefined
}> {}

/** The reasons of RPC, and what only the desk finds: the name was changed in another window. */
export type FailureReason = RpcReason | "changed"

export interface Calls {
  readonly may: (method: string) => boolean
  readonly call: <C extends Contract>(contract: C, given: CallOf<C>) => Effect.Effect<ResultOf<C>, CallFailed>
}

export interface DeskCaller extends Pick<Caller, "peer" | "remote" | "wallet"> {
  readonly user: AdmittedUser
}

const textOf = (body: string | LongText): string =>
  typeof body === "string" ? body : Buffer.concat([...body.pieces]).toString("utf8")

export const makeCalls = (dispatch: typeof Dispatch.Service, caller: DeskCaller): Calls => {
  const { permitted } = caller.user
  return {
    may: (method) => notPermitted(permitted, [dispatch.demandOf(method)]) === undefined,
    call: <C extends Contract>(contract: C, given: CallOf<C>) => {
      const { name: method } = contract
      const call = dispatch.read(encodeJson({ jsonrpc: "2.0", id: 1, method, params: positionsOf(contract, given) }))
      if (notPermitted(permitted, call.demands()) !== undefined) {
        return new CallFailed({ method, code: "forbidden", message: "your user does not have the right to do this" })
      }
      return Effect.flatMap(
        call.answer({ ...caller, rights: permitted?.rights }),
        ({ body }): Effect.Effect<ResultOf<C>, CallFailed> => {
          const reply = parseJson(textOf(body))
          if (!(reply instanceof JsonObject)) return unclear(contract)
          const error = reply.get("error") ?? null
          if (error !== null) return new CallFailed({ method, ...rpcFailureOf(error) })
          const result = resultOf(contract, reply.get("result") ?? null)
          return result === undefined ? unclear(contract) : Effect.succeed(result.value)
        }
      )
    }
  }
}

export const unclear = ({ name }: Contract): CallFailed =>
  new CallFailed({ method: name, code: "unclear", message: `${name} gave an unexpected answer` })

/** `undefined` if it fails with one of these codes. */
export const unless = <A>(
  effect: Effect.Effect<A, CallFailed>,
  codes: ReadonlyArray<FailureCode>
): Effect.Effect<A | undefined, CallFailed> =>
  Effect.catchIf(effect, ({ code }) => codes.includes(code), () => Effect.succeed(undefined))
