import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { connect, Socket } from "node:net"
import { getDefaultHighWaterMark, setDefaultHighWaterMark } from "node:stream"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { FastLane } from "../../src/http/FastLane.ts"
import { UNCOUNTED } from "../../src/rpc/CallerMemory.ts"
import { eventually } from "../support/eventually.ts"
import { FAKE_METHODS, GENESIS, postText, testServer } from "../support/rpcServer.ts"
import { readByServer } from "../support/serverSide.ts"

/** Plain requests, and the switch from them to requests of other forms, on one connection. */

const body = (id: unknown, name = "getblockcount", params: ReadonlyArray<unknown> = []): string =>
  JSON.stringify({ id, method: name, params })

/** A connection on which a test sends text and waits for answers. */
class Line {
  readonly socket: Socket
  text = ""
  ended = false

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    this.socket.setNoDelay()
    this.socket.on("data", (part) => void (this.text += part.toString("latin1")))
    this.socket.on("error", () => {})
    this.socket.on("end", () => void (this.ended = true))
    this.socket.on("close", () => void (this.ended = true))
  }

  send(text: string): void {
    this.socket.write(text, "utf8")
  }

  /** Waits for an answer with this id, and returns all text received since the last one. */
  reply(id: number | string): Effect.Effect<string> {
    return this.until(() => this.text.includes(`"id":${JSON.stringify(id)}}\n`))
  }

  until(holds: () => boolean): Effect.Effect<string> {
    return Effect.map(eventually("an answer", holds), () => {
      const { text } = this
      this.text = ""
      return text
    })
  }
}

/** A socket whose other end reads nothing until the test resumes it. */
class UnreadSocket extends Socket {
  #sent: () => void = () => {}

  override _write(_chunk: unknown, _encoding: BufferEncoding, sent: () => void): void {
    this.#sent = sent
  }

  deliver(): void {
    this.#sent()
  }
}

const lineTo = (port: number) =>
  Effect.acquireRelease(Effect.sync(() => new Line(port)), ({ socket }) => Effect.sync(() => socket.destroy()))

const HEADERS = /^HTTP\/1\.1 200 OK\r\nContent-Type: application\/json\r\nContent-Length: \d+\r\nDate: [^\r]+ GMT\r\n/

