import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { isAscii, isUtf8 } from "node:buffer"
import { StringDecoder } from "node:string_decoder"
import type { PlaceShare } from "../base/FairPlaces.ts"
import { Slot } from "../base/Slot.ts"
import type { Steps } from "../protocol/steps.ts"
import { answerBatch, type BatchReply, GoneCaller, NO_CONTENT } from "./batch.ts"
import { type AnswerMemory, UNCOUNTED } from "./CallerMemory.ts"
import { demandsWith } from "./demands.ts"
import {
  aroundResult,
  encodeError,
  encodeResult,
  errorStatus,
  isNotification,
  isSlight,
  type Malformed,
  readRequest,
  type Request
} from "./envelope.ts"
import { type Json, JsonObject } from "./json/json.ts"
import { LongText } from "./json/LongText.ts"
import { type ReadBody, readBodySteps } from "./json/readBody.ts"
import { readJson } from "./json/readJson.ts"
import { Lifecycle } from "./Lifecycle.ts"
import { inTurns } from "./method/inTurns.ts"
import {
  type CallContext,
  type Demand,
  type Method,
  type MethodTable,
  methodTable,
  type RunningCall,
  type UserRights
} from "./method/methodTable.ts"
import type { AdmittedUser } from "./method/permission.ts"
import { RpcError } from "./method/RpcError.ts"
import { MOST_WORK } from "./method/work.ts"
import { type Around, type CallOutcome, type CallRunner, makeCallRunner, type ObservedCall } from "./runCalls.ts"
import { SlowLane } from "./SlowLane.ts"

export interface Caller extends Pick<CallContext, "wallet" | "peer" | "remote"> {
  readonly user?: AdmittedUser | undefined
  /** All by default. The caller of `answer` has checked `demands`. */
  readonly rights?: UserRights
  /** User, address and connection, which take turns. Callers without one share a turn. */
  readonly share?: PlaceShare
  /** Counts the bytes of long answers. */
  readonly memory?: AnswerMemory
}

/** A body that is read, but not yet executed. */
export interface Call {
  /** 1, or the length of a batch. */
  readonly count: number
  /** Methods and rights, possibly repeated. */
  readonly demands: () => ReadonlyArray<Demand>
  /** Whether the call changes nothing and is interrupted when its caller leaves. */
  readonly mayEnd: boolean
  /** After the caller of a call that may not end has left: skips requests of a batch that change nothing. */
  readonly abandon: () => void
  /** Bytes held while the call runs: its text and parsed values. */
  readonly weight: number
  /** Executes the call. Without anything to wait for, the effect is an `Exit`, which needs no fiber. */
  readonly answer: (caller: Caller) => Effect.Effect<BatchReply>
}

/** Request bodies to response bodies. Failures are responses, too. */
export class Dispatch extends Context.Tag("svcd/Dispatch")<Dispatch, {
  /** An invalid body becomes a call whose answer is the error. */
  readonly read: (body: Uint8Array | string) => Call
  /** For a body of any length. Long bodies share turns with other costly work, one body at a time. */
  readonly readLong: (body: Uint8Array) => Effect.Effect<Call>
  /** For a method without guarded parameters. */
  readonly demandOf: (method: string) => Demand
  /** Replaces the methods until the scope closes. */
  readonly install: (methods: MethodTable) => Effect.Effect<void, never, Scope.Scope>
  /** Runs an effect, such as a document's, in its turn among costly calls. */
  readonly inTurn: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Calls begun and not ended. */
  readonly inFlight: () => number
}>() {}

export interface DispatchOptions {
  /** Available from the start. `installed` adds methods that need services. */
  readonly methods?: ReadonlyArray<Method>
  readonly observe?: (call: ObservedCall) => void
  /** Called for invalid JSON and requests that are not calls. */
  readonly observeMalformed?: (error: RpcError) => void
  /** Compares answers with the documented results, which takes long, and replaces wrong ones by -32603. */
  readonly checksAnswers?: boolean
  /** Characters of a batch reply. Results beyond are refused. For tests. */
  readonly maxBatchReply?: number
  /** Per body; each takes `VALUE_BYTES`. */
  readonly maxValues?: number
}

/** Per body: more than a batch of 100,000 calls, and up to 200 MB of memory. */
const MAX_VALUES = 1_000_000

const VALUE_BYTES = 200

const MAX_BATCH = 100_000

const MAX_BATCH_REPLY = 2 ** 25

/** From this weight on, calls run one at a time: values made of parameters may take dozens of times their length. */
const LARGE = 500_000

/** Bytes read at once, in about a millisecond. */
const SHORT_BODY = 65_536

