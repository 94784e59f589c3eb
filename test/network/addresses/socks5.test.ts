import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Fiber, type Scope } from "effect"
import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { join } from "node:path"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { connectThrough, isolatingCredentials } from "../../../src/network/addresses/socks5.ts"
import type { PeerStream } from "../../../src/network/connect/Transport.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { seeded } from "./support.ts"

/** A proxy that handles each connection with `serve`, on a free port or on a unix socket. */
const proxyWith = (serve: (socket: Socket) => void, path?: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket)).on("error", () => {})
        serve(socket)
      })
      server.listen(path === undefined ? { host: "127.0.0.1", port: 0 } : { path })
      await once(server, "listening")
      const bound = server.address()
      const port = typeof bound === "object" && bound !== null ? bound.port : 0
      return { server, sockets, host: "127.0.0.1", port }
    }),
    ({ server, sockets }) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )

/** Replies to each message with the given bytes; records the messages. */
const scripted = (answers: ReadonlyArray<ReadonlyArray<number>>, heard: Array<ReadonlyArray<number>> = []) =>
(
  socket: Socket
): void => {
  let next = 0
  socket.on("data", (data) => {
    heard.push(Array.from(data))
    const answer = answers[next++]
    if (answer !== undefined) socket.write(Uint8Array.from(answer))
  })
}

/** Grows as bytes arrive. */
const receivedFrom = (stream: PeerStream): ReadonlyArray<number> => {
  const received: Array<number> = []
  const take = (): void => {
    for (let bytes = stream.read(); bytes !== null; bytes = stream.read()) received.push(...bytes)
  }
  stream.on("readable", take)
  take()
  return received
}

const OPEN = [5, 0]
const DONE = [5, 0, 0, 1, 1, 2, 3, 4, 0, 80]
const target = { host: "seed.example", port: 8334 }

const bytesOf = (text: string): ReadonlyArray<number> => [text.length, ...Buffer.from(text)]

const reasonOf = (
  serve: (socket: Socket) => void,
  options: Parameters<typeof connectThrough>[2] = {},
  to = target
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function*() {
    const proxy = yield* proxyWith(serve)
    const outcome = yield* Effect.scoped(Effect.either(connectThrough(proxy, to, { limit: "5 seconds", ...options })))
    assert.isTrue(Either.isLeft(outcome))
    return Either.isLeft(outcome) ? outcome.left.message : ""
  })

