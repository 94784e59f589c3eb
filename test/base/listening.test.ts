import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { createServer } from "node:net"
import { BindFailed, listenOn } from "../../src/base/listening.ts"

const server = Effect.acquireRelease(
  Effect.sync(() => createServer()),
  (server) => Effect.sync(() => server.close())
)

describe("listenOn", () => {
  it.scopedLive("listenOn finds a free port, and names an address that is in use", () =>
    Effect.gen(function*() {
      const address = yield* listenOn(yield* server, { host: "127.0.0.1", port: 0 }, "RPC")
      assert.isAbove(address.port, 0)
      const error = yield* Effect.flip(listenOn(yield* server, address, "metrics"))
      assert.instanceOf(error, BindFailed)
      assert.strictEqual(
        error.message,
        `cannot listen on 127.0.0.1:${address.port} for metrics: ` +
          "the address is in use; another program, or another svcd, listens there"
      )
    }))

  it.scopedLive("listenOn names an address that this machine does not have", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(listenOn(yield* server, { host: "192.0.2.1", port: 8336 }, "mail"))
      assert.deepInclude(error, { what: "mail", address: "192.0.2.1:8336", code: "EADDRNOTAVAIL" })
    }))

  it.scopedLive("listenOn logs later errors of the listener, and the listener continues", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const collect = Logger.make(({ message }) => void logged.push(message))
      const listener = yield* server
      yield* listenOn(listener, { host: "127.0.0.1", port: 0 }, "peers").pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, collect))
      )
      listener.emit("error", Object.assign(new Error("accept"), { code: "EMFILE" }))
      assert.deepStrictEqual(logged, [["accepting connections failed", {
        for: "peers",
        reason: "too many open files"
      }]])
      assert.isTrue(listener.listening)
    }))
})
