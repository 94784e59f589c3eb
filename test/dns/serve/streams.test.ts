import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { connect as connectTls } from "node:tls"
import { dnsConnections, dnsDropped } from "../../../src/metrics/dnsMetrics.ts"
import { TEST_CERTIFICATE } from "../../support/certificate.ts"
import { eventually } from "../../support/eventually.ts"
import { ANY_PORT, certificateFiles, connectTo, startServer, StreamClient, TRANSFER } from "./liveServer.ts"
import { questionFor } from "./questions.ts"

const tcp = { listen: [ANY_PORT] }

describe("DNS over TCP", () => {
  it.scoped("answers several questions of one write, each when it is ready", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp)
      const client = yield* connectTo(server.port)
      client.send(
        questionFor("slow.bit", { id: 1 }),
        questionFor("hot.bit", { id: 2 }),
        questionFor("a.bit", { id: 3 })
      )
      yield* eventually("two answers", () => client.messages.length === 2)
      assert.sameMembers([...client.ids()], [2, 3])
      yield* server.open
      yield* eventually("the third answer", () => client.messages.length === 3)
      assert.strictEqual(client.ids()[2], 1)
      assert.deepInclude(server.seen[0]?.client, { transport: "tcp", address: "127.0.0.1" })
    }))

  it.scoped("answers a client that closes its side after the question", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp)
      const client = yield* connectTo(server.port)
      client.send(questionFor("slow.bit"))
      client.socket.end()
      yield* eventually("the question is read", () => server.working() === 1)
      yield* server.open
      yield* eventually("the end", () => client.closed)
      assert.lengthOf(client.messages, 1)
    }))

  it.scoped("closes for an empty message, one without a header and one that asks nothing", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp)
      for (const bytes of [Buffer.alloc(0), Buffer.alloc(11), questionFor("drop.bit")]) {
        const client = yield* connectTo(server.port)
        client.send(bytes)
        yield* eventually("the end", () => client.closed)
        assert.lengthOf(client.messages, 0)
      }
      const other = yield* connectTo(server.port)
      other.send(questionFor("a.bit"))
      yield* eventually("an answer to others", () => other.messages.length === 1)
    }))

  it.scoped("reads on only while there is room for work, and loses nothing", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp, { inFlight: 5 })
      const client = yield* connectTo(server.port)
      client.send(...Array.from({ length: 50 }, (_, id) => questionFor("slow.bit", { id })))
      yield* eventually("five are under way", () => server.working() === 5)
      assert.lengthOf(server.seen, 5)
      yield* server.open
      yield* eventually("all answers", () => client.messages.length === 50)
      assert.deepStrictEqual([...client.ids()].sort((a, b) => a - b), Array.from({ length: 50 }, (_, id) => id))
    }))

  it.scoped("ends work whose client leaves", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp)
      const client = yield* connectTo(server.port)
      client.send(questionFor("slow.bit"), questionFor("slow2.bit"))
      yield* eventually("both are under way", () => server.working() === 2)
      client.socket.resetAndDestroy()
      yield* eventually("both are interrupted", () => server.interrupted() === 2 && server.working() === 0)
    }))

  it.scoped("sends a transfer as fast as the client reads", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp)
      const client = yield* connectTo(server.port)
      client.socket.pause()
      client.send(questionFor("transfer.bit"))
      yield* eventually("the transfer begins", () => server.seen.length === 1)
      client.socket.resume()
      yield* eventually("all of it", () => client.messages.length === TRANSFER.messages)
      assert.isTrue(client.messages.every(({ length }) => length === TRANSFER.bytes))
    }))

  it.scoped("closes idle connections after ten seconds, and none that waits for its answer", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp)
      const [idle, used, waiting] = yield* Effect.all([1, 2, 3].map(() => connectTo(server.port)))
      waiting?.send(questionFor("slow.bit"))
      yield* eventually("the question is read", () => server.working() === 1)
      yield* eventually("all are open", () => dnsConnections.value() >= 3)
      yield* TestClock.adjust("9 seconds")
      used?.send(questionFor("a.bit"))
      yield* eventually("an answer", () => used?.messages.length === 1)
      yield* TestClock.adjust("2 seconds")
      yield* eventually("the idle one is closed", () => idle?.closed === true)
      assert.deepStrictEqual([used?.closed, waiting?.closed], [false, false])
      yield* TestClock.adjust("60 seconds")
      yield* eventually("so is the other", () => used?.closed === true)
      assert.isFalse(waiting?.closed)
      yield* server.open
      yield* eventually("the late answer", () => waiting?.messages.length === 1)
    }))

  it.scoped("has room for newcomers: the oldest idle connection closes, and none that works", () =>
    Effect.gen(function*() {
      const server = yield* startServer(tcp, { connections: 2 })
      const refused = dnsDropped.of("connections").value()
      const first = yield* connectTo(server.port)
      first.send(questionFor("slow.bit"))
      yield* eventually("the first works", () => server.working() === 1)
      const second = yield* connectTo(server.port)
      const third = yield* connectTo(server.port)
      yield* eventually("the second is closed", () => second.closed)
      third.send(questionFor("slow.bit"))
      yield* eventually("the third works", () => server.working() === 2)
      const fourth = yield* connectTo(server.port)
      yield* eventually("the fourth is refused", () => fourth.closed)
      assert.deepStrictEqual([first.closed, third.closed], [false, false])
      assert.strictEqual(dnsDropped.of("connections").value() - refused, 2)
    }))

  it.effect("ends with its scope: connections and work, and the port is free", () =>
    Effect.gen(function*() {
      const { client, port, server } = yield* Effect.scoped(Effect.gen(function*() {
        const server = yield* startServer(tcp)
        const client = yield* Effect.scoped(Effect.succeed(0)).pipe(Effect.zipRight(connectTo(server.port)))
        client.send(questionFor("slow.bit"))
        yield* eventually("the work begins", () => server.working() === 1)
        return { server, client, port: server.port }
      }))
      yield* eventually("all is closed", () => client.closed && server.working() === 0)
      yield* Effect.scoped(startServer({ listen: [{ ...ANY_PORT, port }] }))
    }))

  it.scoped("names the port that another program has", () =>
    Effect.gen(function*() {
      const taken = createServer()
      yield* Effect.async<void>((resume) => void taken.listen(0, "127.0.0.1", () => resume(Effect.void)))
      yield* Effect.addFinalizer(() => Effect.sync(() => void taken.close()))
      const bound = taken.address()
      const port = typeof bound === "object" && bound !== null ? bound.port : 0
      const failure = yield* Effect.flip(startServer({ listen: [{ ...ANY_PORT, port }] }))
      assert.include(failure.message, `127.0.0.1:${port} for DNS`)
    }))
})

