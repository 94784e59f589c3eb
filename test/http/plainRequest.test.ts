import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { readPlainHead } from "../../src/http/plainRequest.ts"

const head = (...lines: ReadonlyArray<string>): string =>
  ["POST / HTTP/1.1", "Content-Length: 12", ...lines].join("\r\n")

describe("readPlainHead", () => {
  it("reads the requests of common clients", () => {
    assert.deepStrictEqual(readPlainHead(head("Host: localhost:8336", "Accept: */*")), {
      verb: "POST",
      target: "/",
      length: 12,
      headers: { authorization: undefined, host: "localhost:8336" }
    })
    assert.deepStrictEqual(
      readPlainHead(
        "POST /wallet/a%20b HTTP/1.1\r\nhost:x\r\nAUTHORIZATION: \t Basic YTpi \r\ncontent-length:0\r\n" +
          "Connection: Keep-Alive\r\nX-Empty:\r\nX-Latin: caf\xe9"
      ),
      {
        verb: "POST",
        target: "/wallet/a%20b",
        length: 0,
        headers: { authorization: "Basic YTpi", host: "x" }
      }
    )
  })

  it("leaves everything else to Node's parser", () => {
    for (
      const text of [
        "",
        "GET / HTTP/1.1\r\nContent-Length: 12",
        "POST / HTTP/1.0\r\nContent-Length: 12",
        "POST  / HTTP/1.1\r\nContent-Length: 12",
        "POST http://x/ HTTP/1.1\r\nContent-Length: 12",
        "POST / HTTP/1.1\r\nHost: x",
        "POST / HTTP/1.1\r\nContent-Length: 12\r\nContent-Length: 12",
        "POST / HTTP/1.1\r\nContent-Length: 1, 1",
        "POST / HTTP/1.1\r\nContent-Length: +1",
        "POST / HTTP/1.1\r\nContent-Length: 0x1",
        "POST / HTTP/1.1\r\nContent-Length: 1234567890123456",
        "POST / HTTP/1.1\nContent-Length: 12",
        head("Transfer-Encoding: chunked"),
        head("transfer-encoding:identity"),
        head("Expect: 100-continue"),
        head("Upgrade: h2c"),
        head("Connection: close"),
        head("Proxy-Connection: close"),
        head("Connection: keep-alive, Upgrade"),
        head("Authorization: a", "Authorization: b"),
        head("Host: a", "Host: b"),
        "POST / HTTP/1.1\r\nContent-Length: 12\t",
        "POST / HTTP/1.1\r\nContent-Length: 12\t ",
        head("Origin: http://x"),
        head("Sec-Fetch-Site: none"),
        head("X : y"),
        head(" folded"),
        head("NoColon"),
        head("X: a\0b"),
        head("X: a\nY: b"),
        head("X: a\rY: b"),
        head(""),
        ": x"
      ]
    ) assert.isUndefined(readPlainHead(text), JSON.stringify(text))
  })

  it("takes time at most linear in the length of the text", () => {
    // Processor time, as other programs share the machine. By the square of the length these would take many seconds.
    const before = process.cpuUsage()
    for (const value of [" ".repeat(200_000), "a ".repeat(100_000), `${" ".repeat(200_000)}\x01`]) {
      readPlainHead(head(`X:${value}`))
      readPlainHead(`POST /${value} HTTP/1.1`)
    }
    assert.isBelow(process.cpuUsage(before).user / 1_000, 1_000)
  })

  it.prop("returns the same result with irrelevant headers", [
    FastCheck.stringMatching(/^x-[a-z0-9-]{1,20}$/),
    FastCheck.stringMatching(/^[!-~]{0,40}$/)
  ], ([name, value]) => {
    assert.deepStrictEqual(readPlainHead(head(`${name}: ${value}`)), readPlainHead(head()))
  })
})
