import { Effect } from "effect"
import type * as Scope from "effect/Scope"
import { connect, type Socket } from "node:net"
import { inTime } from "../support/eventually.ts"

/** A client of the Electrum server that speaks JSON as it comes. */

export interface Reply {
  readonly jsonrpc?: string
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string } | null
  readonly method?: string
  readonly params?: ReadonlyArray<unknown>
}

export interface TestClient {
  readonly socket: Socket
  /** Sends bytes as they are. */
  readonly raw: (text: string | Uint8Array) => Effect.Effect<void>
  /** The next message that is not a notification. */
  readonly reply: Effect.Effect<Reply>
  readonly call: (method: string, ...params: ReadonlyArray<unknown>) => Effect.Effect<Reply>
  /** The result of a call. */
  readonly ask: (method: string, ...params: ReadonlyArray<unknown>) => Effect.Effect<unknown>
  /** Notifications so far, oldest first. */
  readonly notes: Array<Reply>
  readonly closed: () => boolean
}

const isReply = (value: unknown): value is Reply => typeof value === "object" && value !== null

/** Speaks over a socket that is connected. */
export const clientOver = (socket: Socket): TestClient => {
  const replies: Array<Reply> = []
  /** Who waits for the next ones, in their order. */
  const waiting: Array<(reply: Reply) => void> = []
  const notes: Array<Reply> = []
  const take = (message: Reply): void => {
    const next = waiting.shift()
    if (next === undefined) replies.push(message)
    else next(message)
  }
  let text = ""
  let closed = false
  let id = 0
  socket.on("data", (piece: Buffer) => {
    const lines = (text + piece.toString("latin1")).split("\n")
    text = lines.pop() ?? ""
    for (const line of lines) {
      const message: unknown = JSON.parse(Buffer.from(line, "latin1").toString("utf8"))
      if (!isReply(message)) throw new Error(`not a message: ${line}`)
      if (message.method === undefined) take(message)
      else notes.push(message)
    }
  })
  socket.on("error", () => {})
  socket.on("close", () => {
    closed = true
  })
  const raw = (bytes: string | Uint8Array) => Effect.sync(() => void socket.write(bytes))
  const reply = inTime(
    Effect.async<Reply>((resume) => {
      const known = replies.shift()
      if (known !== undefined) return resume(Effect.succeed(known))
      const told = (message: Reply): void => resume(Effect.succeed(message))
      waiting.push(told)
      return Effect.sync(() => void waiting.splice(waiting.indexOf(told), 1))
    }),
    "an answer"
  )
  const call = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.zipRight(
      Effect.suspend(() => raw(`${JSON.stringify({ jsonrpc: "2.0", id: id++, method, params })}\n`)),
      reply
    )
  return {
    socket,
    raw,
    reply,
    call,
    ask: (method, ...params) =>
      Effect.flatMap(
        call(method, ...params),
        ({ error, result }) => error === undefined ? Effect.succeed(result) : Effect.dieMessage(JSON.stringify(error))
      ),
    notes,
    closed: () => closed
  }
}

const opened = (port: number) =>
  Effect.async<Socket>((resume) => {
    const socket = connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
  })

export const connectTo = (port: number): Effect.Effect<TestClient, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(opened(port), (socket) => Effect.sync(() => void socket.destroy())),
    clientOver
  )

/** A client that has agreed on a version. */
export const speaking = (port: number, version: unknown = "1.6"): Effect.Effect<TestClient, never, Scope.Scope> =>
  Effect.tap(connectTo(port), (client) => client.ask("server.version", "test", version))
