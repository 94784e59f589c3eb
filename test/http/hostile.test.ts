import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { Agent, request } from "node:http"
import { connect, type Socket } from "node:net"
import { MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { eventually } from "../support/eventually.ts"
import { fakeMethod } from "../support/fakeMethod.ts"
import { FAKE_METHODS, GENESIS, postText, type TestServer, testServer } from "../support/rpcServer.ts"

/** Attacks of hostile clients. During each of them an honest client sends requests, and is answered. */

const HASH = { id: 1, method: "getblockhash", params: [0] }

const basic = (password: string): string => `Basic ${Buffer.from(`alice:${password}`).toString("base64")}`

/** An honest client that repeats a request during an attack: every call on a connection of its own. */
const honest = ({ post }: TestServer, calls = 10) =>
  Effect.forEach(Array.from({ length: calls }), () =>
    Effect.map(Effect.timed(post(HASH)), ([took, { text }]) => {
      assert.include(text, GENESIS)
      assert.isBelow(Duration.toMillis(took), 5_000)
    }), { discard: true })

const opened = (port: number, text = ""): Effect.Effect<Socket> =>
  Effect.async((resume) => {
    const socket = connect(port, "127.0.0.1", () => {
      if (text !== "") socket.write(text)
      resume(Effect.succeed(socket))
    })
    socket.on("error", () => resume(Effect.succeed(socket)))
  })

const many = (count: number, port: number, text?: string) =>
  Effect.acquireRelease(
    Effect.forEach(Array.from({ length: count }), () => opened(port, text), { concurrency: 100 }),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      })
  )

const isOpen = (socket: Socket): boolean => !socket.destroyed && socket.readyState === "open"

/** One call over an agent's connection, from an address of this machine. */
const ask = (port: number, agent: Agent, { from = "127.0.0.1", password = "" } = {}) =>
  Effect.async<number>((resume) => {
    const headers = password === "" ? {} : { authorization: basic(password) }
    const options = { port, host: "127.0.0.1", localAddress: from, method: "POST", agent, headers }
    const outgoing = request(options, (incoming) => {
      incoming.resume().on("end", () => resume(Effect.succeed(incoming.statusCode ?? 0)))
    })
    outgoing.on("error", () => resume(Effect.succeed(0)))
    outgoing.end(JSON.stringify(HASH))
  })

const keptAlive = Effect.acquireRelease(
  Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
  (agent) => Effect.sync(() => agent.destroy())
)

