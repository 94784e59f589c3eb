import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { createSocket } from "node:dgram"
import { afterAll, beforeAll } from "vitest"
import { Chain, DnsServer, Metrics, NameDb } from "../../src/node.ts"
import { questionFor } from "../dns/serve/questions.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { copyOf, fillDirectory } from "../support/embedded.ts"

const quiet = Layer.provide(Logger.remove(Logger.defaultLogger))

const scope = Effect.runSync(Scope.make())

let filled = ""

beforeAll(async () => {
  filled = await Effect.runPromise(Effect.provideService(temporaryDirectory, Scope.Scope, scope))
  await Effect.runPromise(fillDirectory(filled, 150))
}, 60_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const names = (dataDir: string) =>
  quiet(NameDb.layer()).pipe(Layer.provideMerge(quiet(Chain.layer({ network: "regtest", dataDir, verifyThreads: 0 }))))

const SOA = 6

const ask = (port: number, query: Uint8Array) =>
  Effect.async<Buffer>((resume) => {
    const socket = createSocket("udp4")
    socket.on("message", (answer) => {
      resume(Effect.succeed(answer))
      socket.close()
    })
    socket.send(query, port, "127.0.0.1")
  })

describe("DnsServer.layer", () => {
  it.scopedLive("answers for the names below it, with a serial that it shows, and is in the metrics", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      const served = Layer.merge(quiet(DnsServer.layer({ listen: ["127.0.0.1:0"] })), quiet(Metrics.layer()))
      const first = yield* Effect.gen(function*() {
        const { addresses, serial } = yield* DnsServer
        assert.lengthOf(addresses.dns, 1)
        const answer = yield* ask(addresses.dns[0]?.port ?? 0, questionFor("bit", { type: SOA, id: 9 }))
        assert.deepStrictEqual([answer.readUInt16BE(), (answer[3] ?? 0) & 15, answer.readUInt16BE(6)], [9, 0, 1])
        assert.include(yield* (yield* Metrics).text, "svcd_dns_answers_total{rcode=\"NOERROR\"}")
        return serial()
      }).pipe(Effect.provide(Layer.provideMerge(served, names(dataDir))))
      assert.isAtLeast(first, 150)
      const again = Effect.map(DnsServer, ({ serial }) => serial())
      assert.isAtLeast(yield* Effect.provide(again, Layer.provideMerge(served, names(dataDir))), first)
    }))

  it.scopedLive("warns that a proxy in front of a resolver has to name its clients", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      const logged: Array<unknown> = []
      const log = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ logLevel, message }) => void (logLevel._tag === "Warning" && logged.push(message)))
      )
      const http = { listen: [], http: ["127.0.0.1:0"] }
      const served = (options: Parameters<typeof DnsServer.layer>[0]) =>
        Effect.provide(DnsServer, Layer.provideMerge(Layer.provide(DnsServer.layer(options), log), names(dataDir)))
      yield* served(http)
      assert.deepStrictEqual(logged, [])
      yield* served({ ...http, forward: ["192.0.2.1"] })
      assert.lengthOf(logged, 1)
      assert.include(String(logged[0]), "X-Forwarded-For")
    }))

  it.scopedLive("says which option is wrong", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      const failure = yield* Effect.flip(Effect.provide(
        DnsServer,
        Layer.provideMerge(quiet(DnsServer.layer({ tls: ["127.0.0.1:0"] })), names(dataDir))
      ))
      assert.strictEqual(failure._tag, "InvalidConfig")
      assert.include(failure.message, "tls")
      assert.include(failure.message, "certificate")
    }))
})
