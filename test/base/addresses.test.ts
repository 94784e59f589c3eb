import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { formatHostPort, isLoopback, overlap, parseHostPort } from "../../src/base/addresses.ts"

describe("parseAddress", () => {
  it.each([
    { text: "127.0.0.1:8336", host: "127.0.0.1", port: 8336 },
    { text: "127.0.0.1:1", host: "127.0.0.1", port: 1 },
    { text: "127.0.0.1:65535", host: "127.0.0.1", port: 65_535 },
    { text: "[::1]:8336", host: "::1", port: 8336 },
    { text: "[2001:db8::7]:18334", host: "2001:db8::7", port: 18_334 },
    { text: "node-1.example.org:8334", host: "node-1.example.org", port: 8334 },
    { text: "svcd_node:8334", host: "svcd_node", port: 8334 },
    { text: ":8334", host: "", port: 8334 }
  ])("parseAddress parses $text", ({ host, port, text }) => {
    assert.deepStrictEqual(parseHostPort(text, "optional"), Either.right({ host, port }))
  })

  it.each([
    { text: "nonsense", says: /host:port/ },
    { text: "9100x", says: /host:port/ },
    { text: "", says: /host:port/ },
    { text: "127.0.0.1", says: /host:port/ },
    { text: "127.0.0.1:0", says: /port from 1 to 65535/ },
    { text: "127.0.0.1:65536", says: /port from 1 to 65535/ },
    { text: "127.0.0.1:", says: /port from 1 to 65535/ },
    { text: "127.0.0.1:http", says: /port from 1 to 65535/ },
    { text: "127.0.0.1:+80", says: /port from 1 to 65535/ },
    { text: "127.0.0.1:8e3", says: /port from 1 to 65535/ },
    { text: "127.0.0.256:80", says: /no valid host/ },
    { text: "127.1:80", says: /no valid host/ },
    { text: "a b:80", says: /no valid host/ },
    { text: "-a.example:80", says: /no valid host/ },
    { text: "a..example:80", says: /no valid host/ },
    { text: `${"a".repeat(64)}.example:80`, says: /no valid host/ },
    { text: "http://a:80", says: /host:port/ },
    { text: "[]:80", says: /no IPv6 address/ },
    { text: "[127.0.0.1]:80", says: /no IPv6 address/ },
    { text: "[::1]", says: /host:port/ },
    { text: "::1:8336", says: /brackets/ }
  ])("refuses $text", ({ says, text }) => {
    const outcome = parseHostPort(text, "optional")
    assert.match(Either.isLeft(outcome) ? outcome.left : "accepted", says)
    assert.isTrue(Either.isLeft(outcome) && outcome.left.includes(text))
  })

  it("parseAddress requires a host where it is required", () => {
    assert.match(Either.getOrElse(parseHostPort(":8334", "required"), String).toString(), /no host/)
    assert.isTrue(Either.isRight(parseHostPort("a:8334", "required")))
  })

  it.prop("parseAddress parses the output of formatAddress", {
    host: FastCheck.oneof(FastCheck.ipV4(), FastCheck.ipV6(), FastCheck.constant("localhost")),
    port: FastCheck.integer({ min: 1, max: 65_535 })
  }, ({ host, port }) => {
    assert.deepStrictEqual(parseHostPort(formatHostPort({ host, port }), "required"), Either.right({ host, port }))
  })
})

describe("isLoopback", () => {
  it.each(["127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1", "localhost", "LOCALHOST", "::ffff:127.0.0.1"])(
    "%s is reachable from this machine only",
    (host) => assert.isTrue(isLoopback(host))
  )

  it.each(["", "0.0.0.0", "::", "128.0.0.1", "10.0.0.1", "::2", "127.example.org", "localhost.example.org"])(
    "%s is reachable from other machines",
    (host) => assert.isFalse(isLoopback(host))
  )
})

describe("overlap", () => {
  const at = (host: string, port = 9100) => ({ host, port })

  it.each([
    { a: at("127.0.0.1"), b: at("127.0.0.1"), both: true },
    { a: at("127.0.0.1"), b: at("127.0.0.1", 9101), both: false },
    { a: at("127.0.0.1"), b: at("127.0.0.2"), both: false },
    { a: at(""), b: at("127.0.0.1"), both: true },
    { a: at("0.0.0.0"), b: at("10.0.0.1"), both: true },
    { a: at("0.0.0.0"), b: at("::1"), both: false },
    { a: at("0.0.0.0"), b: at("::"), both: true },
    { a: at("::"), b: at("127.0.0.1"), both: true },
    { a: at("localhost"), b: at("127.0.0.1"), both: true },
    { a: at("localhost"), b: at("::1"), both: true },
    { a: at("127.0.0.1"), b: at("::1"), both: false },
    { a: at("A.example"), b: at("a.example"), both: true }
  ])("$a.host and $b.host: $both", ({ a, b, both }) => {
    assert.strictEqual(overlap(a, b), both)
    assert.strictEqual(overlap(b, a), both)
  })
})