describe("a hostile client", () => {
  it.scopedLive(
    "that opens 1,000 connections keeps no other client out, not even a connected idle one",
    () =>
      Effect.gen(function*() {
        const server = yield* testServer()
        const agent = yield* keptAlive
        let connections = 0
        agent.on("free", () => connections++)
        assert.strictEqual(yield* ask(server.port, agent), 200)
        const asking = yield* Effect.fork(honest(server))
        const idle = yield* many(1_000, server.port)
        yield* Fiber.join(asking)
        yield* eventually("at most 512 are open", () => idle.filter(isOpen).length <= 512)
        yield* honest(server, 2)
        assert.isAbove(idle.filter(isOpen).length, 450)
        assert.strictEqual(yield* ask(server.port, agent), 200)
        assert.strictEqual(connections, 2, "on the connection that it had before")
      })
  )

  it.scopedLive(
    "that sends endless heads and bodies delays no other client, and is disconnected first",
    () =>
      Effect.gen(function*() {
        const server = yield* testServer({ limits: { connections: 100 } })
        yield* many(150, server.port, "POST / HTTP/1.1\r\nX-Slow: ")
        const bodies = yield* many(150, server.port, "POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n{")
        yield* honest(server)
        assert.isAtMost(bodies.filter(isOpen).length, 100)
      })
  )

  it.scopedLive(
    "that sends 100 MB gets 413 at the limit, and memory does not grow with the sent bytes",
    () =>
      Effect.gen(function*() {
        const server = yield* testServer()
        const announced = yield* server.converse(`POST / HTTP/1.1\r\nContent-Length: 104857600\r\n\r\n{`)
        assert.match(announced, /^HTTP\/1\.1 413 /)
        const before = process.memoryUsage().rss
        const piece = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(0x100000, " "), Buffer.from("\r\n")])
        const chunked = Effect.async<string>((resume) => {
          let answer = ""
          let left = 100
          const socket = connect(server.port, "127.0.0.1", () => {
            socket.write("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
            const send = (): void => {
              while (left > 0 && !socket.destroyed) {
                left--
                if (!socket.write(piece)) return void socket.once("drain", send)
              }
            }
            send()
          })
          socket.on("data", (data) => {
            answer += data.toString("latin1")
          })
          socket.on("error", () => {})
          socket.on("close", () => resume(Effect.succeed(answer)))
        })
        const sending = yield* Effect.fork(Effect.all([chunked, chunked, chunked], { concurrency: 3 }))
        yield* honest(server, 3)
        for (const answer of yield* Fiber.join(sending)) {
          assert.match(answer, /^HTTP\/1\.1 413 .*Request body too large$/s)
        }
        // Three bodies up to the limit of 32 MiB, and what Node has not collected of their pieces.
        assert.isBelow(process.memoryUsage().rss - before, 260 * 2 ** 20)
      })
  )

  it.scopedLive("and nests JSON deeply gets an error at once", () =>
    Effect.gen(function*() {
      const server = yield* testServer()
      const depth = 1_000_000
      for (
        const body of [
          "[".repeat(depth),
          `${"[".repeat(depth)}${"]".repeat(depth)}`,
          `{"id":1,"method":"getblockcount","params":${"{\"a\":".repeat(depth)}1${"}".repeat(depth)}}`
        ]
      ) {
        const [took, { status, text }] = yield* Effect.timed(server.post(body))
        assert.deepStrictEqual([status, JSON.parse(text).error.code], [500, -32_700])
        assert.isBelow(Duration.toMillis(took), 10_000)
      }
      yield* honest(server, 1)
    }))

  it.scopedLive("and sends batches of 10,000 is answered, and other clients in between", () =>
    Effect.gen(function*() {
      const server = yield* testServer()
      const batch = JSON.stringify(Array.from({ length: 10_000 }, (_, id) => ({ ...HASH, id })))
      const batches = yield* Effect.fork(Effect.all([server.post(batch), server.post(batch)], { concurrency: 2 }))
      yield* honest(server)
      for (const { text } of yield* Fiber.join(batches)) {
        const ids = JSON.parse(text).map(({ id }: { readonly id: number }) => id)
        assert.deepStrictEqual([ids.length, ids[0], ids[9_999]], [10_000, 0, 9_999])
      }
    }))

  it.scopedLive(
    "that tries passwords, 200 at once, delays no client at another address",
    () =>
      Effect.gen(function*() {
        const { http, port } = yield* testServer({
          credentials: { user: "alice", password: Redacted.make("right") },
          limits: { penalty: 600_000 }
        })
        const fresh = new Agent({ keepAlive: false })
        const known = { from: "127.0.0.2", password: "right" }
        assert.strictEqual(yield* ask(port, fresh, known), 200)
        yield* many(200, port, postText(JSON.stringify(HASH), `Authorization: ${basic("guess")}\r\n`))
        // Answered after the guesses have arrived.
        assert.strictEqual((yield* http({ path: "/health" })).status, 200)
        for (let i = 0; i < 5; i++) {
          const [took, status] = yield* Effect.timed(ask(port, fresh, known))
          assert.strictEqual(status, 200)
          assert.isBelow(Duration.toMillis(took), 5_000, "it had the right credentials before")
        }
        const [took, status] = yield* Effect.timed(ask(port, fresh, { from: "127.0.0.3", password: "right" }))
        assert.strictEqual(status, 200)
        assert.isBelow(Duration.toMillis(took), 5_000, "it is next in turn")
      })
  )

  it.scopedLive(
    "and does not read its answers gets no more of them than the buffers hold",
    () =>
      Effect.gen(function*() {
        let served = 0
        const long = fakeMethod({ name: "long", params: {} }, () => {
          served += 1
          return Effect.succeed("x".repeat(500_000))
        })
        const budget = new MemoryBudget(2 ** 30)
        const server = yield* testServer({ methods: [...FAKE_METHODS, long], limits: { idleTimeout: 400 }, budget })
        const call = postText(JSON.stringify({ id: 1, method: "long" }))
        const sockets = yield* many(10, server.port)
        for (const socket of sockets) {
          socket.pause()
          // One request at first: such a connection is in the fast lane.
          socket.write(call)
        }
        yield* eventually("ten are served", () => served >= 10)
        for (const socket of sockets) socket.write(call.repeat(40))
        yield* honest(server)
        yield* eventually("the unread answers are dropped", () => budget.held("rpc_answers") === 0)
        yield* honest(server, 1)
        assert.isBelow(served, 10 * 30)
      })
  )

  it.scopedLive(
    "that pipelines thousands of requests is disconnected or answered in order",
    () =>
      Effect.gen(function*() {
        const server = yield* testServer()
        const flood = Array.from({ length: 5_000 }, (_, id) => postText(JSON.stringify({ ...HASH, id }))).join("")
        const floods = yield* Effect.fork(
          Effect.all(Array.from({ length: 5 }, () => server.converse(flood, 5_000)), { concurrency: 5 })
        )
        yield* honest(server)
        for (const answer of yield* Fiber.join(floods)) {
          const ids = [...answer.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))
          assert.deepStrictEqual(ids, ids.map((_, at) => at))
        }
      })
  )
})
