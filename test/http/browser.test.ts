import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { isForeignCall, isForeignHost, isLocalName } from "../../src/http/browser.ts"
import { type HttpRequest, testServer } from "../support/rpcServer.ts"

const COUNT = { id: 1, method: "getblockcount" }

describe("isLocalName", () => {
  it("accepts names that no third party can resolve to this machine", () => {
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
    ) assert.isTrue(isLocalName(host, { ownName: "node.example.org" }), host)
    for (
      const host of ["evil.example", "evil.example:8336", "localhost.evil.example", "127.0.0.1.evil.example", "a.b"]
    ) assert.isFalse(isLocalName(host, { ownName: "127.0.0.1" }), host)
  })
})

describe("isForeignCall", () => {
  const foreign = (headers: Parameters<typeof isForeignCall>[0]) => isForeignCall(headers)

  it("allows programs and our own pages", () => {
    assert.isFalse(foreign({}))
    assert.isFalse(
      foreign({ host: "127.0.0.1:8336", origin: "http://127.0.0.1:8336", "sec-fetch-site": "same-origin" })
    )
    assert.isFalse(foreign({ host: "localhost:8336", "sec-fetch-site": "none" }))
  })

  it("recognises pages of other origins", () => {
    assert.isTrue(foreign({ host: "127.0.0.1:8336", origin: "https://evil.example" }))
    assert.isTrue(foreign({ host: "127.0.0.1:8336", origin: "null" }))
    assert.isTrue(foreign({ host: "127.0.0.1:8336", origin: "http://127.0.0.1:80" }))
    assert.isTrue(foreign({ host: "127.0.0.1:8336", "sec-fetch-site": "cross-site" }))
    assert.isTrue(foreign({ host: "127.0.0.1:8336", "sec-fetch-site": "same-site" }))
  })
})

describe("isForeignHost", () => {
  it("recognises a foreign host name, where calls need no credentials", () => {
    assert.isTrue(isForeignHost("evil.example:8336", { open: true, ownName: "127.0.0.1" }))
    assert.isFalse(isForeignHost("evil.example:8336", { open: false, ownName: "127.0.0.1" }))
    assert.isFalse(isForeignHost("node.example:8336", { open: true, ownName: "node.example" }))
    assert.isFalse(isForeignHost(undefined, { open: true, ownName: "127.0.0.1" }))
  })
})

describe("a page of another origin", () => {
  const executed: Array<string> = []
  const server = (options: Parameters<typeof testServer>[0] = {}) => {
    executed.length = 0
    return testServer({ observe: ({ method }) => executed.push(method), ...options })
  }

  it.scopedLive("cannot make a browser call methods, whatever the content type", () =>
    Effect.gen(function*() {
      const { post } = yield* server()
      const from = (headers: NonNullable<HttpRequest["headers"]>) => post(COUNT, { headers })
      for (
        const headers of [
          { "content-type": "text/plain", origin: "https://evil.example" },
          { origin: "null" },
          { "sec-fetch-site": "cross-site", "content-type": "text/plain" }
        ]
      ) {
        const { headers: answered, status, text } = yield* from(headers)
        assert.deepStrictEqual([status, text], [403, "Requests from pages of other sites are refused"])
        assert.isUndefined(answered["access-control-allow-origin"])
      }
      assert.deepStrictEqual(executed, [])
      for (const host of ["anything.example", "evil.example:8336"]) {
        const { status, text } = yield* from({ host })
        assert.strictEqual(status, 403, host)
        assert.match(text, /^Without credentials, .* or set rpcuser and rpcpassword$/)
      }
      assert.deepStrictEqual(executed, [])
      assert.strictEqual((yield* from({ host: "mynode" })).status, 200)
    }))

  for (const fastLane of [true, false]) {
    it.scopedLive(`is not served under its own name, ${fastLane ? "in" : "without"} the fast lane`, () =>
      Effect.gen(function*() {
        const { converse } = yield* server({ fastLane })
        const body = JSON.stringify(COUNT)
        const request = (host: string) => `POST / HTTP/1.1\r\n${host}Content-Length: ${body.length}\r\n\r\n${body}`
        assert.match(yield* converse(request("Host: evil.example\r\n"), 1), /^HTTP\/1\.1 403 /)
        assert.match(yield* converse(request("Host: evil.example\r\nHost: localhost\r\n"), 1), /^HTTP\/1\.1 403 /)
        assert.deepStrictEqual(executed, [])
        assert.match(yield* converse(request("Host: localhost:8336\r\n"), 1), /^HTTP\/1\.1 200 /)
        assert.match(yield* converse(request(""), 1), /^HTTP\/1\.1 200 /)
      }))
  }

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
