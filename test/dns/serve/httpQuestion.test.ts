import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { readHttpQuestion } from "../../../src/dns/serve/httpQuestion.ts"
import { leastTtl } from "../../../src/dns/serve/leastTtl.ts"
import { answerOf, questionFor } from "./questions.ts"

const head = { method: "GET", url: "/dns-query", contentType: undefined, contentLength: undefined }

const statusOf = (request: Partial<Record<keyof typeof head, string>>): number | string => {
  const question = readHttpQuestion({ ...head, ...request })
  return question._tag === "Refused" ? question.refusal.status : question._tag
}

describe("a request of DNS over HTTPS", () => {
  const type = "application/dns-message"
  it.each([
    [{ url: "/dns-query?dns=AAAB" }, "Query"],
    [{ url: "/dns-query?a=1&dns=AAAB", method: "HEAD" }, "Query"],
    [{ method: "POST", contentType: type, contentLength: "12" }, "Body"],
    [{ method: "POST", contentType: `Application/DNS-Message; charset=x` }, "Body"],
    [{ method: "POST", contentType: "text/plain" }, 415],
    [{ method: "POST" }, 415],
    [{ method: "POST", contentType: type, contentLength: "65536" }, 413],
    [{ url: `/dns-query?dns=${"A".repeat(90_000)}` }, 413],
    [{ url: "/dns-query?dns=***" }, 400],
    [{ url: "/dns-query?dns=AAAA=" }, 400],
    [{ url: "/dns-query?dns=AAAAA" }, 400],
    [{ url: "/dns-query?dns=" }, 400],
    [{ url: "/dns-query" }, 400],
    [{ method: "PUT" }, 405],
    [{ url: "/" }, 404],
    [{ url: "/dns-queryx?dns=AAAB" }, 404],
    [{ url: "/other", method: "DELETE" }, 404]
  ])("%j is %s", (request, expected) => assert.strictEqual(statusOf(request), expected))

  it("has any message in base64url", () =>
    fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
      const question = readHttpQuestion({ ...head, url: `/dns-query?dns=${Buffer.from(bytes).toString("base64url")}` })
      assert.deepStrictEqual(question._tag === "Query" ? [...question.bytes] : undefined, [...bytes])
    })))
})

describe("the least TTL", () => {
  const question = questionFor("a.bit")
  const soa = (ttl: number, minimum: number): Buffer => {
    const data = Buffer.alloc(2 + 20)
    data.writeUInt32BE(minimum, 18)
    const start = Buffer.from([0xc0, 14, 0, 6, 0, 1, 0, 0, 0, 0, 0, data.length])
    start.writeUInt32BE(ttl, 6)
    const whole = Buffer.concat([question, start, data])
    whole[9] = 1
    return whole
  }

  it("is that of the answer", () => {
    assert.strictEqual(leastTtl(answerOf(question, { ttls: [600, 30, 86_400] })), 30)
    assert.strictEqual(leastTtl(answerOf(question, { ttls: [0] })), 0)
  })

  it("is that of the SOA for what is missing, at most its minimum", () => {
    assert.strictEqual(leastTtl(soa(60, 60)), 60)
    assert.strictEqual(leastTtl(soa(86_400, 60)), 60)
    assert.strictEqual(leastTtl(soa(5, 60)), 5)
  })

  it("is 0 for a failure, and for a response that is cut off", () => {
    assert.strictEqual(leastTtl(answerOf(question, { rcode: 2 })), 0)
    const whole = answerOf(question)
    for (let length = 0; length < whole.length; length++) assert.strictEqual(leastTtl(whole.subarray(0, length)), 0)
  })
})