describe("a connection with plain requests", () => {
  it.scopedLive("gives the same answers as Node's server", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const requests = [
        body(1),
        body(2, "getblockhash", [0]),
        body(3, "getblockhash", [9]),
        body(4, "nothing"),
        body("äöü 😀"),
        "{\"id\":5}",
        "no json",
        "",
        "[]",
        `[${body(6)},${body(7)}]`,
        body(8, "slow", [5]),
        "{\"jsonrpc\":\"2.0\",\"method\":\"getblockcount\"}"
      ]
      const undated = (text: string) => text.replace(/\r\nDate: [^\r]+/, "")
      for (const each of requests) {
        const answers: Array<string> = []
        // The second form is not plain.
        for (const head of ["", "Expect: 100-continue\r\n"]) {
          const line = yield* lineTo(port)
          line.send(postText(each, head))
          const text = yield* line.until(() => /HTTP\/1\.1 (?!100)[^]*\r\n\r\n/.test(line.text))
          answers.push(undated(text).replace("HTTP/1.1 100 Continue\r\n\r\n", ""))
        }
        assert.strictEqual(answers[0], answers[1], each)
      }
    }))

  it.scopedLive("may continue with requests of any form", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const line = yield* lineTo(port)
      line.send(postText(body(1)))
      assert.match(yield* line.reply(1), HEADERS)
      line.send(postText(body(2, "getblockhash", [0])))
      assert.include(yield* line.reply(2), GENESIS)
      line.send(postText(body(3)) + postText(body(4)))
      assert.strictEqual((yield* line.reply(4)).split("HTTP/1.1 200 OK").length, 3)
      const text = postText(body(5))
      for (const at of [1, 30, text.length - 3]) {
        line.send(text.slice(0, at))
        yield* readByServer(line.socket)
        line.send(text.slice(at))
        yield* line.reply(5)
      }
      line.send("GET /health HTTP/1.1\r\n\r\n")
      yield* line.until(() => line.text.includes("\"status\":\"healthy\""))
      line.send(postText(body(6)))
      yield* line.reply(6)
    }))

  it.scopedLive("keeps the order of answers when one is slow", () =>
    Effect.gen(function*() {
      const { dispatch, port } = yield* testServer()
      const line = yield* lineTo(port)
      line.send(postText(body(1, "slow", [40])))
      yield* line.until(() => dispatch.inFlight() > 0)
      line.send(postText(body(2)))
      yield* readByServer(line.socket)
      line.send(postText(body(3)).slice(0, 40))
      const first = yield* line.reply(2)
      assert.deepStrictEqual([...first.matchAll(/"id":(\d)/g)].map(([, id]) => Number(id)), [1, 2])
      line.send(postText(body(3)).slice(40))
      yield* line.reply(3)
    }))

  it.scopedLive("is answered after the client has ended its side", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const line = yield* lineTo(port)
      line.socket.end(postText(body(1, "slow", [30])))
      assert.match(yield* line.until(() => line.ended), /^HTTP\/1\.1 200 /)
    }))

  it.scopedLive("ends in order if the last request is not plain and the client has ended its side", () =>
    Effect.gen(function*() {
      const { dispatch, port, post } = yield* testServer()
      for (const rest of ["GET /health HTTP/1.1\r\n\r\n", "POST / HT", postText(body(2)) + postText(body(3))]) {
        const line = yield* lineTo(port)
        line.send(postText(body(1, "slow", [30])))
        yield* line.until(() => dispatch.inFlight() > 0)
        line.socket.end(rest)
        assert.match(yield* line.until(() => line.ended), /^HTTP\/1\.1 200 .*"result":"done"/s)
      }
      assert.strictEqual((yield* post({ id: 1, method: "getblockcount" })).status, 200)
    }))

  it.scopedLive("is closed when it is idle for a while, but not while a call runs", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer({ limits: { idleTimeout: 150 } })
      const line = yield* lineTo(port)
      const [took] = yield* Effect.timed(Effect.gen(function*() {
        line.send(postText(body(1, "slow", [400])))
        yield* line.reply(1)
      }))
      assert.isAtLeast(Duration.toMillis(took), 390)
      yield* line.until(() => line.ended)
      const silent = yield* lineTo(port)
      yield* silent.until(() => silent.ended)
    }))

  it.scopedLive("requires credentials like any other", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer({ credentials: { user: "a", password: Redacted.make("b") } })
      const authorization = (password: string) =>
        `Authorization: Basic ${Buffer.from(`a:${password}`).toString("base64")}\r\n`
      const line = yield* lineTo(port)
      line.send(postText(body(1), authorization("b")))
      yield* line.reply(1)
      line.send(postText(body(2), authorization("c")))
      assert.match(yield* line.until(() => line.text.includes("\r\n\r\n")), /^HTTP\/1\.1 401 /)
      line.send(postText(body(3)))
      assert.match(yield* line.until(() => line.text.includes("\r\n\r\n")), /^HTTP\/1\.1 401 /)
      const other = yield* lineTo(port)
      other.send(postText(body(4)))
      assert.match(yield* other.until(() => other.text.includes("\r\n\r\n")), /^HTTP\/1\.1 401 /)
    }))

  it.scopedLive("counts its requests", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer({ rateLimit: 2 })
      const line = yield* lineTo(port)
      for (const expected of [200, 200, 429]) {
        line.send(postText(body(1)))
        const answer = yield* line.until(() => line.text.includes("\r\n\r\n"))
        assert.include(answer, `HTTP/1.1 ${expected} `)
      }
    }))

  it.scopedLive("counts a call once that Node's server refuses", () =>
    Effect.gen(function*() {
      const { dispatch, port } = yield* testServer({
        rateLimit: 4,
        limits: { concurrentRequests: 2, stopTimeout: 50 }
      })
      const write = postText(JSON.stringify({ id: 1, method: "write", params: [60_000] }))
      const busy = yield* lineTo(port)
      busy.send(write)
      yield* eventually("the call runs", () => dispatch.inFlight() === 1)
      for (const expected of [503, 503, 503, 429]) {
        const line = yield* lineTo(port)
        line.send(write)
        assert.include(yield* line.until(() => line.text.includes("\r\n\r\n")), `HTTP/1.1 ${expected} `)
      }
    }))

  it("stops reading when many small pieces wait, even with few bytes", () => {
    const socket = new Socket()
    const lane = new FastLane(socket, { idleTimeout: 60_000, take: () => true, handOver: () => {}, memory: UNCOUNTED })
    socket.emit("data", Buffer.from(postText(body(1))))
    for (let piece = 0; piece < 63; piece++) socket.emit("data", Buffer.from("P"))
    assert.isFalse(socket.isPaused())
    socket.emit("data", Buffer.from("P"))
    assert.isTrue(socket.isPaused())
    socket.destroy()
    lane.answer({ status: 200, type: "application/json", body: "1\n", last: false })
  })

  it.scopedLive("takes the next request once the client reads, with any high-water mark of its socket", () =>
    Effect.gen(function*() {
      const usual = getDefaultHighWaterMark(false)
      for (const mark of [16_384, 65_536]) {
        setDefaultHighWaterMark(false, mark)
        const socket = new UnreadSocket()
        setDefaultHighWaterMark(false, usual)
        let taken = 0
        const config = { idleTimeout: 60_000, take: () => ++taken > 0, handOver: () => {}, memory: UNCOUNTED }
        const lane = new FastLane(socket, config)
        socket.emit("data", Buffer.from(postText(body(1))))
        lane.answer({ status: 200, type: "application/json", body: "x".repeat(40_000), last: false })
        socket.emit("data", Buffer.from(postText(body(2))))
        assert.strictEqual(taken, mark > 40_000 ? 2 : 1)
        socket.deliver()
        yield* turnOfEventLoop
        assert.strictEqual(taken, 2)
        socket.destroy()
      }
    }))

  it.scopedLive("closes when the node stops, without a delay", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { dispatch, lifecycle, port } = yield* Scope.extend(
        testServer({ methods: FAKE_METHODS, limits: { stopTimeout: 60_000, idleTimeout: 60_000 } }),
        scope
      )
      const [idle, busy] = [yield* lineTo(port), yield* lineTo(port)]
      idle.send(postText(body(1)))
      yield* idle.reply(1)
      busy.send(postText(body(2, "slow", [100])))
      yield* busy.until(() => dispatch.inFlight() > 0)
      const closing = yield* Effect.fork(Effect.timed(Scope.close(scope, Exit.void)))
      yield* lifecycle.stopRequested
      assert.include(yield* busy.reply(2), "Connection: close")
      const [took] = yield* Fiber.join(closing)
      assert.isBelow(Duration.toMillis(took), 30_000)
      yield* idle.until(() => idle.ended)
    }))
})
