import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { AnswerMemory } from "./CallerMemory.ts"
import { encodeError, type Envelope, isNotification, readRequest } from "./envelope.ts"
import type { Json } from "./json/json.ts"
import type { LongText } from "./json/LongText.ts"
import { noMemory, PieceWriter } from "./longAnswer.ts"
import { RpcError } from "./method/RpcError.ts"
import { settled } from "./settled.ts"
import type { CallTurns } from "./SlowLane.ts"

/** The answer to an HTTP request: its status, and its body unless that is empty. A long one has been counted. */
export interface Reply {
  readonly status: number
  readonly body: string | LongText
}

/** The answer to a notification, or to a batch of them. */
export const NO_CONTENT: Reply = { status: 204, body: "" }

/** The part of what a caller may hold that the reply to a batch may take: there is room for the errors behind it. */
const SHARE = 0.75

/** What a batch is answered with. */
export interface BatchOptions {
  readonly memory: AnswerMemory
  readonly turns: CallTurns
  /** Characters of the reply; what would come behind them is refused. */
  readonly maxReply: number
  /** The answer to one element; an empty one to a notification. */
  readonly answer: (element: Json) => Effect.Effect<string | LongText>
}

/** The answer to an element for whose result there is no room. */
const refuseElement = (element: Json): string => {
  const envelope: Envelope = readRequest(element)
  return isNotification(envelope) ? "" : encodeError(envelope, RpcError.internal("The reply to the batch is too large"))
}

/**
 * Answers the elements of a batch one after the other, in a loop for as long as nothing has to be waited for and the
 * time of costly calls is not used up.
 */
export const answerBatch = (
  elements: ReadonlyArray<Json>,
  { answer, maxReply, memory, turns }: BatchOptions
): Effect.Effect<Reply> => {
  const replies = new PieceWriter(memory)
  const room = Math.min(maxReply, Math.floor(memory.limit * SHARE))
  let at = 0
  let written = 0
  /** False where there is no memory for what was answered so far. */
  const keep = (reply: string | LongText): boolean => {
    if (reply === "") return true
    const mark = written++ === 0 ? "[" : ","
    return replies.add(mark) && (typeof reply === "string" ? replies.add(reply) : replies.append(reply))
  }
  const lost = (): Effect.Effect<Reply> =>
    Exit.succeed({ status: 500, body: encodeError({ version: "legacy", id: null }, noMemory()) })
  const goOn = (): Effect.Effect<Reply> => {
    while (at < elements.length) {
      if (memory.isLost()) return lost()
      if (turns.isOver()) return goOnLater
      const element = elements[at++] ?? null
      if (replies.length > room) {
        if (!keep(refuseElement(element))) return lost()
        continue
      }
      const answered = answer(element)
      const known = settled(answered)
      if (known === undefined) return Effect.flatMap(answered, (reply) => keep(reply) ? goOn() : lost())
      if (Exit.isFailure(known)) return Exit.failCause(known.cause)
      if (!keep(known.value)) return lost()
    }
    // A batch of notifications has no reply; an empty batch holds none, and gets the answer it always got.
    if (written === 0) return Exit.succeed(elements.length > 0 ? NO_CONTENT : { status: 200, body: "[]" })
    const body = replies.add("]") ? replies.end() : undefined
    return body === undefined ? lost() : Exit.succeed({ status: 200, body })
  }
  const goOnLater = Effect.flatMap(turns.next, goOn)
  return goOn()
}
