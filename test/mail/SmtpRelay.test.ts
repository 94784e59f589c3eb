import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { SMTPServer } from "smtp-server"
import { TEST_CERTIFICATE, TEST_KEY } from "../support/certificate.ts"
import { eventually } from "../support/eventually.ts"
import { directory, LETTER, quiet, relay, relayAt, scenario, send, untilQueued } from "../support/mailRelay.ts"
import { testUpstream } from "../support/smtp.ts"

/** The swaks client of Debian. */
const hasSwaks = spawnSync("swaks", ["--version"], { stdio: "ignore" }).status === 0

describe.concurrent("SmtpRelay", () => {
  scenario(
    "forwards a message unchanged, with trace headers in front and a rewritten sender",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address, stats } = yield* relay(upstream)
      const reply = yield* send(address.port, ["alice@BIT"])
      assert.strictEqual(reply.code, 250, reply.text)
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.deepStrictEqual(message?.to, ["alice@destination.example"])
      assert.match(message?.from ?? "", /^SRS0=[a-z2-7]{8}=[a-z2-7]{2}=example\.org=sender@relay\.example$/)
      assert.isTrue(message?.text.endsWith(LETTER))
      const front = message?.text.slice(0, -LETTER.length) ?? ""
      assert.match(
        front,
        /^Delivered-To: alice@bit\r\nReceived: from client\.test \(\[127\.0\.0\.1\]\)\r\n\tby relay\.example with ESMTP id \S+\r\n\tfor <alice@bit>;\r\n\t\w{3}, .* \+0000\r\n$/i
      )
      assert.strictEqual((yield* stats).accepted, 1)
    })
  )

  scenario(
    "delivers to each recipient of a message separately",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      yield* send(address.port, ["alice@bit", "bert@bit", "alice@BIT"])
      const messages = yield* Effect.promise(() => upstream.received(2))
      const to = messages.map((message) => message.to.join()).sort()
      assert.deepStrictEqual(to, ["alice@destination.example", "bert@two.example"])
      // A copy must not show the other recipients.
      for (const { text } of messages) {
        assert.notStrictEqual(/alice@bit/i.test(text.slice(0, -LETTER.length)), text.includes("bert@bit"))
      }
    })
  )

  scenario(
    "tries the backup addresses in order, and does not report a recipient that one of them reached",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({
        rcpt: (to) => to.startsWith("full@") ? "550 5.1.1 no such user" : undefined,
        message: ({ to }) => to.join().startsWith("also-full@") ? "552 5.2.2 full" : undefined
      })
      const { address, stats } = yield* relay(upstream)
      yield* send(address.port, ["backed@bit"])
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.deepStrictEqual(message?.to, ["spare@three.example"])
      const rcpts = upstream.commands.filter((command) => command.startsWith("RCPT")).map((command) =>
        /<(.*)@/.exec(command)?.[1]
      )
      assert.deepStrictEqual(rcpts, ["full", "also-full", "spare"])
      yield* untilQueued(stats, 0)
      assert.strictEqual((yield* stats).bounced, 0)
    })
  )

  scenario(
    "sends an address beyond ASCII to a server with SMTPUTF8, its domain in ASCII",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      yield* send(address.port, ["utf8@bit"])
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.deepStrictEqual(message?.to, ["d\u00f6rte@xn--drfer-jua.example"])
      assert.include(message?.parameters ?? "", "SMTPUTF8")
    })
  )

  scenario(
    "reports an address beyond ASCII for a server without SMTPUTF8",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ features: ["8BITMIME"] })
      const { address } = yield* relay(upstream)
      yield* send(address.port, ["utf8@bit"])
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.deepStrictEqual([message?.from, message?.to], ["", ["sender@example.org"]])
      assert.include(message?.text ?? "", "Status: 5.6.7")
      // The server got no command for it, so there is no reply of it.
      assert.notInclude(message?.text ?? "", "Diagnostic-Code")
    })
  )

  scenario(
    "sends one bounce to the sender when all addresses refuse the message",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({
        rcpt: (to) => to.startsWith("alice@") ? "550-5.1.1 no such\r\n550 5.1.1 user here" : undefined
      })
      const { address, stats } = yield* relay(upstream)
      yield* send(address.port, ["alice@bit", "bert@bit"])
      const messages = yield* Effect.promise(() => upstream.received(2))
      yield* untilQueued(stats, 0)
      assert.strictEqual(messages.length, 2)
      const report = messages.find(({ from }) => from === "")
      assert.deepStrictEqual(report?.to, ["sender@example.org"])
      const text = report?.text ?? ""
      assert.match(text, /^From: Mail Delivery System <MAILER-DAEMON@relay\.example>\r\n/)
      assert.match(text, /\r\nContent-Type: multipart\/report; report-type=delivery-status; boundary="/)
      assert.match(
        text,
        /\r\nReporting-MTA: dns; relay\.example\r\nArrival-Date: .*\r\n\r\nFinal-Recipient: rfc822; alice@bit\r\n/
      )
      assert.match(
        text,
        /\r\nAction: failed\r\nStatus: 5\.1\.1\r\nRemote-MTA: dns; 127\.0\.0\.1\r\nDiagnostic-Code: smtp; 550-5\.1\.1 no such 550 5\.1\.1 user here\r\n/
      )
      assert.include(text, "\r\nX-Odd:  two  spaces\r\n")
      assert.notInclude(text, "Hello")
      assert.notInclude(text, "bert")
      assert.strictEqual((yield* stats).bounced, 1)
    })
  )

  scenario(
    "never reports a message without a sender",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ rcpt: () => "550 5.1.1 no" })
      const { address, stats } = yield* relay(upstream)
      const reply = yield* send(address.port, ["alice@bit"], LETTER, "")
      assert.strictEqual(reply.code, 250)
      yield* untilQueued(stats, 0)
      assert.deepStrictEqual([(yield* stats).discarded, (yield* stats).bounced], [1, 0])
      assert.strictEqual(upstream.commands.filter((command) => command.startsWith("MAIL FROM:<>")).length, 1)
    })
  )

  scenario(
    "sends a bounce of a forwarded message to its original sender",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      yield* send(address.port, ["alice@bit"])
      const rewritten = (yield* Effect.promise(() => upstream.received(1)))[0]?.from ?? ""
      const reply = yield* send(address.port, [rewritten], LETTER.replace("alice", "bounce"), "")
      assert.strictEqual(reply.code, 250, reply.text)
      const bounce = (yield* Effect.promise(() => upstream.received(2)))[1]
      assert.deepStrictEqual([bounce?.from, bounce?.to], ["", ["sender@example.org"]])
      // Only bounces: otherwise such an address would let any client write to any address.
      const mail = yield* send(address.port, [rewritten])
      assert.deepStrictEqual([mail.code, mail.text.includes("5.7.1")], [550, true])
    })
  )

  scenario(
    "tries deferred mail again later, and delivers each message once",
    Effect.gen(function*() {
      let refusals = 0
      const upstream = yield* testUpstream({ rcpt: () => refusals++ < 3 ? "451 4.2.1 busy" : undefined })
      const { address, stats } = yield* relay(upstream)
      yield* send(address.port, ["alice@bit"])
      yield* Effect.promise(() => upstream.received(1))
      yield* untilQueued(stats, 0)
      assert.strictEqual(upstream.messages.length, 1)
      assert.strictEqual((yield* stats).deferred, 3)
    })
  )

  scenario(
    "gives up in time and reports the server's last reply",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ rcpt: (to) => to.startsWith("alice") ? "451 4.2.1 busy" : undefined })
      const { address } = yield* relay(upstream, { retry: { giveUpAfter: Duration.millis(1_500) } })
      yield* send(address.port, ["alice@bit"])
      const [report] = yield* Effect.promise(() => upstream.received(1))
      assert.deepStrictEqual(report?.to, ["sender@example.org"])
      assert.include(report?.text ?? "", "Status: 5.2.1")
      assert.include(report?.text ?? "", "451 4.2.1 busy")
    })
  )

  it.each([
    { what: "closes instead of answering DATA", misbehave: { data: () => "close" } },
    { what: "closes when it has the message", misbehave: { message: () => "close" } },
    { what: "hangs when it has the message", misbehave: { message: () => "hang" } },
    { what: "hangs instead of greeting", misbehave: { greeting: () => "hang" } },
    { what: "closes instead of greeting", misbehave: { greeting: () => "close" } },
    { what: "greets with a refusal", misbehave: { greeting: () => "554 5.3.2 not today" } },
    { what: "ends with 421 in the middle", misbehave: { rcpt: () => "421 4.3.2 going down" } },
    { what: "wants a login for MAIL", misbehave: { mail: () => "530 5.7.0 login first" } }
  ])(
    "keeps the message when the upstream server $what",
    ({ misbehave }) =>
      Effect.runPromise(
        Effect.scoped(Effect.gen(function*() {
          const upstream = yield* testUpstream(misbehave)
          const { address, stats } = yield* relay(upstream, {
            limits: { connectTimeout: Duration.millis(150), answerTimeout: Duration.millis(150) }
          })
          assert.strictEqual((yield* send(address.port, ["alice@bit"])).code, 250)
          yield* eventually("two sessions", () => upstream.sessions >= 2)
          assert.strictEqual((yield* stats).queued, 1)
          upstream.behaviour = {}
          const [message] = yield* Effect.promise(() => upstream.received(1))
          assert.isTrue(message?.text.endsWith(LETTER))
          yield* untilQueued(stats, 0)
        })).pipe(Effect.provide(quiet))
      )
  )

  scenario(
    "uses one connection to the upstream server for many messages",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream, { limits: { upstreamConnections: 1 } })
      for (let i = 0; i < 5; i++) yield* send(address.port, ["alice@bit"])
      yield* Effect.promise(() => upstream.received(5))
      assert.strictEqual(upstream.sessions, 1)
    })
  )

  scenario(
    "does not connect again for each message while the upstream server is unreachable",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ greeting: () => "hang" })
      const { address, stats } = yield* relay(upstream, {
        limits: { upstreamConnections: 1, connectTimeout: Duration.millis(300) },
        retry: { reconnect: [Duration.hours(1)] }
      })
      yield* Effect.all(Array.from({ length: 5 }, () => send(address.port, ["alice@bit"])), { concurrency: 5 })
      yield* eventually("unreachable", Effect.map(stats, ({ upstreamReachable }) => !upstreamReachable))
      assert.strictEqual((yield* stats).queued, 5)
      yield* send(address.port, ["alice@bit"])
      assert.strictEqual(upstream.sessions, 1)
    })
  )

  scenario(
    "gives up in time a message for which no server was reachable",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ greeting: () => "close" })
      const { address, stats } = yield* relay(upstream, { retry: { giveUpAfter: Duration.millis(300) } })
      yield* send(address.port, ["alice@bit"])
      yield* eventually("bounced", Effect.map(stats, ({ bounced }) => bounced > 0))
      yield* send(address.port, ["alice@bit"], LETTER, "")
      yield* eventually("discarded", Effect.map(stats, ({ discarded }) => discarded > 0))
    })
  )

  scenario(
    "reports a loop of one recipient and delivers to the others",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      const reply = yield* send(address.port, ["alice@bit", "bert@bit"], `Delivered-To: alice@bit\r\n${LETTER}`)
      assert.strictEqual(reply.code, 250)
      const messages = yield* Effect.promise(() => upstream.received(2))
      assert.deepStrictEqual(messages.map(({ to }) => to.join()).sort(), ["bert@two.example", "sender@example.org"])
    })
  )

  scenario(
    "adds a Message-ID only to a message without one",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      const reply = yield* send(address.port, ["alice@bit"], LETTER.replace(/Message-ID.*\r\n/, ""))
      const id = /Queued as (\S+)/.exec(reply.text)?.[1] ?? ""
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.include(message?.text ?? "", `\r\nMessage-ID: <${id}@relay.example>\r\n`)
    })
  )

  scenario(
    "logs in with configured credentials",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ login: ["relay", "s3cret pass"] })
      const { address } = yield* relay(upstream, {
        config: { credentials: { user: "relay", password: Redacted.make("s3cret pass") } }
      })
      yield* send(address.port, ["alice@bit"])
      yield* Effect.promise(() => upstream.received(1))
      assert.deepStrictEqual(upstream.logins, ["relay:s3cret pass"])
    })
  )

  scenario(
    "keeps mail while its login is refused",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ login: ["relay", "right"] })
      const { address, stats } = yield* relay(upstream, {
        config: { credentials: { user: "relay", password: Redacted.make("wrong") } }
      })
      yield* send(address.port, ["alice@bit"])
      yield* eventually("two logins", () => upstream.logins.length >= 2)
      assert.deepStrictEqual([(yield* stats).queued, (yield* stats).upstreamReachable], [1, false])
    })
  )

  scenario(
    "never sends credentials without encryption to another machine",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ login: ["relay", "secret"] })
      // A name of this machine that is not known as such: for the relay it is another machine.
      const { address, stats } = yield* relay(upstream, {
        config: {
          upstream: { host: "ip6-unknown.localhost", port: upstream.port },
          credentials: { user: "relay", password: Redacted.make("secret") }
        }
      })
      yield* send(address.port, ["alice@bit"])
      yield* eventually("unreachable", Effect.map(stats, ({ upstreamReachable }) => !upstreamReachable))
      assert.deepStrictEqual(upstream.logins, [])
    })
  )

  it.each(
    [
      { upstreamTls: "opportunistic", ca: undefined, host: "127.0.0.1", arrives: true },
      { upstreamTls: "required", ca: TEST_CERTIFICATE, host: "127.0.0.1", arrives: true },
      { upstreamTls: "required", ca: undefined, host: "127.0.0.1", arrives: false },
      { upstreamTls: "implicit", ca: TEST_CERTIFICATE, host: "localhost", arrives: true },
      { upstreamTls: "implicit", ca: undefined, host: "localhost", arrives: false }
    ] as const
  )(
    "encrypts to the upstream server: $upstreamTls, $host, $arrives",
    ({ arrives, ca, host, upstreamTls }) =>
      Effect.runPromise(
        Effect.scoped(Effect.gen(function*() {
          let secure: boolean | undefined
          const server = yield* Effect.acquireRelease(
            Effect.async<SMTPServer>((resume) => {
              const server = new SMTPServer({
                key: TEST_KEY,
                cert: TEST_CERTIFICATE,
                secure: upstreamTls === "implicit",
                authOptional: true,
                logger: false,
                closeTimeout: 1,
                onData: (stream, session, answer) => {
                  secure = session.secure
                  stream.on("end", () => answer()).resume()
                }
              })
              server.on("error", () => undefined)
              server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
            }),
            (server) => Effect.sync(() => server.close())
          )
          const bound = server.server.address()
          const port = typeof bound === "object" && bound !== null ? bound.port : 0
          const { address, stats } = yield* relayAt(yield* directory, 1, {
            config: { upstreamTls, upstreamCa: ca, upstream: { host, port } }
          })
          yield* send(address.port, ["alice@bit"])
          if (arrives) {
            yield* untilQueued(stats, 0)
            assert.isTrue(secure)
          } else {
            yield* eventually("unreachable", Effect.map(stats, ({ upstreamReachable }) => !upstreamReachable))
            assert.isUndefined(secure)
          }
        })).pipe(Effect.provide(quiet))
      )
  )

  it.scopedLive.skipIf(!hasSwaks)(
    "takes a mail from a stock client (swaks), with STARTTLS",
    () =>
      Effect.gen(function*() {
        const upstream = yield* testUpstream()
        const { address } = yield* relay(upstream, { config: { tls: { key: TEST_KEY, cert: TEST_CERTIFICATE } } })
        const server = `127.0.0.1:${address.port}`
        const args = [
          "--server",
          server,
          "--to",
          "alice@bit",
          "--from",
          "a@b.example",
          "--body",
          "by swaks",
          "--tls-optional"
        ]
        const code = yield* Effect.promise(() =>
          new Promise((resolve) => spawn("swaks", args, { stdio: "ignore" }).once("exit", resolve))
        )
        assert.strictEqual(code, 0)
        const [message] = yield* Effect.promise(() => upstream.received(1))
        assert.deepStrictEqual(message?.to, ["alice@destination.example"])
        assert.include(message?.text ?? "", "by swaks")
      }).pipe(Effect.provide(quiet))
  )
})
