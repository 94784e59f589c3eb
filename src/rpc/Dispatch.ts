import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isUtf8 } from "node:buffer"
import { encodeJson, type JsonValue } from "./encodeJson.ts"
import {
  encodeError,
  encodeResult,
  type Envelope,
  errorStatus,
  isNotification,
  type Malformed,
  readRequest,
  type Request
} from "./envelope.ts"
import { type Json, JsonObject, parseJson } from "./json.ts"
import { Lifecycle } from "./Lifecycle.ts"
import { type CallContext, type Method, type MethodTable, methodTable, type RunningCall } from "./method.ts"
import { RpcError } from "./RpcError.ts"
import { settled } from "./settled.ts"

/** What the transport knows about who asks. */
export type Caller = Pick<CallContext, "wallet" | "peer" | "remote">

/** The answer to an HTTP request: its status, and its body unless that is empty. */
export interface Reply {
  readonly status: number
  readonly body: string
}

/** A body that was read and not yet acted upon. */
export interface Call {
  /** How many requests it holds: 1, or the length of a batch. */
  readonly count: number
  /** Whether it waits for something to happen: it may be interrupted when nobody waits for it any more. */
  readonly waits: boolean
  /**
   * Carries it out. Where nothing has to be waited for, it is done when this returns, and the effect is an `Exit`
   * that needs no fiber.
   */
  readonly answer: (caller: Caller) => Effect.Effect<Reply>
}

/** Turns the bodies of requests into the bodies of their answers. Cannot fail: a failure is an answer too. */
export class Dispatch extends Context.Tag("svcd/Dispatch")<Dispatch, {
  /** Reads a body, bytes or text; what is no JSON-RPC is a call whose answer says so. */
  readonly read: (body: Uint8Array | string) => Call
  /** Says which methods there are, in place of those said before. */
  readonly install: (methods: MethodTable) => Effect.Effect<void>
  /** How many calls have begun and not ended. */
  readonly inFlight: () => number
}>() {}

/** A request that was carried out. */
export interface ObservedCall {
  /** The method, or `unknown` for all that do not exist. */
  readonly method: string
  /** From the parsed call to the encoded answer. */
  readonly seconds: number
  /** What the method itself took of that; `undefined` where none was run. */
  readonly ownSeconds: number | undefined
  readonly error: RpcError | undefined
}

export interface DispatchOptions {
  /** The methods there are from the start; `installed` brings them where they need what is not there yet. */
  readonly methods?: ReadonlyArray<Method>
  /** Is told of each request that was carried out. */
  readonly observe?: (call: ObservedCall) => void
  /** Is told of each request that was none: no JSON, or not of the form of a call. */
  readonly observeMalformed?: (error: RpcError) => void
  /** Characters of the reply to one batch; what would come behind them is refused. For tests. */
  readonly maxBatchReply?: number
}

/** JSON values in one body. A batch of 100,000 calls has fewer; so many take up to 200 MB of memory. */
const MAX_VALUES = 1_000_000

/** Where nothing else is said: half of what a string can hold. */
const MAX_BATCH_REPLY = 2 ** 28

/** How long a batch may keep others waiting, in milliseconds. */
const BATCH_SLICE = 10

const textOf = (body: Uint8Array): string | undefined =>
  isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8") : undefined

