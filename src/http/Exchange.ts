import type { IncomingMessage, ServerResponse } from "node:http"
import type { Writable } from "node:stream"
import { afterDelay, cancelTimer } from "../base/turns.ts"
import type { AnswerMemory } from "../rpc/CallerMemory.ts"
import { JSON_TYPE } from "../rpc/envelope.ts"
import { LongText } from "../rpc/json/LongText.ts"
import type { RequestHead } from "./gate.ts"
import { type HttpRefusal, LINGER, NO_ANSWER_ROOM, PLAIN_TEXT } from "./refusals.ts"
import type { Session } from "./Session.ts"

/** Writes as fast as the stream takes it and releases written pieces. A lost connection frees the rest itself. */
export const writePieces = (
  stream: Writable,
  { pieces }: LongText,
  { done, memory }: { readonly memory: AnswerMemory; readonly done: () => void }
): void => {
  let at = 0
  let unsent = 0
  const goOn = (): void => {
    memory.give(unsent)
    unsent = 0
    while (at < pieces.length) {
      const piece = pieces[at++]
      if (stream.destroyed) return
      if (piece === undefined) continue
      unsent += piece.length
      if (!stream.write(piece) && at < pieces.length) return void stream.once("drain", goOn)
    }
    memory.give(unsent)
    done()
  }
  goOn()
}

/** A request until its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly session: Session
  readonly expectsContinue: boolean
}

interface JsonAnswer<Body> {
  readonly status: number
  readonly body: Body
  /** Whether the connection closes after it. */
  readonly last: boolean
}

interface Answer {
  readonly status: number
  readonly headers: Array<string>
  readonly body: string | Uint8Array
  readonly encoding: BufferEncoding
  /** Whether the connection closes after it. */
  readonly last: boolean
}

/** Bytes from which an answer counts in the memory budget before it is written. */
const COUNTED = 65_536

export const headOf = ({ headers, method = "", url = "" }: IncomingMessage): RequestHead => {
  const length = headers["content-length"]
  return { verb: method, target: url, length: length === undefined ? undefined : Number(length), headers }
}

export const send = ({ response, session }: Exchange, { body, encoding, headers, last, status }: Answer): void => {
  if (last) headers.push("Connection", "close")
  if (!response.destroyed) response.writeHead(status, headers).end(body, encoding)
  session.leave(response, last)
}

export const sendBody = (
  exchange: Exchange,
  { body, headers, last, status }: Omit<Answer, "encoding">
): void =>
  send(exchange, {
    status,
    // A 304 has no body. Its length would be the document's (RFC 9110, 8.6).
    headers: status === 304 ? [...headers] : [...headers, "Content-Length", String(Buffer.byteLength(body))],
    body,
    encoding: "utf8",
    last
  })

/** Without memory, the caller gets 503 and `onRefused` is called. */
export const sendJson = (
  exchange: Exchange,
  { body, last, status }: JsonAnswer<string | LongText>,
  onRefused: (status: number) => void
): void => {
  if (body instanceof LongText) return sendLong(exchange, { status, body, last })
  const length = Buffer.byteLength(body) + 1
  // ASCII is the same in both encodings, and Node writes latin1 faster.
  const encoding = length === body.length + 1 ? "latin1" : "utf8"
  const headers = ["Content-Type", JSON_TYPE, "Content-Length", String(length)]
  const answer = { status, headers, body: `${body}\n`, encoding, last } as const
  if (length <= COUNTED) return send(exchange, answer)
  const { answers } = exchange.session.memory
  if (!answers.take(length)) {
    onRefused(NO_ANSWER_ROOM.status)
    return sendRefusal(exchange, NO_ANSWER_ROOM, last)
  }
  exchange.response.once("close", () => answers.give(length))
  send(exchange, answer)
}

/** As fast as the caller reads it. */
const sendLong = ({ response, session }: Exchange, { body, last, status }: JsonAnswer<LongText>): void => {
  const headers = ["Content-Type", JSON_TYPE, "Content-Length", String(body.length + 1)]
  if (last) headers.push("Connection", "close")
  if (response.destroyed) {
    session.memory.answers.give(body.length)
    return session.leave(response, last)
  }
  session.awaitReader(response)
  response.writeHead(status, headers)
  const done = (): void => {
    response.end("\n")
    session.leave(response, last)
  }
  writePieces(response, body, { memory: session.memory.answers, done })
}

export const sendRefusal = (
  exchange: Exchange,
  { close = false, headers = [], status, text }: HttpRefusal,
  stopping: boolean
): void => {
  const { request, response, session } = exchange
  const body = ["Content-Type", PLAIN_TEXT, "Content-Length", String(Buffer.byteLength(text))]
  if (!close || request.complete || response.destroyed) {
    const last = close || stopping
    return send(exchange, { status, headers: [...headers, ...body], body: text, encoding: "latin1", last })
  }
  // Closing while the client still sends would reset the connection and lose the answer.
  response.writeHead(status, [...headers, ...body, "Connection", "close"])
  response.write(text)
  const end = (): void => {
    cancelTimer(timer)
    if (response.writableEnded) return
    response.end()
    session.leave(response, true)
  }
  const timer = afterDelay(LINGER, end)
  request.once("close", end).once("end", end).resume()
}