describe("a connection through a SOCKS5 proxy", () => {
  it.scopedLive("the name is passed on unchanged, and the socket keeps the bytes that the peer has sent", () =>
    Effect.gen(function*() {
      const heard: Array<ReadonlyArray<number>> = []
      const proxy = yield* proxyWith(scripted([OPEN, [...DONE, 7, 8], [9]], heard))
      const socket = yield* connectThrough(proxy, target)
      const received = receivedFrom(socket)
      socket.write(Uint8Array.of(42))
      yield* eventually("three bytes", () => received.length === 3)
      assert.deepStrictEqual(received, [7, 8, 9])
      assert.deepStrictEqual(heard, [[5, 1, 0], [5, 1, 0, 3, ...bytesOf("seed.example"), 0x20, 0x8e], [42]])
    }))

  it.scopedLive("the proxy may be a unix socket", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "socks")
      const heard: Array<ReadonlyArray<number>> = []
      yield* proxyWith(scripted([OPEN, DONE], heard), path)
      yield* connectThrough({ path }, target)
      assert.deepStrictEqual(heard[1], [5, 1, 0, 3, ...bytesOf("seed.example"), 0x20, 0x8e])
    }))

  it.scopedLive("the client logs in if the proxy requires it", () =>
    Effect.gen(function*() {
      const heard: Array<ReadonlyArray<number>> = []
      const proxy = yield* proxyWith(scripted([[5, 2], [1, 0], DONE], heard))
      yield* connectThrough(proxy, target, { credentials: { user: "u", password: "pass" } })
      assert.deepStrictEqual(heard.slice(0, 2), [[5, 2, 0, 2], [1, ...bytesOf("u"), ...bytesOf("pass")]])
    }))

  it.scopedLive.each([
    { kind: "IPv6", answer: [5, 0, 0, 4, ...new Array<number>(18).fill(1)] },
    { kind: "a name", answer: [5, 0, 0, 3, 255, ...new Array<number>(257).fill(1)] },
    { kind: "an empty name", answer: [5, 0, 0, 3, 0, 1, 1] }
  ])("the client skips the bound address: $kind", ({ answer }) =>
    Effect.gen(function*() {
      const proxy = yield* proxyWith(scripted([OPEN, [...answer, 99]]))
      const socket = yield* connectThrough(proxy, target)
      const received = receivedFrom(socket)
      yield* eventually("a byte", () => received.length > 0)
      assert.deepStrictEqual(received, [99])
    }))

  it.scopedLive("the handshake works with one byte at a time", () =>
    Effect.gen(function*() {
      const proxy = yield* proxyWith((socket) => {
        const answers = [OPEN, DONE]
        socket.on("data", async () => {
          for (const byte of answers.shift() ?? []) {
            socket.write(Uint8Array.of(byte))
            await Effect.runPromise(turnOfEventLoop)
          }
        })
        socket.setNoDelay(true)
      })
      const socket = yield* connectThrough(proxy, target)
      assert.isFalse(socket.destroyed)
    }))

  it.scopedLive.each<
    { readonly why: string; readonly answers: ReadonlyArray<ReadonlyArray<number>>; readonly reason: string }
  >([
    { why: "another version", answers: [[4, 0]], reason: "invalid answer: not a SOCKS5 proxy" },
    {
      why: "a web server",
      answers: [Array.from(Buffer.from("HTTP/1.1 400 Bad Request\r\n"))],
      reason: "invalid answer: not a SOCKS5 proxy"
    },
    { why: "no method that we have", answers: [[5, 255]], reason: "the proxy requires another authentication method" },
    {
      why: "a login that was not offered",
      answers: [[5, 2]],
      reason: "the proxy requires another authentication method"
    },
    { why: "a refused connection", answers: [OPEN, [5, 5, 0, 1]], reason: "the connection is refused" },
    { why: "an onion service's refusal", answers: [OPEN, [5, 240, 0, 1]], reason: "there is no such onion service" },
    { why: "an unknown refusal", answers: [OPEN, [5, 99, 0, 1]], reason: "the proxy answers 99" },
    { why: "an answer of another version", answers: [OPEN, [4, 0, 0, 1]], reason: "invalid answer of the proxy" },
    { why: "a reserved byte", answers: [OPEN, [5, 0, 1, 1]], reason: "invalid answer of the proxy" },
    { why: "an unknown kind of address", answers: [OPEN, [5, 0, 0, 2]], reason: "invalid answer of the proxy" }
  ])("the connection fails with $why", ({ answers, reason }) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reasonOf(scripted(answers)), `cannot reach seed.example:8334: ${reason}`)
    }))

  it.scopedLive("the connection fails with a refused login, without showing the login", () =>
    Effect.gen(function*() {
      for (const answer of [[1, 1], [5, 0]]) {
        const reason = yield* reasonOf(scripted([[5, 2], answer]), { credentials: { user: "me", password: "hidden" } })
        assert.strictEqual(reason, "cannot reach seed.example:8334: the proxy refuses the login")
      }
    }))

  it.scopedLive("the connection fails wherever the proxy stops in the middle", () =>
    Effect.gen(function*() {
      for (let length = 0; length < OPEN.length + DONE.length; length++) {
        const answers = [OPEN.slice(0, length), DONE.slice(0, Math.max(0, length - OPEN.length))]
        const reason = yield* reasonOf((socket) => {
          let next = 0
          socket.on("data", () => {
            const answer = answers[next++] ?? []
            socket.write(Uint8Array.from(answer))
            if (answer.length < (next === 1 ? OPEN : DONE).length) socket.end()
          })
        })
        assert.include(reason, "the proxy closed the connection", `after ${length} bytes`)
      }
    }))

  it.scopedLive("the connection times out if the proxy is silent, or sends single bytes", () =>
    Effect.gen(function*() {
      const silent = yield* reasonOf(() => {}, { limit: "100 millis" })
      assert.include(silent, "proxy timeout")
      const slow = yield* reasonOf((socket) => {
        socket.write(Uint8Array.of(...OPEN, 5, 0, 0, 3, 255))
        const timer = setInterval(() => socket.write(Uint8Array.of(1)), 20)
        socket.on("close", () => clearInterval(timer))
      }, { limit: "200 millis" })
      assert.include(slow, "proxy timeout")
    }))

  it.scopedLive("the connection fails without a proxy, and with a name that is too long", () =>
    Effect.gen(function*() {
      const proxy = yield* proxyWith(() => {})
      yield* Effect.promise(() => new Promise((resolve) => proxy.server.close(resolve)))
      const outcome = yield* Effect.scoped(Effect.flip(connectThrough(proxy, { host: "::1", port: 1 })))
      assert.strictEqual(outcome.message, "cannot reach [::1]:1: the proxy cannot be reached: ECONNREFUSED")
      assert.include(yield* reasonOf(() => {}, {}, { host: "a".repeat(256), port: 1 }), "255 bytes")
      const longest = yield* proxyWith(scripted([OPEN, DONE]))
      yield* connectThrough(longest, { host: "a".repeat(255), port: 1 })
    }))

  it.scopedLive("the socket is closed on interruption, and when its scope closes", () =>
    Effect.gen(function*() {
      const proxy = yield* proxyWith(scripted([OPEN]))
      const fiber = yield* Effect.fork(Effect.scoped(connectThrough(proxy, target)))
      yield* eventually("connected", () => proxy.sockets.size > 0)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      yield* eventually("closed", () => proxy.sockets.size === 0)
      const open = yield* proxyWith(scripted([OPEN, DONE]))
      const socket = yield* Effect.scoped(connectThrough(open, target))
      assert.isTrue(socket.destroyed)
    }))
})

describe("isolating credentials", () => {
  it("logins differ between connections and between runs", () => {
    const [one, other] = [isolatingCredentials(seeded(1)), isolatingCredentials(seeded(2))]
    const logins = [one(), one(), other()]
    assert.strictEqual(new Set(logins.map(({ user }) => user)).size, 3)
    for (const { password, user } of logins) {
      assert.strictEqual(user, password)
      assert.match(user, /^[0-9a-f]{16}-[0-9]+$/)
    }
  })
})
