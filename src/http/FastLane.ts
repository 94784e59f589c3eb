import { STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { wallTime } from "../base/clock.ts"
import { afterDelay } from "../base/turns.ts"
import type { AnswerMemory } from "../rpc/CallerMemory.ts"
import type { LongText } from "../rpc/json/LongText.ts"
import { writePieces } from "./Exchange.ts"
import { type PlainHead, readPlainHead } from "./plainRequest.ts"

/** Bytes of request line and headers. Node's parser refuses longer ones, too. */
const MAX_HEAD = 8_192

/** Bytes buffered while a request is carried out. */
const MAX_PENDING = 65_536

/** Chunks of these bytes: one of a byte takes as much memory as one of a few hundred. */
const MAX_PIECES = 64

/** Unsent bytes to a client at which its next request waits. */
const MAX_UNSENT = 32_768

/** Milliseconds from the end of the client's side to the first probe. Most calls are answered by then. */
const PROBE = 250

const INTERIM = "HTTP/1.1 100 Continue\r\n\r\n"

const END_OF_HEAD = Buffer.from("\r\n\r\n")

export interface LaneConfig {
  /** Milliseconds without traffic after which a connection is closed. */
  readonly idleTimeout: number
  /** Takes a request to answer now or later. Returns `false`, without effect, if it does not suit the fast lane. */
  readonly take: (head: PlainHead, body: Uint8Array, lane: FastLane) => boolean
  /** Counts unread bytes. */
  readonly memory: AnswerMemory
  /** Gives the connection with its received bytes to Node's server. */
  readonly handOver: (socket: Socket) => void
}

export interface LaneAnswer<Body> {
  readonly status: number
  readonly type: string
  readonly body: Body
  /** The last answer of the connection. */
  readonly last: boolean
}

/** Serves plain requests without Node's streams. The first other request moves the connection to Node's server. */
export class FastLane {
  readonly #socket: Socket
  readonly #config: LaneConfig
  readonly #keepAlive: string
  /** The last head and its parsed form. Most clients repeat it. */
  #head = ""
  #plain: PlainHead | undefined
  #busy = false
  /** The client has ended its side, but may wait for an answer. */
  #ended = false
  #pending: Array<Buffer> = []
  #pendingBytes = 0
  readonly #onData = (chunk: Buffer): void => this.#read(chunk)
  readonly #onEnd = (): void => {
    this.#ended = true
    if (!this.#busy) this.#socket.end()
    else this.#probeLater(PROBE)
  }
  readonly #onTimeout = (): void => {
    if (!this.#busy || this.#socket.writableLength > 0) this.#socket.destroy()
  }
  readonly #onError = (): void => void this.#socket.destroy()

  constructor(socket: Socket, config: LaneConfig) {
    this.#socket = socket
    this.#config = config
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(config.idleTimeout / 1000)}\r\n\r\n`
    socket.on("data", this.#onData)
    socket.on("end", this.#onEnd)
    socket.on("error", this.#onError)
    socket.on("timeout", this.#onTimeout)
    socket.setTimeout(config.idleTimeout)
  }

  answer({ body, last, status, type }: LaneAnswer<string>): void {
    const socket = this.#socket
    if (socket.destroyed) return
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`
    let encoding: BufferEncoding = "latin1"
    if (body !== "") {
      const length = Buffer.byteLength(body)
      // ASCII is the same in both encodings, and Node writes latin1 faster.
      if (length !== body.length) encoding = "utf8"
      head += `Content-Type: ${type}\r\nContent-Length: ${length}\r\n`
    }
    head += dateLine() + (last ? "Connection: close\r\n\r\n" : this.#keepAlive)
    socket.write(head + body, encoding)
    this.#end(last)
  }

  /** As fast as the client reads it. The answer is already counted. */
  answerLong({ body, last, status, type }: LaneAnswer<LongText>): void {
    const socket = this.#socket
    const { memory } = this.#config
    if (socket.destroyed) return memory.give(body.length)
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nContent-Type: ${type}\r\nContent-Length: ` +
        `${body.length + 1}\r\n${dateLine()}${last ? "Connection: close\r\n\r\n" : this.#keepAlive}`,
      "latin1"
    )
    const done = (): void => {
      socket.write("\n", "latin1")
      this.#end(last)
    }
    writePieces(socket, body, { memory, done })
  }

  /** Waits until most is read, as a socket below its high-water mark, which depends on Node, does not report it. */
  #end(last: boolean): void {
    const socket = this.#socket
    const unsent = socket.writableLength
    if (unsent > MAX_UNSENT && socket.writableNeedDrain) {
      const { memory } = this.#config
      if (!memory.take(unsent)) return void socket.destroy()
      if (!last) {
        return void socket.once("drain", () => {
          memory.give(unsent)
          this.#goOn()
        })
      }
    }
    if (last) socket.destroySoon()
    else this.#goOn()
  }

  /**
   * Detects a client that is gone after ending its side: a write fails, which closes the connection and ends the call.
   * Waiting clients ignore interim answers (RFC 9110, 15.2).
   */
  #probeLater(delay: number): void {
    afterDelay(delay, () => {
      if (!this.#busy || this.#socket.destroyed) return
      this.#socket.write(INTERIM, "latin1")
      this.#probeLater(2 * delay)
    }).unref()
  }

  #read(chunk: Buffer): void {
    if (this.#busy) return this.#keep(chunk)
    const end = chunk.indexOf(END_OF_HEAD)
    if (end < 0 || end > MAX_HEAD - END_OF_HEAD.length) return this.#leave(chunk)
    const head = chunk.toString("latin1", 0, end)
    if (head !== this.#head) {
      this.#plain = readPlainHead(head)
      this.#head = head
    }
    const plain = this.#plain
    const start = end + END_OF_HEAD.length
    if (plain === undefined || plain.length !== chunk.length - start) return this.#leave(chunk)
    this.#busy = true
    if (!this.#config.take(plain, chunk.subarray(start), this)) {
      this.#busy = false
      this.#leave(chunk)
    }
  }

  #keep(chunk: Buffer): void {
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    if (this.#pendingBytes > MAX_PENDING || this.#pending.length >= MAX_PIECES) this.#socket.pause()
  }

  #goOn(): void {
    if (this.#pendingBytes === 0) {
      this.#busy = false
      if (this.#ended) this.#socket.end()
      return
    }
    // Deferred, as immediate answers would nest.
    queueMicrotask(() => {
      if (this.#socket.destroyed) return
      const chunk = Buffer.concat(this.#pending)
      this.#pending = []
      this.#pendingBytes = 0
      this.#busy = false
      if (this.#socket.isPaused()) this.#socket.resume()
      this.#read(chunk)
    })
  }

  /** Passes the unread chunk on, too. */
  #leave(chunk: Buffer): void {
    const socket = this.#socket
    // An ended stream takes no chunk back. A client that ended within a request reads no answer.
    if (this.#ended) return void socket.destroySoon()
    socket.off("data", this.#onData).off("end", this.#onEnd).off("timeout", this.#onTimeout).off("error", this.#onError)
    socket.setTimeout(0)
    socket.pause()
    socket.unshift(chunk)
    this.#config.handOver(socket)
    socket.resume()
  }
}

let dated = { second: -1, line: "" }

const dateLine = (): string => {
  const now = wallTime()
  const second = Math.floor(now / 1000)
  if (second !== dated.second) dated = { second, line: `Date: ${new Date(now).toUTCString()}\r\n` }
  return dated.line
}
