import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { monotonic } from "../base/clock.ts"
import { FairPlaces } from "../base/FairPlaces.ts"
import { withTracedSpan } from "../base/spans.ts"
import type { AnswerMemory } from "./CallerMemory.ts"
import type { Request } from "./envelope.ts"
import { encodeJson, type JsonValue } from "./json/encodeJson.ts"
import type { LongText } from "./json/LongText.ts"
import { parseJson } from "./json/readJson.ts"
import type { Lifecycle } from "./Lifecycle.ts"
import { encodeLong, isLong, noMemory } from "./longAnswer.ts"
import { checkAnswer } from "./method/answerFault.ts"
import type { CallContext, Method, RunningCall } from "./method/methodTable.ts"
import { RpcError } from "./method/RpcError.ts"
import { HEAVY_WORK } from "./method/work.ts"
import { settled } from "./settled.ts"

export interface ObservedCall {
  /** `unknown` if it does not exist. */
  readonly method: string
  /** From the parsed call to the encoded answer. */
  readonly seconds: number
  /** Time of the method itself; `undefined` if none ran. */
  readonly ownSeconds: number | undefined
  readonly error: RpcError | undefined
  /** Ended without an answer: the caller left or lost its place. */
  readonly abandoned: boolean
}

/** At a time: one runs while others wait for the disk, and one place is left for another user. */
const HEAVY_CALLS = { total: 4, each: 3 }

/** JSON text or an error. */
export type CallOutcome = string | LongText | RpcError

/** Shared by the requests of a body. */
export interface Around<out A> {
  readonly context: CallContext
  readonly memory: AnswerMemory | undefined
  readonly finish: (request: Request, outcome: CallOutcome) => A
}

/** Without functions, as a batch has thousands of these. */
interface Begun<out A> extends RunningCall, Around<A> {
  readonly request: Request
  /** Bytes of the caller's memory for its work. */
  held: number
  /** When the method was done. */
  returned: number | undefined
}

/** Ten microseconds instead of fifteen: a stack trace to this file says nothing about the call. */
const RPC_SPAN = { kind: "server", captureStackTrace: false } as const

const UNKNOWN = "unknown"

/** Why the answer matches no documented result. */
const answerFault = ({ context, method: name }: Begun<unknown>, text: string | LongText): string | undefined => {
  const method = context.methods.get(name)
  if (method === undefined || method.own) return undefined
  const json = parseJson(String(text))
  if (json === undefined) return `${name} answers with something that is not JSON`
  const checked = checkAnswer(method, json, context.rights)
  return checked._tag === "Fault" ? checked.reason : undefined
}

export interface CallRunner {
  /** Only one `large` call runs at a time. Without anything to wait for, the effect is an `Exit`, without a fiber. */
  readonly execute: <A>(request: Request, around: Around<A>, large: boolean) => Effect.Effect<A>
  readonly running: ReadonlySet<RunningCall>
}

export interface CallRunnerOptions {
  readonly observe?: (call: ObservedCall) => void
  /** Compare each answer with the method's results. */
  readonly checksAnswers?: boolean
}

/** Counts the work of a call before it begins, or returns the refusal. */
const takeWork = (call: Begun<unknown>, bytes: number): RpcError | undefined => {
  const { context: { work }, memory } = call
  // The reference node has this text for each range.
  if (bytes > work.bytes) return RpcError.invalidParameter("Range is too large")
  if (memory?.take(bytes) === false) return noMemory()
  work.bytes -= bytes
  call.held = bytes
  return undefined
}

/** An exception of the handler is a defect. */
const begin = (method: Method, request: Request, context: CallContext): Effect.Effect<JsonValue, RpcError> => {
  try {
    return method.call(request.params, context)
  } catch (error) {
    return Exit.die(error)
  }
}

