import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type { AnswerMemory } from "./CallerMemory.ts"
import { encodeError, isNotification, readRequest, type RpcEnvelope } from "./envelope.ts"
import type { Json } from "./json/json.ts"
import type { LongText } from "./json/LongText.ts"
import type { Elements } from "./json/readBody.ts"
import { noMemory, PieceWriter } from "./longAnswer.ts"
import { RpcError } from "./method/RpcError.ts"
import { settled } from "./settled.ts"
import type { CallTurns } from "./SlowLane.ts"

/** An HTTP response. A long body is already counted. */
export interface BatchReply {
  readonly status: number
  readonly body: string | LongText
}

/** For notifications. */
export const NO_CONTENT: BatchReply = { status: 204, body: "" }

/** The reply's share of a caller's memory. The rest is for the errors that follow. */
const SHARE = 0.75

/** Once the caller of a batch with changes has left, only requests that change something are carried out. */
export class GoneCaller {
  readonly #writes: (element: Json) => boolean
  readonly #left = Deferred.unsafeMake<void>(FiberId.none)
  #isGone = false

  constructor(writes: (element: Json) => boolean) {
    this.#writes = writes
  }

  leave(): void {
    this.#isGone = true
    Deferred.unsafeDone(this.#left, Effect.void)
  }

  skips(element: Json): boolean {
    return this.#isGone && !this.#writes(element)
  }

  /** Empty if the caller leaves before the answer. */
  untilGone<A>(element: Json, answer: Effect.Effect<A>): Effect.Effect<A | string> {
    return this.#writes(element) ? answer : Effect.raceFirst(answer, Effect.as(Deferred.await(this.#left), ""))
  }
}

export interface BatchOptions {
  /** For a batch that changes something. */
  readonly gone?: GoneCaller | undefined
  readonly memory: AnswerMemory
  readonly turns: CallTurns
  /** Characters; results beyond are refused. */
  readonly maxReply: number
  /** Empty for a notification. */
  readonly answer: (element: Json) => Effect.Effect<string | LongText>
}

/** For an element whose result has no room. */
const refuseElement = (element: Json): string => {
  const envelope: RpcEnvelope = readRequest(element)
  return isNotification(envelope) ? "" : encodeError(envelope, RpcError.internal("The reply to the batch is too large"))
}

/** Answers in order, in a loop until it must wait or the time of costly calls is used up. */
export const answerBatch = (
  elements: Elements,
  { answer, gone, maxReply, memory, turns }: BatchOptions
): Effect.Effect<BatchReply> => {
  const replies = new PieceWriter(memory)
  const room = Math.min(maxReply, Math.floor(memory.limit * SHARE))
  let at = 0
  let written = 0
  /** Returns false if there is no memory for the replies so far. */
  const keep = (reply: string | LongText): boolean => {
    if (reply === "") return true
    const mark = written++ === 0 ? "[" : ","
    return replies.add(mark) && (typeof reply === "string" ? replies.add(reply) : replies.append(reply))
  }
  const lost = (): Effect.Effect<BatchReply> =>
    Exit.succeed({ status: 500, body: encodeError({ version: "legacy", id: null }, noMemory()) })
  const goOn = (): Effect.Effect<BatchReply> => {
    while (at < elements.length) {
      if (memory.isLost()) return lost()
      if (turns.isOver()) return goOnLater
      const element = elements.at(at++) ?? null
      if (gone?.skips(element) === true) continue
      if (replies.length > room) {
        if (!keep(refuseElement(element))) return lost()
        continue
      }
      const asked = answer(element)
      const answered = gone === undefined || settled(asked) !== undefined ? asked : gone.untilGone(element, asked)
      const known = settled(answered)
      if (known === undefined) return Effect.flatMap(answered, (reply) => keep(reply) ? goOn() : lost())
      if (Exit.isFailure(known)) return Exit.failCause(known.cause)
      if (!keep(known.value)) return lost()
    }
    // A batch of notifications has no reply. An empty batch gets the empty array.
    if (written === 0) return Exit.succeed(elements.length > 0 ? NO_CONTENT : { status: 200, body: "[]" })
    const body = replies.add("]") ? replies.end() : undefined
    return body === undefined ? lost() : Exit.succeed({ status: 200, body })
  }
  const goOnLater = Effect.flatMap(turns.next, goOn)
  return goOn()
}