const nothing = (): void => {}

const NO_SHARE: PlaceShare = []

const isWriting = (table: MethodTable, method: string): boolean => table.get(method)?.writes === true

const writesIn = (table: MethodTable, element: Json): boolean => {
  const method = element instanceof JsonObject ? element.get("method") : undefined
  return typeof method === "string" && isWriting(table, method)
}

const NO_JSON: ReadBody = { read: undefined, values: 0 }

/** Bytes decoded per turn. */
const DECODED = 262_144

const textOf = (body: Uint8Array): string | undefined =>
  isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8") : undefined

/** Decodes a long body in parts. ASCII, nearly every body, is copied at once: half a millisecond per megabyte. */
function* textSteps(body: Uint8Array): Steps<string | undefined> {
  if (isAscii(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")
  if (!isUtf8(body)) return undefined
  const decoder = new StringDecoder("utf8")
  const parts: Array<string> = []
  for (let at = 0; at < body.length; at += DECODED) {
    yield
    const { buffer, byteLength, byteOffset } = body.subarray(at, at + DECODED)
    parts.push(decoder.write(Buffer.from(buffer, byteOffset, byteLength)))
  }
  return parts.join("")
}

/** JSON values within the bytes that a caller may hold. */
export const valuesWithin = (bytes: number): number => Math.min(MAX_VALUES, Math.floor(bytes / VALUE_BYTES))

/** For a request as the whole body, and for an element of a batch. */
const answersBy = (
  execute: CallRunner["execute"],
  observeMalformed: DispatchOptions["observeMalformed"]
) => {
  const answerOne = (
    request: Request,
    { context, memory }: Omit<Around<BatchReply>, "finish">,
    large: boolean
  ): Effect.Effect<BatchReply> => {
    const finish = (_: Request, outcome: CallOutcome): BatchReply => {
      if (isNotification(request)) return dropped(NO_CONTENT, outcome, memory)
      if (outcome instanceof RpcError) {
        return { status: errorStatus(request, outcome), body: encodeError(request, outcome) }
      }
      return { status: 200, body: replyOf(request, outcome) }
    }
    return execute(request, { context, memory, finish }, large)
  }

  const answerElement = (
    element: Json,
    around: Around<string | LongText>,
    large: boolean
  ): Effect.Effect<string | LongText> => {
    const request = readRequest(element)
    if ("error" in request) {
      observeMalformed?.(request.error)
      return Effect.succeed(isNotification(request) ? "" : encodeError(request, request.error))
    }
    return execute(request, around, large && !isSlight(request))
  }

  return { answerElement, answerOne }
}

const make = (options: DispatchOptions) =>
  Effect.map(Lifecycle, (lifecycle) => {
    const { maxBatchReply = MAX_BATCH_REPLY, maxValues = MAX_VALUES, observeMalformed } = options
    const { execute, running } = makeCallRunner(lifecycle, options)
    const methods = new Slot(methodTable(options.methods ?? []))
    const lane = new SlowLane()
    const { demandIn, demandsOf } = demandsWith(lifecycle)
    const longBodies = Effect.unsafeMakeSemaphore(1)

    const listRunning = (): ReadonlyArray<RunningCall> => [...running]

    const contextOf = (
      { memory = UNCOUNTED, peer, remote, rights, share = NO_SHARE, user, wallet }: Caller,
      methods: MethodTable
    ): CallContext => ({
      wallet,
      peer,
      remote,
      share,
      user,
      rights,
      methods,
      turns: lane.open(),
      room: memory.limit,
      work: { bytes: MOST_WORK },
      running: listRunning
    })

    const { answerElement, answerOne } = answersBy(execute, observeMalformed)

    const refused = (request: Malformed, status: number): Call => ({
      count: 1,
      demands: () => [],
      mayEnd: true,
      abandon: nothing,
      weight: 0,
      answer: () => {
        observeMalformed?.(request.error)
        return Exit.succeed({ status, body: encodeError(request, request.error) })
      }
    })

    /** `known`: what the elements of a batch need, if the body was read in turns. */
    const callOf = (
      text: string | undefined,
      { elements, read: value, values }: ReadBody,
      { known, table }: { readonly table: MethodTable; readonly known?: ReadonlyArray<Demand> }
    ): Call => {
      if (value === undefined) {
        const error = values > maxValues
          ? RpcError.invalidRequest(`The request holds more than ${maxValues} values; send it in parts`)
          : RpcError.parseError()
        return refused({ version: "legacy", id: null, error }, 500)
      }
      const weight = (text?.length ?? 0) + values * VALUE_BYTES
      if (Array.isArray(value)) {
        const batch = elements ?? value
        if (batch.length > MAX_BATCH) {
          const error = RpcError.invalidRequest(`A batch holds at most ${MAX_BATCH} requests, not ${batch.length}`)
          return refused({ version: "legacy", id: null, error }, 400)
        }
        const answer = (caller: Caller): Effect.Effect<BatchReply> => {
          const { memory } = caller
          const context = contextOf(caller, table)
          const finish = (request: Request, outcome: CallOutcome): string | LongText => {
            if (isNotification(request)) return dropped("", outcome, memory)
            return outcome instanceof RpcError ? encodeError(request, outcome) : replyOf(request, outcome)
          }
          const around = { context, memory, finish }
          const large = weight > LARGE
          return answerBatch(batch, {
            gone,
            memory: memory ?? UNCOUNTED,
            turns: context.turns,
            maxReply: maxBatchReply,
            answer: (element) => answerElement(element, around, large)
          })
        }
        const demands = known ?? value.flatMap((element) => demandsOf(table, element))
        const mayEnd = !demands.some(({ method }) => isWriting(table, method))
        const gone = mayEnd ? undefined : new GoneCaller((element) => writesIn(table, element))
        const abandon = (): void => gone?.leave()
        return { count: batch.length, demands: () => demands, mayEnd, abandon, weight, answer }
      }
      if (!(value instanceof JsonObject)) {
        const error = RpcError.parseError("Top-level object parse error")
        return refused({ version: "legacy", id: null, error }, 500)
      }
      const request = readRequest(value)
      if ("error" in request) return refused(request, 400)
      const mayEnd = !isWriting(table, request.method)
      const demands = (): ReadonlyArray<Demand> => [demandIn(table, request.method, request.params)]
      const answer = (caller: Caller): Effect.Effect<BatchReply> =>
        answerOne(request, { context: contextOf(caller, table), memory: caller.memory }, weight > LARGE)
      return { count: 1, demands, mayEnd, abandon: nothing, weight, answer }
    }

    const read = (body: Uint8Array | string): Call => {
      const text = typeof body === "string" ? body : textOf(body)
      return callOf(text, text === undefined ? NO_JSON : readJson(text, maxValues), { table: methods.current })
    }

    const readInTurns = (body: Uint8Array): Effect.Effect<Call> => {
      const turns = lane.open()
      // Rights and methods of the same table, even if another is installed meanwhile.
      const table = methods.current
      return Effect.gen(function*() {
        yield* turns.next
        const text = yield* inTurns(turns, textSteps(body))
        if (text === undefined) return callOf(text, NO_JSON, { table })
        yield* turns.next
        // Noted now, as otherwise all elements would have to be read again.
        const known = new Map<string, Demand>()
        const note = (element: Json): void => {
          for (const demand of demandsOf(table, element)) known.set(`${demand.rights} ${demand.method}`, demand)
        }
        const read = yield* inTurns(turns, readBodySteps(text, maxValues, note))
        return callOf(text, read, { table, known: [...known.values()] })
      })
    }

    return Dispatch.of({
      read,
      readLong: (body) =>
        body.length <= SHORT_BODY ? Exit.succeed(read(body)) : longBodies.withPermits(1)(readInTurns(body)),
      demandOf: (method) => demandIn(methods.current, method, []),
      install: (table) => methods.fill(table),
      inTurn: (effect) => Effect.zipRight(lane.open().next, effect),
      inFlight: () => running.size
    })
  })

const replyOf = (request: Request, result: string | LongText): string | LongText => {
  if (typeof result === "string") return encodeResult(request, result)
  const [before, behind] = aroundResult(request)
  return new LongText([Buffer.from(before), ...result.pieces, Buffer.from(behind)])
}

/** For a notification: discards the outcome and releases its bytes. */
const dropped = <A>(answer: A, outcome: string | LongText | RpcError, memory: AnswerMemory | undefined): A => {
  if (outcome instanceof LongText) memory?.give(outcome.length)
  return answer
}

/** Answers -28 until the lifecycle is running. */
export const layer = (options: DispatchOptions = {}): Layer.Layer<Dispatch, never, Lifecycle> =>
  Layer.effect(Dispatch, make(options))

/** Installs methods once their services are ready. */
export const installed = <E, R>(
  methods: Effect.Effect<ReadonlyArray<Method>, E, R>
): Layer.Layer<never, E, Exclude<R, Scope.Scope> | Dispatch> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const dispatch = yield* Dispatch
    yield* dispatch.install(methodTable(yield* methods))
  }))
