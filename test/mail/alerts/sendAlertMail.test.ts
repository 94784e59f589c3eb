import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import type { OutgoingMail } from "../../../src/alerts/mail/AlertMail.ts"
import { mainnetParams } from "../../../src/consensus/params.ts"
import { sendAlertMail } from "../../../src/mail/alerts/sendAlertMail.ts"
import type { UpstreamConfig } from "../../../src/mail/relay/RelayConfig.ts"
import { noticeOf } from "../../alerts/mail/notice.ts"
import { TEST_CERTIFICATE, TEST_KEY } from "../../support/certificate.ts"
import { eventually, inTime } from "../../support/eventually.ts"
import { testUpstream } from "../../support/smtp.ts"

const MAIL: OutgoingMail = {
  type: "notices",
  to: "a@x.example",
  mail: { id: "0123", madeAt: 0, more: 0, names: [noticeOf("d/a")] }
}

const TEST: OutgoingMail = { type: "test", to: "a@x.example", id: "test-0", madeAt: 0 }

const PASSWORD = "hidden-word"

const send = (port: number, mail: OutgoingMail, more: Partial<UpstreamConfig> = {}) =>
  sendAlertMail({
    message: { params: mainnetParams, from: "svcd@x.example", hostname: "node.x.example" },
    upstream: {
      upstream: { host: "127.0.0.1", port },
      credentials: undefined,
      upstreamTls: "opportunistic",
      upstreamCa: undefined,
      hostname: "node.x.example",
      limits: { connectTimeout: Duration.seconds(10), answerTimeout: Duration.seconds(10) },
      ...more
    }
  })(mail)

const credentials = { user: "me", password: Redacted.make(PASSWORD) }

/** A server that takes mail with a login alone, until the scope closes. */
const secureServer = (options: SMTPServerOptions) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const taken: Array<string> = []
      const server = new SMTPServer({
        key: TEST_KEY,
        cert: TEST_CERTIFICATE,
        onAuth: ({ password, username }, _session, done) =>
          username === "me" && password === PASSWORD
            ? done(null, { user: "me" })
            : done(new Error(`no such user with ${password ?? ""}`)),
        onData: (stream, _session, done) => {
          let text = ""
          stream.on("data", (part: Buffer) => (text += part.toString()))
          stream.on("end", () => {
            taken.push(text)
            done()
          })
        },
        ...options
      })
      server.on("error", () => {})
      const port = await new Promise<number>((resolve) => {
        const listener = server.listen(0, "127.0.0.1", () => {
          const address = listener.address()
          resolve(typeof address === "object" && address !== null ? address.port : 0)
        })
      })
      return { port, taken, close: () => new Promise<void>((resolve) => server.close(resolve)) }
    }),
    ({ close }) => Effect.promise(close)
  )

describe("sendAlertMail", () => {
  it.scopedLive("hands the mail to the server, and reports what it says", () =>
    Effect.gen(function*() {
      const server = yield* testUpstream()
      assert.isTrue((yield* send(server.port, MAIL)).isAccepted)
      assert.isTrue((yield* send(server.port, TEST)).isAccepted)
      const [mail, test] = server.messages
      assert.deepStrictEqual([mail?.from, mail?.to], ["svcd@x.example", ["a@x.example"]])
      assert.include(mail?.text, "Subject: d/a expires about 2027-01-15\r\n")
      assert.include(mail?.text, "Message-ID: <0123@x.example>\r\n")
      assert.include(test?.text, "Subject: svcd test message\r\n")
      for (
        const [behaviour, answer] of [
          [{ rcpt: () => "550 5.1.1 no such box" }, "550 5.1.1 no such box"],
          [{ mail: () => "451 4.3.0 later" }, "451 4.3.0 later"],
          [{ message: () => "554 5.7.1 spam" }, "554 5.7.1 spam"],
          [{ greeting: () => "421 4.3.2 full" }, "421 4.3.2 full"]
        ] as const
      ) {
        server.behaviour = behaviour
        const outcome = yield* send(server.port, MAIL)
        assert.isFalse(outcome.isAccepted)
        assert.include(outcome.answer, answer)
      }
      assert.lengthOf(server.messages, 2)
      const { port } = server
      yield* Effect.promise(() => server.stop())
      const away = yield* send(port, MAIL)
      assert.isFalse(away.isAccepted)
      assert.include(away.answer, "ECONNREFUSED")
    }))

  it.scopedLive("logs in over TLS with a valid certificate, and shows no password that a server repeats", () =>
    Effect.gen(function*() {
      for (const secure of [true, false]) {
        const server = yield* secureServer({ secure })
        const upstreamTls = secure ? "implicit" : "required"
        const valid = { credentials, upstreamTls, upstreamCa: TEST_CERTIFICATE } as const
        assert.deepStrictEqual((yield* send(server.port, MAIL, valid)).isAccepted, true)
        assert.lengthOf(server.taken, 1)
        const unknown = yield* send(server.port, MAIL, { credentials, upstreamTls })
        assert.isFalse(unknown.isAccepted)
        assert.match(unknown.answer, /certificate/)
        const wrong = { user: "me", password: Redacted.make("other-word") }
        const refused = yield* send(server.port, MAIL, { ...valid, credentials: wrong })
        assert.isFalse(refused.isAccepted)
        assert.include(refused.answer, "no such user with …")
        assert.lengthOf(server.taken, 1)
      }
    }))

  it.scopedLive("ends at once when it is interrupted, even before the server greets", () =>
    Effect.gen(function*() {
      const server = yield* testUpstream({ greeting: () => "hang" })
      const sending = yield* Effect.fork(send(server.port, MAIL))
      yield* eventually("the connection", () => server.sessions === 1)
      // Less than the 10 s that it waits for a greeting.
      yield* inTime(Fiber.interrupt(sending), "the end of the sending", 8_000)
    }))

  it.scopedLive("sends nothing where TLS is required and the server has none", () =>
    Effect.gen(function*() {
      const server = yield* testUpstream()
      const outcome = yield* send(server.port, MAIL, { upstreamTls: "required" })
      assert.isFalse(outcome.isAccepted)
      assert.isFalse(server.commands.some((command) => command.startsWith("MAIL")))
    }))
})