describe("DNS over TLS", () => {
  it.scoped("answers with the certificate, for clients with the name dot and without", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ tls: [ANY_PORT], ...yield* certificateFiles })
      for (const ALPNProtocols of [["dot"], []]) {
        const socket = connectTls({ port: server.port, host: "127.0.0.1", ca: TEST_CERTIFICATE, ALPNProtocols })
        const client = new StreamClient(socket)
        client.send(questionFor("hot.bit", { id: 1 }), questionFor("a.bit", { id: 2 }))
        yield* eventually("the answers", () => client.messages.length === 2)
        assert.strictEqual(socket.alpnProtocol, ALPNProtocols[0] ?? false)
        assert.isTrue(socket.authorized)
        socket.destroy()
      }
      assert.strictEqual(server.seen[0]?.client.transport, "tls")
    }))

  it.scoped("answers a client that closes its side after the question", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ tls: [ANY_PORT], ...yield* certificateFiles })
      const options = { port: server.port, host: "127.0.0.1", ca: TEST_CERTIFICATE, allowHalfOpen: true }
      const [client, later] = [new StreamClient(connectTls(options)), new StreamClient(connectTls(options))]
      client.send(questionFor("slow.bit"))
      yield* eventually("the question is read", () => server.working() === 1)
      client.socket.end()
      yield* Effect.promise(() => once(client.socket, "finish"))
      // The server has read the end before this answer.
      later.send(questionFor("hot.bit"))
      yield* eventually("the later answer", () => later.messages.length === 1)
      later.socket.destroy()
      yield* server.open
      yield* eventually("the end", () => client.closed)
      assert.lengthOf(client.messages, 1)
    }))

  it.scoped("closes a client that leaves in the middle of its handshake", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ tls: [ANY_PORT], ...yield* certificateFiles })
      const client = yield* connectTo(server.port)
      yield* eventually("it is open", () => dnsConnections.value() >= 1)
      client.socket.end()
      yield* eventually("it is closed", () => client.closed)
    }))

  it.scoped("closes a client that never finishes its handshake, and one that speaks something else", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ tls: [ANY_PORT], ...yield* certificateFiles })
      const [silent, plain] = [yield* connectTo(server.port), yield* connectTo(server.port)]
      yield* eventually("both are open", () => dnsConnections.value() >= 2)
      plain.send(questionFor("a.bit"))
      yield* eventually("the plain one is closed", () => plain.closed)
      yield* TestClock.adjust("12 seconds")
      yield* eventually("the silent one is closed", () => silent.closed)
    }))

  it.scoped("takes a new certificate upon SIGHUP, and keeps the old one where the new one is broken", () =>
    Effect.gen(function*() {
      const files = yield* certificateFiles
      const server = yield* startServer({ tls: [ANY_PORT], ...files })
      const works = Effect.async<boolean>((resume) => {
        const socket = connectTls({ port: server.port, host: "127.0.0.1", ca: TEST_CERTIFICATE }, () => {
          resume(Effect.succeed(socket.authorized))
          socket.destroy()
        })
        socket.on("error", () => resume(Effect.succeed(false)))
      })
      writeFileSync(files.certificate, "broken")
      process.emit("SIGHUP")
      assert.isTrue(yield* works)
      writeFileSync(files.certificate, TEST_CERTIFICATE)
      process.emit("SIGHUP")
      assert.isTrue(yield* works)
    }))

  it.scoped("does not start without its certificate, and says which file", () =>
    Effect.gen(function*() {
      const files = yield* certificateFiles
      const missing = yield* Effect.flip(startServer({ tls: [ANY_PORT], ...files, key: `${files.key}.gone` }))
      assert.include(missing.message, `${files.key}.gone`)
      writeFileSync(files.key, "nothing")
      const broken = yield* Effect.flip(startServer({ tls: [ANY_PORT], ...files }))
      assert.include(broken.message, files.certificate)
    }))
})
