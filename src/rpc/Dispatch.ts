import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isUtf8 } from "node:buffer"
import { answerBatch, NO_CONTENT, type Reply } from "./batch.ts"
import { type AnswerMemory, UNCOUNTED } from "./CallerMemory.ts"
import {
  aroundResult,
  encodeError,
  encodeResult,
  errorStatus,
  isNotification,
  type Malformed,
  readRequest,
  type Request
} from "./envelope.ts"
import { encodeJson, type JsonValue } from "./json/encodeJson.ts"
import { type Json, JsonObject } from "./json/json.ts"
import { LongText } from "./json/LongText.ts"
import { type ReadJson, readJson, readJsonSteps } from "./json/readJson.ts"
import { Lifecycle } from "./Lifecycle.ts"
import { encodeLong, isLong } from "./longAnswer.ts"
import { inTurns } from "./method/inTurns.ts"
import { type CallContext, type Method, type MethodTable, methodTable, type RunningCall } from "./method/methodTable.ts"
import { RpcError } from "./method/RpcError.ts"
import { settled } from "./settled.ts"
import { SlowLane } from "./SlowLane.ts"

/** What the transport knows about who asks. */
export interface Caller extends Pick<CallContext, "wallet" | "peer" | "remote"> {
  /** What counts the bytes of a long answer; without it they are not counted. */
  readonly memory?: AnswerMemory
}

/** A body that was read and not yet acted upon. */
export interface Call {
  /** How many requests it holds: 1, or the length of a batch. */
  readonly count: number
  /** Whether it waits for something to happen: it may be interrupted when nobody waits for it any more. */
  readonly waits: boolean
  /** Bytes that it holds while it is carried out: its text, and what was made of that. */
  readonly weight: number
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
  /** The same for a body of any length: a long one is read in turns with other costly work, one body at a time. */
  readonly readLong: (body: Uint8Array) => Effect.Effect<Call>
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
  /** JSON values in one body; what they take is `VALUE_BYTES` each. */
  readonly maxValues?: number
}

/** JSON values in one body. A batch of 100,000 calls has fewer; so many take up to 200 MB of memory. */
const MAX_VALUES = 1_000_000

/** What one of them takes, in bytes. */
const VALUE_BYTES = 200

/** Requests in one batch. */
const MAX_BATCH = 100_000

/** Where nothing else is said. */
const MAX_BATCH_REPLY = 2 ** 25

/** Heavy calls that are carried out at a time: enough for one to go on while others wait for the disk. */
const HEAVY_CALLS = 4

/**
 * Weight of a call from which it is carried out while no other such call is: what it makes of its parameters may take
 * dozens of times their length.
 */
const LARGE = 500_000

/** What surrounds a request that is carried out. */
interface Around {
  readonly memory: AnswerMemory | undefined
  /** Whether the body that it came in is a large one. */
  readonly large: boolean
}

/** Bytes of a body that is read at once: about a millisecond. */
const SHORT_BODY = 65_536

/** What is read of a body that is no text. */
const NO_JSON: ReadJson = { read: undefined, values: 0 }

const textOf = (body: Uint8Array): string | undefined =>
  isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8") : undefined

/** Room for a body's values: a caller may hold so many bytes. */
export const valuesWithin = (bytes: number): number => Math.min(MAX_VALUES, Math.floor(bytes / VALUE_BYTES))

