import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { isForeignCall, isLocalName } from "../../src/rpc/browser.ts"
import { type HttpRequest, testServer } from "../support/rpcServer.ts"

const COUNT = { id: 1, method: "getblockcount" }

describe("isLocalName", () => {
  it("takes what no stranger can let lead here", () => {
    for (
      const host of [
        undefined,
        "localhost",
        "localhost:8336",
        "LOCALHOST",
        "svcd.localhost",
        "127.0.0.1:8336",
        "[::1]:8336",
        "[::1]",
        "192.0.2.7",
        "mynode",
        "node.example.org:8336",
        "node.example.org."
      ]
    ) assert.isTrue(isLocalName(host, "node.example.org"), host)
    for (
      const host of ["evil.example", "evil.example:8336", "localhost.evil.example", "127.0.0.1.evil.example", "a.b"]
    ) assert.isFalse(isLocalName(host, "127.0.0.1"), host)
  })
})

describe("isForeignCall", () => {
  const foreign = (headers: Parameters<typeof isForeignCall>[0], open = true) =>
    isForeignCall(headers, { open, ownName: "127.0.0.1" })

  it("lets programs and our own pages ask", () => {
    assert.isFalse(foreign({}))
    assert.isFalse(foreign({ host: "evil.example" }), "no browser sends so little")
    assert.isFalse(
      foreign({ host: "127.0.0.1:8336", origin: "http://127.0.0.1:8336", "sec-fetch-site": "same-origin" })
    )
    assert.isFalse(foreign({ host: "localhost:8336", "sec-fetch-site": "none" }))
  })

  it("knows pages of others, with credentials and without", () => {
    for (const open of [true, false]) {
      assert.isTrue(foreign({ host: "127.0.0.1:8336", origin: "https://evil.example" }, open))
      assert.isTrue(foreign({ host: "127.0.0.1:8336", origin: "null" }, open))
      assert.isTrue(foreign({ host: "127.0.0.1:8336", origin: "http://127.0.0.1:80" }, open))
      assert.isTrue(foreign({ host: "127.0.0.1:8336", "sec-fetch-site": "cross-site" }, open))
      assert.isTrue(foreign({ host: "127.0.0.1:8336", "sec-fetch-site": "same-site" }, open))
    }
  })

  it("knows a page whose name was made to lead here; credentials a browser does not give it", () => {
    const headers = { host: "evil.example:8336", origin: "http://evil.example:8336" }
    assert.isTrue(foreign(headers))
    assert.isFalse(foreign(headers, false))
  })
})

describe("a page of somebody else's", () => {
  const executed: Array<string> = []
  const server = (options: Parameters<typeof testServer>[0] = {}) => {
    executed.length = 0
    return testServer({ observe: ({ method }) => executed.push(method), ...options })
  }

  it.scopedLive("cannot have a browser call methods, whatever it calls the body", () =>
    Effect.gen(function*() {
      const { post } = yield* server()
      const from = (headers: NonNullable<HttpRequest["headers"]>) => post(COUNT, { headers })
      for (
        const headers of [
          { "content-type": "text/plain", origin: "https://evil.example" },
          { origin: "null" },
          { "sec-fetch-site": "cross-site", "content-type": "text/plain" },
          { host: "evil.example:8336", origin: "http://evil.example:8336" }
        ]
      ) {
        const { headers: answered, status, text } = yield* from(headers)
        assert.deepStrictEqual([status, text], [403, "Requests from pages of other sites are refused"])
        assert.isUndefined(answered["access-control-allow-origin"])
      }
      assert.deepStrictEqual(executed, [])
      assert.strictEqual((yield* from({ host: "anything.example" })).status, 200)
    }))

  it.scopedLive("cannot use credentials that the browser keeps", () =>
    Effect.gen(function*() {
      const { post } = yield* server({ credentials: { user: "a", password: Redacted.make("b") } })
      const authorization = `Basic ${Buffer.from("a:b").toString("base64")}`
      assert.strictEqual(
        (yield* post(COUNT, { headers: { authorization, origin: "http://evil.example" } })).status,
        403
      )
      assert.deepStrictEqual(executed, [])
      assert.strictEqual((yield* post(COUNT, { headers: { authorization } })).status, 200)
    }))
})