export const makeCallRunner = (
  lifecycle: Context.Tag.Service<Lifecycle>,
  { checksAnswers = false, observe }: CallRunnerOptions
): CallRunner => {
  const running = new Set<RunningCall>()
  const heavyCalls = new FairPlaces(HEAVY_CALLS)
  const searches = new FairPlaces(HEAVY_CALLS)
  const largeCalls = new FairPlaces({ total: 1, each: 1 })

  const stopped = Effect.zipRight(lifecycle.stopRequested, Effect.suspend(RpcError.shuttingDown))

  /** A search may wait long for another one, so searches have their own places and delay no other call. */
  const placeOf = ({ heavy, waits }: Method, large: boolean): FairPlaces | undefined => {
    if (waits) return heavy ? searches : undefined
    if (large) return largeCalls
    return heavy ? heavyCalls : undefined
  }

  const conclude = (call: Begun<unknown>, how: Pick<ObservedCall, "abandoned" | "error">): void => {
    const { held, memory, method, returned, since } = call
    running.delete(call)
    if (held > 0) memory?.give(held)
    observe?.({
      method,
      seconds: (monotonic() - since) / 1000,
      ownSeconds: returned === undefined ? undefined : (returned - since) / 1000,
      ...how
    })
  }

  const ended = <A>(call: Begun<A>, outcome: CallOutcome): A => {
    conclude(call, { error: outcome instanceof RpcError ? outcome : undefined, abandoned: false })
    return call.finish(call.request, outcome)
  }

  const methodReturned = (call: Begun<unknown>): void => {
    if (observe !== undefined) call.returned ??= monotonic()
  }

  const failed = <A>(call: Begun<A>, cause: Cause.Cause<RpcError>): Effect.Effect<A> => {
    methodReturned(call)
    const error = Cause.failureOption(cause)
    if (Option.isSome(error)) return Exit.succeed(ended(call, error.value))
    if (Cause.isInterruptedOnly(cause)) return Exit.succeed(ended(call, RpcError.shuttingDown()))
    return Effect.map(
      Effect.logError("RPC method failed unexpectedly", { method: call.method }, cause),
      () => ended(call, RpcError.internal())
    )
  }

  const encoded = <A>(call: Begun<A>, text: string | LongText): Effect.Effect<A> => {
    const fault = checksAnswers ? answerFault(call, text) : undefined
    if (fault === undefined) return Exit.succeed(ended(call, text))
    if (typeof text !== "string") call.memory?.give(text.length)
    // Answer and reason may hold secrets, so only the caller gets them.
    return Effect.as(
      Effect.logError("RPC method does not answer as documented", { method: call.method }),
      ended(call, RpcError.internal(fault))
    )
  }

  const succeeded = <A>(call: Begun<A>, result: JsonValue): Effect.Effect<A> => {
    methodReturned(call)
    try {
      if (isLong(result)) {
        return Effect.matchCauseEffect(encodeLong(result, call.memory, call.context.turns), {
          onFailure: (cause) => failed(call, cause),
          onSuccess: (text) => encoded(call, text)
        })
      }
      return encoded(call, encodeJson(result))
    } catch (defect) {
      return failed(call, Cause.die(defect))
    }
  }

  /** For a method without an immediate result. A waiting call ends when the node stops. */
  const answered = <A>(
    call: Begun<A>,
    method: Method,
    result: Effect.Effect<JsonValue, RpcError>
  ): Effect.Effect<A> =>
    (method.waits && !method.answersAtStop ? Effect.raceFirst(result, stopped) : result).pipe(
      // Calls without a fiber have no span, which would take longer than some of their answers.
      withTracedSpan(`svcd.rpc.${method.name}`, RPC_SPAN),
      Effect.matchCauseEffect({
        onFailure: (cause) => failed(call, cause),
        onSuccess: (value) => succeeded(call, value)
      })
    )

  const interrupted = (call: Begun<unknown>): Effect.Effect<void> =>
    Effect.sync(() => {
      methodReturned(call)
      const isStopping = lifecycle.phase()._tag === "Stopping"
      conclude(call, { error: isStopping ? RpcError.shuttingDown() : undefined, abandoned: !isStopping })
    })

  const execute = <A>(
    request: Request,
    { context, finish, memory }: Around<A>,
    large: boolean
  ): Effect.Effect<A> => {
    const phase = lifecycle.phase()
    const method = phase._tag === "WarmUp" ? undefined : context.methods.get(request.method)
    const call: Begun<A> = {
      method: method?.name ?? UNKNOWN,
      since: monotonic(),
      held: 0,
      returned: undefined,
      request,
      context,
      memory,
      finish
    }
    if (phase._tag === "WarmUp") return Exit.succeed(ended(call, RpcError.warmUp(phase.step)))
    if (phase._tag === "Stopping") return Exit.succeed(ended(call, RpcError.shuttingDown()))
    if (method === undefined) return Exit.succeed(ended(call, RpcError.methodNotFound()))

    running.add(call)
    const work = method.workOf === undefined ? 0 : method.workOf(request.params)
    const refusal = work === 0 ? undefined : takeWork(call, work)
    if (refusal !== undefined) return Exit.succeed(ended(call, refusal))
    const place = placeOf(method, large) ?? (work > HEAVY_WORK ? heavyCalls : undefined)
    if (place !== undefined) {
      const result = Effect.flatMap(context.turns.next, () => begin(method, request, context))
      return Effect.onInterrupt(place.within(context.share)(answered(call, method, result)), () => interrupted(call))
    }
    const result = begin(method, request, context)
    const exit = settled(result)
    const answer = exit === undefined
      ? answered(call, method, result)
      : Exit.isSuccess(exit)
      ? succeeded(call, exit.value)
      : failed(call, exit.cause)
    // An immediate result may take long to encode.
    return running.has(call) ? Effect.onInterrupt(answer, () => interrupted(call)) : answer
  }

  return { execute, running }
}