const make = (options: DispatchOptions) =>
  Effect.map(Lifecycle, (lifecycle) => {
    const { maxBatchReply = MAX_BATCH_REPLY, maxValues = MAX_VALUES, observe, observeMalformed } = options
    const heavyCalls = Effect.unsafeMakeSemaphore(HEAVY_CALLS)
    let methods = methodTable(options.methods ?? [])
    const running = new Set<RunningCall>()
    const lane = new SlowLane()
    const searches = Effect.unsafeMakeSemaphore(HEAVY_CALLS)
    const largeCalls = Effect.unsafeMakeSemaphore(1)
    const longBodies = Effect.unsafeMakeSemaphore(1)

    /** Ends what waits for something when the node stops. */
    const stopped = Effect.zipRight(lifecycle.stopRequested, Effect.suspend(RpcError.shuttingDown))

    const contextOf = ({ peer, remote, wallet }: Caller): CallContext => ({
      wallet,
      peer,
      remote,
      methods,
      turns: lane.open(),
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

    /**
     * Where a costly call waits for its turn. One that may wait long itself, as a search does for another, has a place of
     * its own kind, so that it holds no other call up.
     */
    const placeOf = ({ heavy, waits }: Method, large: boolean): Effect.Semaphore | undefined => {
      if (waits) return heavy ? searches : undefined
      if (large) return largeCalls
      return heavy ? heavyCalls : undefined
    }

    /** Carries out a request; `finish` makes the answer of its outcome. */
    const execute = <A>(
      request: Request,
      context: CallContext,
      { large, memory }: Around,
      finish: (outcome: string | LongText | RpcError) => A
    ): Effect.Effect<A> => {
      const phase = lifecycle.phase()
      const method = phase._tag === "WarmUp" ? undefined : context.methods.get(request.method)
      const call = { method: method?.name ?? UNKNOWN, since: performance.now() }
      let returned: number | undefined
      /** Notes that the method is done: what comes now is the encoding of its answer. */
      const methodReturned = (): void => {
        if (observe !== undefined) returned ??= performance.now()
      }
      const end = (outcome: string | LongText | RpcError): A => {
        running.delete(call)
        observe?.({
          method: call.method,
          seconds: (performance.now() - call.since) / 1000,
          ownSeconds: returned === undefined ? undefined : (returned - call.since) / 1000,
          error: outcome instanceof RpcError ? outcome : undefined
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
          if (isLong(result)) {
            return Effect.matchCauseEffect(encodeLong(result, memory, context.turns), {
              onFailure: failed,
              onSuccess: (text) => Exit.succeed(end(text))
            })
          }
          return Exit.succeed(end(encodeJson(result)))
        } catch (defect) {
          return failed(Cause.die(defect))
        }
      }
      /** The answer to what comes later. A caller who goes away ends a call that waits. */
      const answered = (result: Effect.Effect<JsonValue, RpcError>): Effect.Effect<A> =>
        Effect.matchCauseEffect(method.waits ? Effect.raceFirst(result, stopped) : result, {
          onFailure: failed,
          onSuccess: succeeded
        })
      const interrupted = Effect.sync(() => {
        methodReturned()
        end(RpcError.shuttingDown())
      })
      const place = placeOf(method, large)
      if (place !== undefined) {
        const result = Effect.flatMap(context.turns.next, () => begin(method, request, context))
        return Effect.onInterrupt(place.withPermits(1)(answered(result)), () => interrupted)
      }
      const result = begin(method, request, context)
      const exit = settled(result)
      if (exit !== undefined) return Exit.isSuccess(exit) ? succeeded(exit.value) : failed(exit.cause)
      return Effect.onInterrupt(answered(result), () => interrupted)
    }

    const answerOne = (request: Request, caller: Caller, large: boolean): Effect.Effect<Reply> =>
      execute(request, contextOf(caller), { memory: caller.memory, large }, (outcome): Reply => {
        if (isNotification(request)) return dropped(NO_CONTENT, outcome, caller.memory)
        if (outcome instanceof RpcError) {
          return { status: errorStatus(request, outcome), body: encodeError(request, outcome) }
        }
        return { status: 200, body: replyOf(request, outcome) }
      })

    const answerElement = (
      element: Json,
      context: CallContext,
      around: Around
    ): Effect.Effect<string | LongText> => {
      const request = readRequest(element)
      if ("error" in request) {
        observeMalformed?.(request.error)
        return Effect.succeed(isNotification(request) ? "" : encodeError(request, request.error))
      }
      return execute(request, context, around, (outcome) => {
        if (isNotification(request)) return dropped("", outcome, around.memory)
        return outcome instanceof RpcError ? encodeError(request, outcome) : replyOf(request, outcome)
      })
    }

    /** The answer to a body that holds no call. */
    const refused = (request: Malformed, status: number): Call => ({
      count: 1,
      waits: false,
      weight: 0,
      answer: () => {
        observeMalformed?.(request.error)
        return Exit.succeed({ status, body: encodeError(request, request.error) })
      }
    })

    const callOf = (text: string | undefined, { read: value, values }: ReadJson): Call => {
      if (value === undefined) {
        const error = values > maxValues
          ? RpcError.invalidRequest(`The request holds more than ${maxValues} values; send it in parts`)
          : RpcError.parseError()
        return refused({ version: "legacy", id: null, error }, 500)
      }
      const weight = (text?.length ?? 0) + values * VALUE_BYTES
      if (Array.isArray(value)) {
        if (value.length > MAX_BATCH) {
          const error = RpcError.invalidRequest(`A batch holds at most ${MAX_BATCH} requests; this one ${value.length}`)
          return refused({ version: "legacy", id: null, error }, 400)
        }
        const answer = (caller: Caller): Effect.Effect<Reply> => {
          const context = contextOf(caller)
          return answerBatch(value, {
            memory: caller.memory ?? UNCOUNTED,
            turns: context.turns,
            maxReply: maxBatchReply,
            answer: (element) => answerElement(element, context, { memory: caller.memory, large: weight > LARGE })
          })
        }
        return { count: value.length, waits: false, weight, answer }
      }
      if (!(value instanceof JsonObject)) {
        const error = RpcError.parseError("Top-level object parse error")
        return refused({ version: "legacy", id: null, error }, 500)
      }
      const request = readRequest(value)
      if ("error" in request) return refused(request, 400)
      const waits = methods.get(request.method)?.waits === true
      return { count: 1, waits, weight, answer: (caller) => answerOne(request, caller, weight > LARGE) }
    }

    const read = (body: Uint8Array | string): Call => {
      const text = typeof body === "string" ? body : textOf(body)
      return callOf(text, text === undefined ? NO_JSON : readJson(text, maxValues))
    }

    const readInTurns = (body: Uint8Array): Effect.Effect<Call> => {
      const turns = lane.open()
      return Effect.gen(function*() {
        yield* turns.next
        const text = textOf(body)
        if (text === undefined) return callOf(text, NO_JSON)
        yield* turns.next
        const read = yield* inTurns(turns, readJsonSteps(text, maxValues))
        return callOf(text, read)
      })
    }

    return Dispatch.of({
      read,
      readLong: (body) =>
        body.length <= SHORT_BODY ? Exit.succeed(read(body)) : longBodies.withPermits(1)(readInTurns(body)),
      install: (table) =>
        Effect.sync(() => {
          methods = table
        }),
      inFlight: () => running.size
    })
  })

/** What methods that do not exist are called in metrics. */
const UNKNOWN = "unknown"

/** The reply to a request that was carried out. */
const replyOf = (request: Request, result: string | LongText): string | LongText => {
  if (typeof result === "string") return encodeResult(request, result)
  const [before, behind] = aroundResult(request)
  return new LongText([Buffer.from(before), ...result.pieces, Buffer.from(behind)])
}

/** What is answered where the outcome is not wanted, whose bytes are given back. */
const dropped = <A>(answer: A, outcome: string | LongText | RpcError, memory: AnswerMemory | undefined): A => {
  if (outcome instanceof LongText) memory?.give(outcome.length)
  return answer
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
