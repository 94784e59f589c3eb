import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Dispatch from "../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import type { Method } from "../../src/rpc/method/methodTable.ts"
import { FAKE_METHODS } from "../support/rpcServer.ts"

export const CALLER: Dispatch.Caller = { wallet: undefined, peer: "127.0.0.1:1", remote: false }

export interface Observed {
  readonly method: string
  readonly code: number | undefined
  readonly ran: boolean
}

export interface SetUp {
  readonly methods?: ReadonlyArray<Method>
  readonly warmUp?: boolean
  readonly maxBatchReply?: number
  readonly checksAnswers?: boolean
}

export const setUp = (
  { checksAnswers = false, maxBatchReply = 1_000_000_000, methods = FAKE_METHODS, warmUp = false }: SetUp = {}
) =>
  Effect.gen(function*() {
    const observed: Array<Observed> = []
    const malformed: Array<number> = []
    const context = yield* Layer.build(Layer.provideMerge(
      Dispatch.layer({
        methods,
        maxBatchReply,
        checksAnswers,
        observe: ({ error, method, ownSeconds, seconds }) => {
          assert.isAtLeast(seconds, ownSeconds ?? 0)
          observed.push({ method, code: error?.code, ran: ownSeconds !== undefined })
        },
        observeMalformed: ({ code }) => void malformed.push(code)
      }),
      Lifecycle.layer
    ))
    return yield* Effect.gen(function*() {
      const dispatch = yield* Dispatch.Dispatch
      const lifecycle = yield* Lifecycle.Lifecycle
      if (!warmUp) yield* lifecycle.running
      const answer = (body: string | Uint8Array) =>
        Effect.map(dispatch.read(body).answer(CALLER), (reply) => ({ ...reply, body: String(reply.body) }))
      return { answer, dispatch, lifecycle, malformed, observed }
    }).pipe(Effect.provide(context))
  })

export const HEIGHT_ERROR = "{\"code\":-8,\"message\":\"Block height out of range\"}"
export const UNKNOWN = "{\"code\":-32601,\"message\":\"Method not found\"}"
