import { assert, describe, it } from "@effect/vitest"
import { outcomeOfFailure, plainText, replyOf, unreachable } from "../../../src/mail/relay/outcome.ts"

const failure = (command: string, response?: string, code?: string) => ({
  message: "failed",
  command,
  code,
  response,
  responseCode: response === undefined ? undefined : Number(response.slice(0, 3))
})

describe("outcomeOfFailure", () => {
  it.each([
    { given: failure("RCPT TO", "550 5.1.1 no"), tag: "Refused", status: "5.1.1" },
    { given: failure("RCPT TO", "599 no"), tag: "Refused", status: "5.0.0" },
    { given: failure("DATA", "554 5.7.1 spam"), tag: "Refused", status: "5.7.1" },
    { given: failure("MAIL FROM", "552 5.3.4 large"), tag: "Refused", status: "5.3.4" },
    { given: failure("RCPT TO", "450 4.2.1 later"), tag: "Deferred", status: "4.2.1" },
    { given: failure("MAIL FROM", "421 bye"), tag: "Deferred", status: "4.0.0" },
    { given: failure("DATA", "503 5.5.1 sequence"), tag: "Deferred", status: "5.5.1" },
    { given: failure("MAIL FROM", "530 5.7.0 login"), tag: "Unreachable", status: "5.7.0" },
    { given: failure("RCPT TO", "530 5.7.0 login"), tag: "Refused", status: "5.7.0" },
    { given: failure("CONN", undefined, "ECONNECTION"), tag: "Deferred", status: "4.4.2" },
    { given: failure("MAIL FROM", undefined, "EMESSAGE"), tag: "Refused", status: "5.3.4" },
    { given: failure("API", undefined, "EENVELOPE"), tag: "Refused", status: "5.1.3" },
    { given: failure("API", undefined, "ESTREAM"), tag: "Deferred", status: "4.3.0" }
  ])("judges $given.command $given.response $given.code: $tag", ({ given, status, tag }) => {
    const outcome = outcomeOfFailure(given, false)
    assert.deepStrictEqual([outcome._tag, outcome.reply.status], [tag, status])
  })

  it("is uncertain only if the connection ended after the whole message", () => {
    const ended = failure("CONN", undefined, "ETIMEDOUT")
    assert.deepInclude(outcomeOfFailure(ended, true), { uncertain: true })
    assert.deepInclude(outcomeOfFailure(ended, false), { uncertain: false })
    assert.deepInclude(outcomeOfFailure(failure("DATA", "451 4.3.0 no"), true), { uncertain: false })
  })

  it("does not mention files", () => {
    const broken = { message: "ENOENT: open '/var/spool/x.msg'", code: "ESTREAM", command: "API" }
    assert.notInclude(outcomeOfFailure(broken, false).reply.text, "/var")
  })
})

describe("unreachable", () => {
  it("concerns every message, and is never a refusal of one", () => {
    assert.deepStrictEqual(unreachable(failure("CONN", "554 5.7.1 go away")), {
      _tag: "Unreachable",
      reply: { code: 554, status: "4.4.1", text: "554 5.7.1 go away" }
    })
  })
})

describe("plainText", () => {
  it("returns one short line of ASCII", () => {
    assert.strictEqual(plainText("550-a\r\n550 b\u0000\u00e4"), "550-a 550 b")
    assert.strictEqual(plainText("x".repeat(1_000)).length, 400)
    assert.strictEqual(replyOf(250, "250 ok").status, "2.0.0")
  })
})
