import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { notPermitted, type Permitted } from "../http/permissions.ts"
import type { Caller, Dispatch } from "../rpc/Dispatch.ts"
import type { LongText } from "../rpc/json/LongText.ts"
import { RPC_REASONS, type RpcReason } from "../rpc/method/RpcError.ts"

/** The desk acts through RPC alone: with the methods, the rights and the errors of the user of the session. */

/** `forbidden`: the user may not call the method. `unclear`: the answer does not say what happened. */
export type FailureCode = number | "forbidden" | "unclear"

export class CallFailed extends Data.TaggedError("CallFailed")<{
  readonly method: string
  readonly code: FailureCode
  /** The text of RPC. */
  readonly message: string
  readonly reason?: FailureReason | undefined
}> {}

/**
 * The reasons of RPC, and what the desk finds by itself: the name was `changed` in another window, or another transaction that waits
 * for a block spends the coins (`in-use`).
 */
export type FailureReason = RpcReason | "changed" | "in-use"

/** What RPC takes as parameters here. Amounts are texts. */
export type CallParam = string | number | boolean | null | ReadonlyArray<CallParam> | {
  readonly [key: string]: CallParam
}

export interface Calls {
  readonly may: (method: string) => boolean
  readonly call: <A, I>(
    method: string,
    params: ReadonlyArray<CallParam>,
    answer: Schema.Schema<A, I>
  ) => Effect.Effect<A, CallFailed>
}

export interface DeskCaller extends Pick<Caller, "peer" | "remote" | "wallet"> {
  readonly permitted: Permitted
}

const Reply = Schema.parseJson(Schema.Struct({
  result: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.NullOr(Schema.Struct({
    code: Schema.Number,
    message: Schema.String,
    data: Schema.optional(Schema.Struct({ reason: Schema.Literal(...RPC_REASONS) }))
  })))
}))

const textOf = (body: string | LongText): string =>
  typeof body === "string" ? body : Buffer.concat([...body.pieces]).toString("utf8")

export const makeCalls = (dispatch: typeof Dispatch.Service, { permitted, ...caller }: DeskCaller): Calls => {
  return {
    may: (method) => notPermitted(permitted, [dispatch.demandOf(method)]) === undefined,
    call: (method, params, answer) => {
      const call = dispatch.read(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))
      if (notPermitted(permitted, call.demands()) !== undefined) {
        return new CallFailed({ method, code: "forbidden", message: "your user may not do this" })
      }
      const unclear = () => new CallFailed({ method, code: "unclear", message: `${method} gave an unexpected answer` })
      return Effect.flatMap(call.answer({ ...caller, rights: permitted?.rights }), ({ body }) => {
        const reply = Schema.decodeUnknownEither(Reply)(textOf(body))
        if (Either.isLeft(reply)) return unclear()
        const { error, result } = reply.right
        if (error !== undefined && error !== null) {
          return new CallFailed({ method, code: error.code, message: error.message, reason: error.data?.reason })
        }
        return Effect.mapError(Schema.decodeUnknown(answer)(result), unclear)
      })
    }
  }
}

/** The result of a method, and `undefined` where it fails with one of these codes. */
export const unless = <A>(
  effect: Effect.Effect<A, CallFailed>,
  codes: ReadonlyArray<FailureCode>
): Effect.Effect<A | undefined, CallFailed> =>
  Effect.catchIf(effect, ({ code }) => codes.includes(code), () => Effect.succeed(undefined))
