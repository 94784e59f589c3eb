import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { createSocket, type Socket } from "node:dgram"
import { type DnsDrop, dnsDropped, dnsListeners } from "../../../src/metrics/dnsMetrics.ts"
import { eventually } from "../../support/eventually.ts"
import { ANY_PORT, startServer } from "./liveServer.ts"
import { answerOf, questionFor } from "./questions.ts"

const udp = { listen: [ANY_PORT] }

class DatagramClient {
  readonly answers: Array<Buffer> = []
  readonly #socket: Socket
  readonly #port: number

  constructor(socket: Socket, port: number) {
    this.#socket = socket
    this.#port = port
    socket.on("message", (answer) => this.answers.push(answer))
  }

  send(...queries: ReadonlyArray<Uint8Array>): void {
    for (const query of queries) this.#socket.send(query, this.#port, "127.0.0.1")
  }
}

const clientOf = (port: number) =>
  Effect.acquireRelease(
    Effect.async<Socket>((resume) => {
      const socket = createSocket("udp4")
      socket.bind(0, "127.0.0.1", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => void socket.close())
  ).pipe(Effect.map((socket) => new DatagramClient(socket, port)))

describe("DNS over UDP", () => {
  it.scoped("answers from the cache, and what has to be made", () =>
    Effect.gen(function*() {
      const server = yield* startServer(udp)
      const client = yield* clientOf(server.port)
      const [hot, cold] = [questionFor("hot.bit", { id: 5 }), questionFor("a.bit", { id: 6 })]
      client.send(hot, cold)
      yield* eventually("both answers", () => client.answers.length === 2)
      const byId = (id: number) => client.answers.find((answer) => answer.readUInt16BE() === id)
      assert.deepStrictEqual(byId(5), answerOf(hot, { ttls: [30] }))
      assert.deepStrictEqual(byId(6), answerOf(cold))
      assert.strictEqual(dnsListeners.value() > 0, true)
      assert.deepInclude(server.seen[0]?.client, { transport: "udp", address: "127.0.0.1" })
    }))

  it.scoped("shows IPv4 clients as such where it listens on every interface", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ listen: [{ host: "", port: 0 }] })
      const client = yield* clientOf(server.port)
      client.send(questionFor("a.bit"))
      yield* eventually("an answer", () => client.answers.length === 1)
      assert.strictEqual(server.seen[0]?.client.address, "127.0.0.1")
    }))

  it.scoped("drops what is too short, is an answer, or has none", () =>
    Effect.gen(function*() {
      const server = yield* startServer(udp)
      const client = yield* clientOf(server.port)
      const reasons = ["short", "answer", "other"] satisfies ReadonlyArray<DnsDrop>
      const before = reasons.map((reason) => dnsDropped.of(reason).value())
      const question = questionFor("a.bit")
      client.send(Buffer.alloc(0), question.subarray(0, 11), answerOf(question), questionFor("drop.bit"), question)
      yield* eventually("the one answer", () => client.answers.length === 1)
      const after = reasons.map((reason, at) => dnsDropped.of(reason).value() - (before[at] ?? 0))
      assert.deepStrictEqual(after, [2, 1, 1])
    }))

  it.scoped("bounds the work, and answers from the cache meanwhile", () =>
    Effect.gen(function*() {
      const server = yield* startServer(udp, { work: 3 })
      const client = yield* clientOf(server.port)
      const busy = dnsDropped.of("busy").value()
      client.send(...Array.from({ length: 5 }, (_, id) => questionFor("slow.bit", { id })))
      yield* eventually("two are dropped", () => dnsDropped.of("busy").value() - busy === 2)
      assert.strictEqual(server.working(), 3)
      client.send(questionFor("hot.bit", { id: 9 }))
      yield* eventually("the cached answer", () => client.answers.length === 1)
      yield* server.open
      yield* eventually("the others", () => client.answers.length === 4)
      client.send(questionFor("a.bit"))
      yield* eventually("room again", () => client.answers.length === 5)
    }))

  it.scoped("limits equal answers where a rate is set, with time to recover", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ ...udp, rate: 4 })
      const client = yield* clientOf(server.port)
      const dropped = dnsDropped.of("rate").value()
      client.send(...Array.from({ length: 10 }, (_, id) => questionFor("hot.bit", { id })))
      yield* eventually("three are dropped", () => dnsDropped.of("rate").value() - dropped === 3)
      yield* eventually("the others", () => client.answers.length === 7)
      const cut = client.answers.filter((answer) => ((answer[2] ?? 0) & 2) !== 0)
      assert.deepStrictEqual([client.answers.length, cut.length], [7, 3])
      yield* TestClock.adjust("1 second")
      client.send(questionFor("hot.bit", { id: 99 }))
      yield* eventually("a whole one", () => client.answers.at(-1)?.readUInt16BE() === 99)
      assert.strictEqual((client.answers.at(-1)?.[2] ?? 0) & 2, 0)
    }))

  it.scoped("asks under load for a cookie instead of TCP, and limits nobody who has one", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ ...udp, rate: 4 }, { work: 1 })
      const strangers = yield* clientOf(server.port)
      const ten = (name: string) => Array.from({ length: 10 }, (_, id) => questionFor(name, { id }))
      const refusals = () => strangers.answers.filter((answer) => ((answer[3] ?? 0) & 15) === 7).length
      strangers.send(...ten("hot-stranger.bit"))
      yield* eventually("the cookies", () => refusals() === 3)
      const known = yield* clientOf(server.port)
      known.send(...ten("hot-known.bit"))
      yield* eventually("all answers", () => known.answers.length === 10)
      assert.isTrue(known.answers.every((answer) => ((answer[2] ?? 0) & 2) === 0))
      strangers.send(questionFor("slow-a.bit", { id: 1 }), questionFor("slow-stranger.bit", { id: 2 }))
      yield* eventually("one cookie without work", () => refusals() === 4)
      assert.strictEqual(server.working(), 1)
    }))

  it.scoped("does not limit this machine by default, nor anyone with 0", () =>
    Effect.gen(function*() {
      for (const rate of [undefined, 0]) {
        const server = yield* startServer({ ...udp, rate })
        const client = yield* clientOf(server.port)
        client.send(...Array.from({ length: 60 }, (_, id) => questionFor("hot.bit", { id })))
        yield* eventually("all answers", () => client.answers.length === 60)
      }
    }))
})
