import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:net"
import { allowedCallers } from "../../src/http/clientAddress.ts"
import { testServer } from "../support/rpcServer.ts"

const NETS = [
  { address: "192.0.2.0", prefix: 24 },
  { address: "203.0.113.9", prefix: 32 },
  { address: "2001:db8::", prefix: 32 }
]

describe("allowedCallers", () => {
  it.each<readonly [string, boolean]>([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["::1", true],
    ["192.0.2.200", true],
    ["192.0.3.1", false],
    ["203.0.113.9", true],
    ["203.0.113.8", false],
    ["2001:db8:ffff::1", true],
    ["2001:db9::1", false],
    ["fe80::1%eth0", false],
    ["", false]
  ])("%s: %s", (address, allowed) => assert.strictEqual(allowedCallers(NETS)(address), allowed))

  it("answers every address without networks", () => assert.isTrue(allowedCallers([])("203.0.113.9")))
})

/** A port of loopback that is free at this moment. */
const freePort = Effect.async<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0)))
  })
})

describe("a listener of several addresses", () => {
  it.scopedLive("answers at each", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      yield* testServer({ binds: [{ host: "127.0.0.1", port }] })
      const answer = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/health`))
      assert.strictEqual(answer.status, 200)
    }))
})
