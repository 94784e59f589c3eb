import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Logger } from "effect"
import { readdirSync } from "node:fs"
import SMTPConnection from "nodemailer/lib/smtp-connection"
import { TEST_CERTIFICATE, TEST_KEY } from "../../support/certificate.ts"
import { eventually } from "../../support/eventually.ts"
import { directory, LETTER, quiet, relay, relayAt, scenario, send } from "../../support/mailRelay.ts"
import { SmtpClient, testUpstream } from "../../support/smtp.ts"

describe.concurrent("Inbound", () => {
  it.each([
    { address: "missing@bit", code: 550, why: "no such label" },
    { address: "later@bit", code: 451, why: "names cannot be looked up" },
    { address: "alice@example.com", code: 550, why: "another domain" },
    { address: "alice%example.com@bit", code: 550, why: "a route in the local part" },
    { address: "example.com!alice@bit", code: 550, why: "a route of UUCP" },
    { address: "@bit:victim@example.com", code: 550, why: "a source route" },
    { address: "\"alice@example.com\"@bit", code: 501, why: "an address in quotes" },
    { address: "alice", code: 501, why: "no domain" },
    { address: "SRS0=aaaaaaaa=aa=example.com=victim@relay.example", code: 550, why: "a forged bounce" },
    { address: "alice@relay.example", code: 550, why: "the relay's own domain has no labels" }
  ])(
    "answers RCPT TO:<$address> with $code: $why",
    ({ address, code }) =>
      Effect.runPromise(
        Effect.scoped(Effect.gen(function*() {
          const upstream = yield* testUpstream()
          const { address: { port } } = yield* relay(upstream)
          const reply = yield* send(port, [address])
          assert.strictEqual(reply.code, code, reply.text)
          assert.strictEqual(upstream.sessions, 0)
        })).pipe(Effect.provide(quiet))
      )
  )

  scenario(
    "puts only valid addresses into an SMTP command",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      yield* send(address.port, ["evil@bit"])
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.deepStrictEqual(message?.to, ["good@four.example"])
      assert.isFalse(upstream.commands.some((command) => command.includes("victim")))
    })
  )

  scenario(
    "refuses a message that has passed more than a hundred servers, and one that it forwarded before",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      const hops = (count: number) => "Received: from a by b; Thu, 1 Jan 2026 00:00:00 +0000\r\n".repeat(count) + LETTER
      assert.strictEqual((yield* send(address.port, ["alice@bit"], hops(100))).code, 250)
      const many = yield* send(address.port, ["alice@bit"], hops(101))
      assert.deepStrictEqual([many.code, many.text.includes("5.4.6")], [554, true])
      const [forwarded] = yield* Effect.promise(() => upstream.received(1))
      const again = yield* send(
        address.port,
        ["alice@bit"],
        LETTER.replace("From:", "Delivered-To: Alice@Bit\r\nFrom:")
      )
      assert.deepStrictEqual([again.code, again.text.includes("5.4.6")], [554, true])
      assert.include(forwarded?.text ?? "", "Delivered-To: alice@bit\r\n")
    })
  )

  scenario(
    "takes a message of the largest size and refuses one byte more, declared or not",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const messageSize = 300_000
      const { address } = yield* relay(upstream, { limits: { messageSize } })
      const sized = (size: number) =>
        `${LETTER}${"y\r\n".repeat(Math.floor((size - LETTER.length) / 3))}`.padEnd(size - 2, "z") + "\r\n"
      const client = yield* Effect.promise(() => SmtpClient.open(address.port, "EHLO x"))
      const say = (line: string) => Effect.promise(() => client.say(line))
      assert.strictEqual((yield* say(`MAIL FROM:<a@b.example> SIZE=${messageSize + 1}`)).code, 552)
      for (const unknown of ["AUTH=<>", "RET=HDRS", "X=1", "SIZE=1 MT-PRIORITY=3"]) {
        assert.strictEqual((yield* say(`MAIL FROM:<a@b.example> ${unknown}`)).code, 555, unknown)
      }
      assert.strictEqual((yield* say("MAIL FROM:<a\ufffd@b.example>")).code, 553)
      assert.strictEqual((yield* say(`MAIL FROM:<a@b.example> SIZE=${messageSize} BODY=8BITMIME SMTPUTF8`)).code, 250)
      assert.strictEqual((yield* say("RCPT TO:<alice@bit> NOTIFY=NEVER")).code, 555)
      client.end()
      assert.strictEqual((yield* send(address.port, ["alice@bit"], sized(messageSize + 2))).code, 552)
      assert.strictEqual((yield* send(address.port, ["alice@bit"], sized(messageSize))).code, 250)
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.isTrue(message?.text.endsWith(sized(messageSize)), "the large message arrives byte for byte")
    })
  )

  scenario(
    "disconnects a client whose message has no end",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream, { limits: { messageSize: 10_000 } })
      const client = yield* Effect.promise(() => SmtpClient.open(address.port))
      for (const line of ["MAIL FROM:<a@b.example>", "RCPT TO:<alice@bit>", "DATA"]) {
        yield* Effect.promise(() => client.say(line))
      }
      client.socket.write("x".repeat(100_000))
      assert.strictEqual((yield* Effect.promise(() => client.reply())).code, 552)
      assert.strictEqual((yield* Effect.promise(() => client.reply())).code, 0)
    })
  )

  it.each([
    { end: "\n.\n", what: "LF . LF" },
    { end: "\n.\r\n", what: "LF . CR LF" },
    { end: "\r\n.\n", what: "CR LF . LF" },
    { end: "\r.\r", what: "CR . CR" },
    { end: "\r.\r\n", what: "CR . CR LF" }
  ])(
    "does not take $what for the end of a message, and refuses the message",
    ({ end }) =>
      Effect.runPromise(
        Effect.scoped(Effect.gen(function*() {
          const upstream = yield* testUpstream()
          const { address, stats } = yield* relay(upstream)
          const client = yield* Effect.promise(() => SmtpClient.open(address.port))
          for (const line of ["MAIL FROM:<a@b.example>", "RCPT TO:<alice@bit>", "DATA"]) {
            yield* Effect.promise(() => client.say(line))
          }
          client.socket.write(
            `Subject: x\r\n\r\nhello${end}MAIL FROM:<evil@b.example>\r\nRCPT TO:<bert@bit>\r\nDATA\r\nevil\r\n.\r\n`
          )
          const reply = yield* Effect.promise(() => client.reply())
          assert.deepStrictEqual([reply.code, reply.text.includes("5.6.0")], [550, true])
          assert.strictEqual((yield* Effect.promise(() => client.say("NOOP"))).code, 250)
          assert.strictEqual((yield* stats).accepted, 0)
          client.end()
        })).pipe(Effect.provide(quiet))
      )
  )

  scenario(
    "limits recipients, connections and messages of one client",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream, {
        limits: { recipients: 1, connectionsPerClient: 2, messagesPerMinute: 3 }
      })
      const open = Effect.promise(() => SmtpClient.open(address.port))
      const one = yield* open
      const two = yield* open
      assert.deepStrictEqual([one.greeting.code, two.greeting.code], [220, 220])
      assert.strictEqual((yield* open).greeting.code, 421)
      two.socket.destroy()
      const say = (line: string) => Effect.promise(() => one.say(line))
      yield* say("MAIL FROM:<a@b.example>")
      assert.strictEqual((yield* say("RCPT TO:<alice@bit>")).code, 250)
      assert.strictEqual((yield* say("RCPT TO:<bert@bit>")).code, 452)
      for (const code of [250, 250, 451]) {
        yield* say("RSET")
        assert.strictEqual((yield* say("MAIL FROM:<a@b.example>")).code, code)
      }
      one.end()
    })
  )

  scenario(
    "disconnects a client that asks for one unknown recipient after the other",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream, { limits: { messagesPerMinute: 3 } })
      const client = yield* Effect.promise(() => SmtpClient.open(address.port))
      const say = (line: string) => Effect.promise(() => client.say(line))
      yield* say("MAIL FROM:<a@b.example>")
      for (const code of [550, 550, 421, 0]) {
        assert.strictEqual((yield* say("RCPT TO:<missing@bit>")).code, code)
      }
    })
  )

  scenario(
    "limits all connections",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream, { limits: { connections: 1 } })
      const open = Effect.promise(() => SmtpClient.open(address.port))
      const first = yield* open
      assert.deepStrictEqual([first.greeting.code, (yield* open).greeting.code], [220, 421])
    })
  )

  scenario(
    "defers mail with 452 while the spool is full",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ rcpt: () => "451 4.2.1 busy" })
      const { address } = yield* relay(upstream, {
        limits: { spoolMessages: 1 },
        retry: { pauses: [Duration.hours(1)] }
      })
      assert.strictEqual((yield* send(address.port, ["alice@bit"])).code, 250)
      const reply = yield* send(address.port, ["alice@bit"])
      assert.deepStrictEqual([reply.code, reply.text.includes("4.3.1")], [452, true])
    })
  )

  scenario(
    "defers a message of undeclared size that would overfill the spool",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address, stats } = yield* relay(upstream, { limits: { spoolBytes: LETTER.length } })
      const reply = yield* send(address.port, ["alice@bit"], `${LETTER}\r\n`)
      assert.deepStrictEqual([reply.code, reply.text.includes("4.3.1")], [452, true])
      assert.strictEqual((yield* stats).queued, 0)
      assert.strictEqual((yield* send(address.port, ["alice@bit"])).code, 250)
    })
  )

  scenario(
    "disconnects clients that break the protocol, and goes on for others",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream, { limits: { idleTimeout: Duration.millis(300) } })
      const rude = ["\r\n", "\0\0\r\n", `${"A".repeat(100_000)}\r\n`, "GET / HTTP/1.1\r\n", "HELO\r\n".repeat(50), ""]
      yield* Effect.promise(() =>
        Promise.all(rude.map(async (text) => {
          const client = await SmtpClient.open(address.port)
          client.socket.write(text)
          for (let reply = await client.reply(); reply.code !== 0 && reply.code !== 421;) reply = await client.reply()
          client.socket.destroy()
        }))
      )
      assert.strictEqual((yield* send(address.port, ["alice@bit"])).code, 250)
    })
  )

  scenario(
    "drops a message whose client disconnects in the middle",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream()
      const { address, stats } = yield* relayAt(spool, upstream.port)
      const client = yield* Effect.promise(() => SmtpClient.open(address.port))
      for (const line of ["MAIL FROM:<a@b.example>", "RCPT TO:<alice@bit>", "DATA"]) {
        yield* Effect.promise(() => client.say(line))
      }
      client.socket.write("x".repeat(1_000_000))
      const isPart = (file: string): boolean => file.endsWith(".part")
      yield* eventually("the message is in progress", () => readdirSync(spool).some(isPart))
      client.socket.destroy()
      yield* eventually("the message is dropped", () => !readdirSync(spool).some(isPart))
      assert.strictEqual((yield* stats).accepted, 0)
    })
  )

  scenario(
    "refuses senders that bounces could not be sent to",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      for (const from of ["\"quoted\"@example.org", `${"a".repeat(190)}@${"b".repeat(30)}.example`]) {
        const reply = yield* send(address.port, ["alice@bit"], LETTER, from)
        assert.strictEqual(reply.code, 553, `${from}: ${reply.text}`)
      }
    })
  )

  scenario(
    "offers STARTTLS with a certificate, and records its use in the trace",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream, { config: { tls: { key: TEST_KEY, cert: TEST_CERTIFICATE } } })
      yield* Effect.promise(() =>
        new Promise<void>((resolve, reject) => {
          const client = new SMTPConnection({
            host: "localhost",
            port: address.port,
            name: "client.test",
            requireTLS: true,
            tls: { ca: TEST_CERTIFICATE }
          })
          client.once("error", reject)
          client.connect((error) => {
            if (error !== undefined) return reject(error)
            client.send({ from: "a@b.example", to: "alice@bit" }, Buffer.from(LETTER, "latin1"), (failed) => {
              client.quit()
              if (failed === null) resolve()
              else reject(failed)
            })
          })
        })
      )
      const [message] = yield* Effect.promise(() => upstream.received(1))
      assert.include(message?.text ?? "", "with ESMTPS id")
    })
  )

  scenario(
    "does not offer STARTTLS without a certificate",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      const client = yield* Effect.promise(() => SmtpClient.open(address.port))
      const hello = yield* Effect.promise(() => client.say("EHLO x"))
      assert.match(hello.text, /^250-relay\.example\n/)
      assert.notInclude(hello.text, "STARTTLS")
      assert.notInclude(hello.text, "AUTH")
      assert.strictEqual((yield* Effect.promise(() => client.say("STARTTLS"))).code, 502)
      client.end()
    })
  )

  scenario(
    "announces status codes, gives each reply one, and answers 502 to commands that it knows and does not have",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      const client = yield* Effect.promise(() => SmtpClient.open(address.port))
      const say = (line: string) => Effect.map(Effect.promise(() => client.say(line)), ({ text }) => text)
      assert.match(yield* say("EHLO x"), /^250[- ]ENHANCEDSTATUSCODES$/m)
      for (const command of ["AUTH PLAIN AAAA", "EXPN alice", "HELP"]) {
        assert.match(yield* say(command), /^502 5\.5\.1 [A-Z]+ is not implemented$/)
      }
      assert.match(yield* say("FROB"), /^500 5\.5\.2 Error/)
      assert.match(yield* say("VRFY alice"), /^252 2\.1\.5 Try/)
      assert.match(yield* say("MAIL FROM:<a@b.example>"), /^250 2\.1\.0 Accepted$/)
      assert.match(yield* say("RCPT TO:<missing@bit>"), /^550 5\.1\.1 No such/)
      assert.match(yield* say("RCPT TO:<alice@example.com>"), /^550 5\.7\.1 Mail for this domain/)
      assert.match(yield* say("RCPT TO:<alice@bit>"), /^250 2\.1\.5 Accepted$/)
      assert.match(yield* say("DATA"), /^354 End/)
      assert.match(yield* say(`${LETTER}\r\n.`), /^250 2\.0\.0 Queued as/)
      client.end()
    })
  )

  scenario(
    "takes a tag behind a plus sign for a part of the address, and forwards into no domain of its own",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const { address } = yield* relay(upstream)
      assert.strictEqual((yield* send(address.port, ["alice+shop@bit"])).code, 250)
      assert.strictEqual((yield* send(address.port, ["echo@bit"])).code, 550)
    })
  )

  scenario(
    "logs sender, recipient and outcome of each message",
    Effect.gen(function*() {
      const said: Array<unknown> = []
      const log = Logger.make(({ message }) => void said.push(message))
      const upstream = yield* testUpstream()
      const { address } = yield* Effect.provide(relay(upstream), Logger.replace(Logger.defaultLogger, log))
      yield* send(address.port, ["alice@bit"])
      yield* send(address.port, ["missing@bit"])
      yield* Effect.promise(() => upstream.received(1))
      const facts = (what: string) =>
        said.flatMap((entry) => Array.isArray(entry) && entry[0] === what ? [Object(entry[1])] : [])
      yield* eventually("the delivery in the log", () => facts("message delivered").length === 1)
      assert.deepInclude(facts("message accepted")[0], { recipients: ["alice@bit"] })
      assert.deepInclude(facts("message delivered")[0], {
        recipient: "alice@bit",
        target: "alice@destination.example"
      })
      assert.deepInclude(facts("recipient refused")[0], { recipient: "missing@bit" })
    })
  )

  scenario(
    "hands mail for the postmaster to the configured address, and refuses it without one",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const named = yield* relay(upstream, { config: { postmaster: "admin@destination.example" } })
      for (const to of ["postmaster", "Postmaster@bit"]) {
        assert.strictEqual((yield* send(named.address.port, [to])).code, 250)
      }
      yield* Effect.promise(() => upstream.received(2))
      assert.deepStrictEqual(upstream.messages.map(({ to }) => to.join()), [
        "admin@destination.example",
        "admin@destination.example"
      ])
      assert.strictEqual((yield* send(named.address.port, ["postmaster@example.com"])).code, 550)
      const noPostmaster = yield* relay(upstream)
      assert.strictEqual((yield* send(noPostmaster.address.port, ["postmaster"])).code, 550)
    })
  )
})