/** Lets sockets and timers have a turn; `Effect.yieldNow` would not. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const make = (options: DispatchOptions) =>
  Effect.map(Lifecycle, (lifecycle) => {
    const { maxBatchReply = MAX_BATCH_REPLY, observe, observeMalformed } = options
    let methods = methodTable(options.methods ?? [])
    const running = new Set<RunningCall>()

    /** Ends what waits for something when the node stops. */
    const stopped = Effect.zipRight(lifecycle.stopRequested, Effect.suspend(RpcError.shuttingDown))

    const contextOf = ({ peer, remote, wallet }: Caller): CallContext => ({
      wallet,
      peer,
      remote,
      methods,
      running: () => [...running]
    })

    /** The handler's effect. Whatever is thrown on the way to it is an outcome like any other. */
    const begin = (method: Method, request: Request, context: CallContext): Effect.Effect<JsonValue, RpcError> => {
      try {
        return method.call(request.params, context)
      } catch (error) {
        return error instanceof RpcError ? Exit.fail(error) : Exit.die(error)
      }
    }

    /** Carries out a request; `finish` makes the answer of its outcome. */
    const execute = <A>(
      request: Request,
      context: CallContext,
      finish: (outcome: string | RpcError) => A
    ): Effect.Effect<A> => {
      const phase = lifecycle.phase()
      const method = phase._tag === "WarmUp" ? undefined : context.methods.get(request.method)
      const call = { method: method?.name ?? UNKNOWN, since: performance.now() }
      let returned: number | undefined
      /** Notes that the method is done: what comes now is the encoding of its answer. */
      const methodReturned = (): void => {
        if (observe !== undefined) returned ??= performance.now()
      }
      const end = (outcome: string | RpcError): A => {
        running.delete(call)
        observe?.({
          method: call.method,
          seconds: (performance.now() - call.since) / 1000,
          ownSeconds: returned === undefined ? undefined : (returned - call.since) / 1000,
          error: typeof outcome === "string" ? undefined : outcome
        })
        return finish(outcome)
      }
      if (phase._tag === "WarmUp") return Exit.succeed(end(RpcError.warmUp(phase.step)))
      if (phase._tag === "Stopping") return Exit.succeed(end(RpcError.shuttingDown()))
      if (method === undefined) return Exit.succeed(end(RpcError.methodNotFound()))

      running.add(call)
      const failed = (cause: Cause.Cause<RpcError>): Effect.Effect<A> => {
        methodReturned()
        const error = Cause.failureOption(cause)
        if (Option.isSome(error)) return Exit.succeed(end(error.value))
        if (Cause.isInterruptedOnly(cause)) return Exit.succeed(end(RpcError.shuttingDown()))
        return Effect.map(
          Effect.logError("RPC method failed unexpectedly", { method: call.method }, cause),
          () => end(RpcError.internal())
        )
      }
      const succeeded = (result: JsonValue): Effect.Effect<A> => {
        methodReturned()
        try {
          return Exit.succeed(end(encodeJson(result)))
        } catch (defect) {
          return failed(Cause.die(defect))
        }
      }
      const result = begin(method, request, context)
      const exit = settled(result)
      if (exit !== undefined) return Exit.isSuccess(exit) ? succeeded(exit.value) : failed(exit.cause)
      if (!method.waits) return Effect.matchCauseEffect(result, { onFailure: failed, onSuccess: succeeded })
      return Effect.raceFirst(result, stopped).pipe(
        Effect.matchCauseEffect({ onFailure: failed, onSuccess: succeeded }),
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            methodReturned()
            end(RpcError.shuttingDown())
          })
        )
      )
    }

    const answerOne = (request: Request, caller: Caller): Effect.Effect<Reply> =>
      execute(request, contextOf(caller), (outcome): Reply => {
        if (isNotification(request)) return NO_CONTENT
        if (typeof outcome === "string") return { status: 200, body: encodeResult(request, outcome) }
        return { status: errorStatus(request, outcome), body: encodeError(request, outcome) }
      })

    const answerElement = (element: Json, context: CallContext): Effect.Effect<string> => {
      const request = readRequest(element)
      if ("error" in request) {
        observeMalformed?.(request.error)
        return Effect.succeed(isNotification(request) ? "" : encodeError(request, request.error))
      }
      return execute(request, context, (outcome) => {
        if (isNotification(request)) return ""
        return typeof outcome === "string" ? encodeResult(request, outcome) : encodeError(request, outcome)
      })
    }

    /** One after the other, in a loop for as long as nothing has to be waited for. */
    const answerBatch = (elements: ReadonlyArray<Json>, caller: Caller): Effect.Effect<Reply> => {
      const context = contextOf(caller)
      const replies: Array<string> = []
      let at = 0
      let length = 0
      let since = performance.now()
      const keep = (reply: string): void => {
        if (reply !== "") replies.push(reply)
        length += reply.length
      }
      const goOn = (): Effect.Effect<Reply> => {
        for (;;) {
          const element = elements[at]
          if (element === undefined) break
          at++
          if (length > maxBatchReply) {
            keep(refuseElement(element))
            continue
          }
          const answer = answerElement(element, context)
          const known = settled(answer)
          if (known === undefined) {
            return Effect.flatMap(answer, (reply) => {
              keep(reply)
              return goOnLater()
            })
          }
          if (Exit.isFailure(known)) return Exit.failCause(known.cause)
          keep(known.value)
          if (performance.now() - since > BATCH_SLICE) return goOnLater()
        }
        // Nobody waits for a batch of notifications; an empty batch holds none, and gets the answer it always got.
        if (replies.length === 0 && elements.length > 0) return NO_CONTENT_EXIT
        return Exit.succeed({ status: 200, body: `[${replies.join(",")}]` })
      }
      const inNewTurn = (): Effect.Effect<Reply> => {
        since = performance.now()
        return goOn()
      }
      const goOnLater = (): Effect.Effect<Reply> =>
        performance.now() - since > BATCH_SLICE ? Effect.flatMap(turn, inNewTurn) : goOn()
      return goOn()
    }

    /** The answer to a body that holds no call. */
    const refused = (request: Malformed, status: number): Call => ({
      count: 1,
      waits: false,
      answer: () => {
        observeMalformed?.(request.error)
        return Exit.succeed({ status, body: encodeError(request, request.error) })
      }
    })

    const read = (body: Uint8Array | string): Call => {
      const text = typeof body === "string" ? body : textOf(body)
      const value = text === undefined ? undefined : parseJson(text, MAX_VALUES)
      if (value === undefined) return refused({ version: "legacy", id: null, error: RpcError.parseError() }, 500)
      if (Array.isArray(value)) {
        return { count: value.length, waits: false, answer: (caller) => answerBatch(value, caller) }
      }
      if (!(value instanceof JsonObject)) {
        const error = RpcError.parseError("Top-level object parse error")
        return refused({ version: "legacy", id: null, error }, 500)
      }
      const request = readRequest(value)
      if ("error" in request) return refused(request, 400)
      const waits = methods.get(request.method)?.waits === true
      return { count: 1, waits, answer: (caller) => answerOne(request, caller) }
    }

    return Dispatch.of({
      read,
      install: (table) =>
        Effect.sync(() => {
          methods = table
        }),
      inFlight: () => running.size
    })
  })

/** What methods that do not exist are called in metrics. */
const UNKNOWN = "unknown"

const NO_CONTENT: Reply = { status: 204, body: "" }
const NO_CONTENT_EXIT = Exit.succeed(NO_CONTENT)

/** The answer to an element of a batch for whose result there is no room. */
const refuseElement = (element: Json): string => {
  const envelope: Envelope = readRequest(element)
  return isNotification(envelope) ? "" : encodeError(envelope, RpcError.internal("The reply to the batch is too large"))
}

/** The dispatcher. It answers -28 until the lifecycle says that the node is running. */
export const layer = (options: DispatchOptions = {}): Layer.Layer<Dispatch, never, Lifecycle> =>
  Layer.effect(Dispatch, make(options))

/** Installs methods once the services that they need are there. */
export const installed = <E, R>(
  methods: Effect.Effect<ReadonlyArray<Method>, E, R>
): Layer.Layer<never, E, R | Dispatch> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const dispatch = yield* Dispatch
    yield* dispatch.install(methodTable(yield* methods))
  }))
