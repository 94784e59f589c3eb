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
import { RpcError } from "./method/RpcError.ts"
import { MOST_WORK } from "./method/work.ts"
import { type Around, type CallOutcome, type CallRunner, makeCallRunner, type ObservedCall } from "./runCalls.ts"
import { SlowLane } from "./SlowLane.ts"

export interface Caller extends Pick<CallContext, "wallet" | "peer" | "remote"> {
  /** The rights of the user; without any, all. The caller of `answer` has checked `demands`. */
  readonly rights?: UserRights
  /** User, address and connection, which take turns; without it all such callers have one turn. */
  readonly share?: PlaceShare
  /** Counts the bytes of a long answer; without it they are not counted. */
  readonly memory?: AnswerMemory
}

/** A body that was read and is not executed yet. */
export interface Call {
  /** The number of requests: 1, or the length of a batch. */
  readonly count: number
  /** What its requests need: methods and rights. A method may occur more than once. */
  readonly demands: () => ReadonlyArray<Demand>
  /** Whether the call changes nothing, so that it is interrupted when its caller has left. */
  readonly mayEnd: boolean
  /** For a call that may not end, when its caller has left: of a batch, what changes nothing is left out. */
  readonly abandon: () => void
  /** Bytes that the call holds while it runs: its text and the values parsed from it. */
  readonly weight: number
  /**
   * Executes the call. If it has nothing to wait for, it is complete on return, and the effect is an `Exit` that needs
   * no fiber.
   */
  readonly answer: (caller: Caller) => Effect.Effect<BatchReply>
}

/** Turns request bodies into response bodies. It cannot fail: a failure is a response too. */
export class Dispatch extends Context.Tag("svcd/Dispatch")<Dispatch, {
  /** Reads a body, bytes or text. A body that is not JSON-RPC becomes a call whose answer is the error. */
  readonly read: (body: Uint8Array | string) => Call
  /** The same for a body of any length. Long bodies share turns with other costly work, one body at a time. */
  readonly readLong: (body: Uint8Array) => Effect.Effect<Call>
  /** What a call of a method without guarded parameters needs. */
  readonly demandOf: (method: string) => Demand
  /** Replaces the methods until the scope closes. */
  readonly install: (methods: MethodTable) => Effect.Effect<void, never, Scope.Scope>
  /** Runs an effect, such as that of a document, when its turn among the costly calls comes. */
  readonly inTurn: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The number of calls that have begun and not ended. */
  readonly inFlight: () => number
}>() {}

export interface DispatchOptions {
  /** The methods from the start. `installed` adds the ones that need services which are not ready yet. */
  readonly methods?: ReadonlyArray<Method>
  readonly observe?: (call: ObservedCall) => void
  /** Called for each malformed request: not JSON, or not the form of a call. */
  readonly observeMalformed?: (error: RpcError) => void
  /** Whether each answer is compared with the results of its method; another one becomes -32603. It takes longer than most answers. */
  readonly checksAnswers?: boolean
  /** Characters of the reply to one batch; the results beyond are refused. For tests. */
  readonly maxBatchReply?: number
  /** JSON values in one body; each takes `VALUE_BYTES`. */
  readonly maxValues?: number
}

/** JSON values in one body. A batch of 100,000 calls has fewer; this many take up to 200 MB of memory. */
const MAX_VALUES = 1_000_000

const VALUE_BYTES = 200

const MAX_BATCH = 100_000

const MAX_BATCH_REPLY = 2 ** 25

/**
 * Weight from which only one call runs at a time: the values made from its parameters may take dozens of times their
 * length.
 */
const LARGE = 500_000

/** Bytes up to which a body is read at once, in about a millisecond. */
const SHORT_BODY = 65_536

const nothing = (): void => {}

const NO_SHARE: PlaceShare = []

const isWriting = (table: MethodTable, method: string): boolean => table.get(method)?.writes === true

const writesIn = (table: MethodTable, element: Json): boolean => {
  const method = element instanceof JsonObject ? element.get("method") : undefined
  return typeof method === "string" && isWriting(table, method)
}

const NO_JSON: ReadBody = { read: undefined, values: 0 }

/** Bytes of a body that are decoded in one turn. */
const DECODED = 262_144

const textOf = (body: Uint8Array): string | undefined =>
  isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8") : undefined

/** The text of a long body, in parts. One of ASCII alone, as nearly all are, is copied at once: a megabyte takes half a millisecond. */
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

/** The number of JSON values that fit into the bytes that a caller may hold. */
export const valuesWithin = (bytes: number): number => Math.min(MAX_VALUES, Math.floor(bytes / VALUE_BYTES))

/** Makes the answers to requests: to one that is the whole body, and to an element of a batch. */
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
      { memory = UNCOUNTED, peer, remote, rights, share = NO_SHARE, wallet }: Caller,
      methods: MethodTable
    ): CallContext => ({
      wallet,
      peer,
      remote,
      share,
      rights,
      methods,
      turns: lane.open(),
      room: memory.limit,
      work: { bytes: MOST_WORK },
      running: listRunning
    })

    const { answerElement, answerOne } = answersBy(execute, observeMalformed)

    /** The answer to a body without a valid call. */
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

    /** `table` and `known`: the methods, and what the elements of a batch need of them, if the body was read in turns. */
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
      // The rights that were read count for the methods that run: a table that comes later changes neither.
      const table = methods.current
      return Effect.gen(function*() {
        yield* turns.next
        const text = yield* inTurns(turns, textSteps(body))
        if (text === undefined) return callOf(text, NO_JSON, { table })
        yield* turns.next
        // What the elements need is noted now: for it alone, all would have to be read again.
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

/** The answer to a notification: discards the outcome and releases its bytes. */
const dropped = <A>(answer: A, outcome: string | LongText | RpcError, memory: AnswerMemory | undefined): A => {
  if (outcome instanceof LongText) memory?.give(outcome.length)
  return answer
}

/** The dispatcher. It answers -28 until the lifecycle is running. */
export const layer = (options: DispatchOptions = {}): Layer.Layer<Dispatch, never, Lifecycle> =>
  Layer.effect(Dispatch, make(options))

/** Installs methods once the services that they need are ready. */
export const installed = <E, R>(
  methods: Effect.Effect<ReadonlyArray<Method>, E, R>
): Layer.Layer<never, E, Exclude<R, Scope.Scope> | Dispatch> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const dispatch = yield* Dispatch
    yield* dispatch.install(methodTable(yield* methods))
  }))
