import { orNothing } from "../protocol/orNothing.ts"
import { afterMillis, openSocket, type TextSocket } from "./host.ts"

// Electrum's protocol over WebSocket: one JSON text per message, with answers in any order.

/** The reason why a server did not answer: a sentence without a full stop. */
export class ElectrumFailure extends Error {}

export interface ElectrumSession {
  /** Rejects with `ElectrumFailure`. */
  readonly call: (method: string, params: ReadonlyArray<unknown>) => Promise<unknown>
  /** Ends the session. Open calls reject. */
  readonly close: () => void
}

/** Maximum length of a message in characters. Servers send at most 8 MB. */
const LONGEST_MESSAGE = 8_000_000

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (failure: ElectrumFailure) => void
}

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members => typeof value === "object" && value !== null ? { ...value } : {}

/** The answer in a message; `undefined` for notifications and invalid JSON. */
const answerIn = (text: string): Members | undefined =>
  orNothing(() => {
    const read = membersOf(JSON.parse(text))
    return typeof read["id"] === "number" ? read : undefined
  })

const messageOf = (error: unknown): string => {
  const { message } = membersOf(error)
  return typeof message === "string" ? message.slice(0, 200) : "without a reason"
}

class Session implements ElectrumSession {
  readonly #socket: TextSocket
  readonly #opened: Waiting
  readonly #waiting = new Map<number, Waiting>()
  readonly #cancel: () => void
  #calls = 0
  #ended: ElectrumFailure | undefined

  /** `opened` resolves once connected, or rejects with the failure. */
  constructor(socket: TextSocket, { opened, timeout }: { readonly timeout: number; readonly opened: Waiting }) {
    this.#socket = socket
    this.#opened = opened
    const end = (reason: string): void => this.#end(reason)
    this.#cancel = afterMillis(timeout, () => end("the server did not answer in time"))
    socket.addEventListener("open", () => opened.resolve(this))
    socket.addEventListener("close", () => end("the server closed the connection"))
    socket.addEventListener("message", ({ data }) => this.#take(data))
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return
    this.#ended = new ElectrumFailure(reason)
    this.#cancel()
    this.#socket.close()
    for (const { reject } of [this.#opened, ...this.#waiting.values()]) reject(this.#ended)
    this.#waiting.clear()
  }

  #take(data: unknown): void {
    if (typeof data !== "string" || data.length > LONGEST_MESSAGE) {
      this.#end("the server sent a message that is too long or not text")
      return
    }
    const answer = answerIn(data)
    const id = answer?.["id"]
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined
    if (answer === undefined || waiting === undefined || typeof id !== "number") return
    this.#waiting.delete(id)
    const { error, result } = answer
    if (error === undefined || error === null) waiting.resolve(result)
    else waiting.reject(new ElectrumFailure(`the server refused: ${messageOf(error)}`))
  }

  readonly call = (method: string, params: ReadonlyArray<unknown>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended)
        return
      }
      const id = this.#calls++
      this.#waiting.set(id, { resolve, reject })
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }))
    })

  readonly close = (): void => this.#end("the session was closed")
}

/** The limits of a session. */
export interface ElectrumLimits {
  /** Milliseconds, from the connection to the last answer. */
  readonly timeout: number
  /** Ends the session when aborted. */
  readonly signal: AbortSignal
}

/** Opens a session with a server. Rejects with `ElectrumFailure`. */
export const openElectrum = (url: string, { signal, timeout }: ElectrumLimits): Promise<ElectrumSession> =>
  new Promise<ElectrumSession>((resolve, reject) => {
    try {
      const socket = openSocket(url)
      const session: ElectrumSession = new Session(socket, {
        timeout,
        opened: { resolve: () => resolve(session), reject }
      })
      signal.addEventListener("abort", session.close)
    } catch (error) {
      reject(new ElectrumFailure(error instanceof Error ? error.message : "the address is invalid"))
    }
  })
