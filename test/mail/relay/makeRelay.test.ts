import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Logger, Scope } from "effect"
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { encodeRecord } from "../../../src/mail/relay/deliveryState.ts"
import { encodeEnvelope, encodePrologue } from "../../../src/mail/relay/spoolFile.ts"
import { TEST_CERTIFICATE } from "../../support/certificate.ts"
import { eventually } from "../../support/eventually.ts"
import { directory, LETTER, quiet, relay, relayAt, scenario, send, untilQueued } from "../../support/mailRelay.ts"
import { canMount, smallDisk } from "../../support/smallDisk.ts"
import { SmtpClient, testUpstream } from "../../support/smtp.ts"

describe.concurrent("makeRelay", () => {
  scenario(
    "delivers after a restart what it could not deliver before, and only that",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream({ rcpt: (to) => to.startsWith("alice") ? "451 4.2.1 busy" : undefined })
      const slow = { retry: { pauses: [Duration.millis(300)] } }
      yield* Effect.scoped(Effect.gen(function*() {
        const { address } = yield* relayAt(spool, upstream.port, slow)
        yield* send(address.port, ["alice@bit", "bert@bit"])
        yield* Effect.promise(() => upstream.received(1))
        yield* Effect.promise(() => upstream.heard("RSET"))
      }))
      upstream.behaviour = {}
      const { stats } = yield* relayAt(spool, upstream.port, slow)
      yield* untilQueued(stats, 0)
      assert.deepStrictEqual(upstream.messages.map(({ to }) => to.join()), [
        "bert@two.example",
        "alice@destination.example"
      ])
      assert.deepStrictEqual(readdirSync(spool).filter((file) => /msg|log|part/.test(file)), [])
    })
  )

  scenario(
    "sends one bounce when no recipient is waiting any more, however the recipients fail one after the other",
    Effect.gen(function*() {
      const spool = yield* directory
      let tries = 0
      const upstream = yield* testUpstream({
        rcpt: (to) => {
          if (to.startsWith("alice")) return "550 5.1.1 missing"
          if (!to.includes("@two.")) return undefined
          tries++
          return tries === 1 ? "451 4.2.1 busy" : "550 5.1.1 missing as well"
        }
      })
      const { address, stats } = yield* relayAt(spool, upstream.port, { retry: { pauses: [Duration.millis(100)] } })
      yield* send(address.port, ["alice@bit", "bert@bit"])
      yield* untilQueued(stats, 0)
      assert.strictEqual(tries, 2)
      assert.strictEqual(upstream.messages.length, 1)
      const report = JSON.stringify(upstream.messages)
      assert.include(report, "missing\\r\\n")
      assert.include(report, "missing as well")
      assert.strictEqual((yield* stats).bounced, 2)
    })
  )

  scenario(
    "takes a message that is being received when it stops, and sends nothing to a silent client",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream()
      const scope = yield* Scope.make()
      const { address } = yield* Effect.provideService(relayAt(spool, upstream.port), Scope.Scope, scope)
      const [idle, busy] = yield* Effect.promise(() =>
        Promise.all([SmtpClient.open(address.port), SmtpClient.open(address.port)])
      )
      for (const line of ["MAIL FROM:<a@b.example>", "RCPT TO:<alice@bit>", "DATA"]) {
        yield* Effect.promise(() => busy.say(line))
      }
      busy.socket.write("Subject: x\r\n\r\nhalf")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      assert.strictEqual((yield* Effect.promise(() => idle.reply())).code, 421)
      busy.socket.write(" and whole\r\n.\r\n")
      assert.strictEqual((yield* Effect.promise(() => busy.reply())).code, 250)
      yield* closing
      assert.strictEqual(readdirSync(spool).filter((file) => file.endsWith(".msg")).length, 1)
      assert.isTrue(readdirSync(spool).includes("CLEAN"))
    })
  )

  scenario(
    "stops in time when neither side sends anything more",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream({ message: () => "hang" })
      const scope = yield* Scope.make()
      const limits = { drainTime: Duration.millis(200) }
      const { address } = yield* Effect.provideService(relayAt(spool, upstream.port, { limits }), Scope.Scope, scope)
      yield* send(address.port, ["alice@bit"])
      const client = yield* Effect.promise(() => SmtpClient.open(address.port))
      for (const line of ["MAIL FROM:<a@b.example>", "RCPT TO:<alice@bit>", "DATA"]) {
        yield* Effect.promise(() => client.say(line))
      }
      client.socket.write("Subject: x\r\n\r\nhalf")
      const [took] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.isBelow(Duration.toMillis(took), 20_000)
      assert.strictEqual(readdirSync(spool).filter((file) => file.endsWith(".msg")).length, 1)
      assert.deepStrictEqual(readdirSync(spool).filter((file) => file.endsWith(".part")), [])
    })
  )

  scenario(
    "does not log a possible second delivery of a message whose delivery had not begun when it stopped",
    Effect.gen(function*() {
      const upstream = yield* testUpstream({ message: () => "hang" })
      const said: Array<string> = []
      const log = Logger.make(({ message }) => void said.push(String(message)))
      const limits = { drainTime: Duration.millis(100), upstreamConnections: 1 }
      yield* Effect.scoped(Effect.gen(function*() {
        const { address, stats } = yield* relay(upstream, { limits })
        yield* Effect.all(Array.from({ length: 3 }, () => send(address.port, ["alice@bit", "bert@bit"])), {
          concurrency: 3
        })
        yield* Effect.promise(() => upstream.heard("DATA"))
        assert.strictEqual((yield* stats).queued, 3)
      })).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, log)))
      assert.strictEqual(said.filter((line) => line.includes("may be delivered twice")).length, 1)
    })
  )

  scenario(
    "tries a message that became old while no relay ran, before it gives it up",
    Effect.gen(function*() {
      const spool = yield* directory
      const body = Buffer.from(LETTER, "latin1")
      const id = "old-1"
      const json = encodeEnvelope({
        id,
        arrivedAt: Date.now() - Duration.toMillis(Duration.days(30)),
        sender: "a@b.example",
        greeting: "x",
        client: "127.0.0.1",
        protocol: "ESMTP",
        hasMessageId: true,
        eightBit: true,
        recipients: [{ address: "alice@bit", targets: ["alice@destination.example"], loops: false }]
      })
      const prologue = { bodyLength: body.length, envelopeLength: json.length, crc: crc32(json, crc32(body)) }
      writeFileSync(join(spool, `${id}.msg`), Buffer.concat([encodePrologue(prologue), body, json]))
      const upstream = yield* testUpstream()
      const { stats } = yield* relayAt(spool, upstream.port)
      yield* untilQueued(stats, 0)
      assert.deepStrictEqual(upstream.messages.map(({ to }) => to.join()), ["alice@destination.example"])
    })
  )

  scenario(
    "is the only one at its spool, and only its user can read the mail in it",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream({ rcpt: () => "451 4.2.1 busy" })
      const { address } = yield* relayAt(spool, upstream.port, { retry: { pauses: [Duration.hours(1)] } })
      const second = yield* Effect.flip(Effect.scoped(relayAt(spool, upstream.port)))
      assert.match(second.message, /in use by another relay \(process \d+\)/)
      yield* send(address.port, ["alice@bit"])
      for (const file of readdirSync(spool).filter((name) => /msg|key/.test(name))) {
        assert.strictEqual(statSync(join(spool, file)).mode & 0o777, 0o600, file)
      }
    })
  )

  scenario(
    "reports the address that it cannot listen on",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const failure = yield* Effect.flip(
        relay(upstream, { config: { listen: { host: "127.0.0.1", port: upstream.port } } })
      )
      assert.strictEqual(failure._tag, "BindFailed")
      assert.include(failure.message, `127.0.0.1:${upstream.port} for mail: the address is in use`)
    })
  )

  scenario(
    "reports what is wrong with an invalid key",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const failure = yield* Effect.flip(relay(upstream, { config: { tls: { key: "x", cert: TEST_CERTIFICATE } } }))
      assert.include(failure.message, "the key or the certificate cannot be used")
    })
  )

  scenario(
    "discards messages that a crash cut off, moves damaged ones aside, and delivers the rest",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream({ rcpt: () => "451 4.2.1 busy" })
      yield* Effect.scoped(Effect.gen(function*() {
        const { address, stats } = yield* relayAt(spool, upstream.port)
        yield* send(address.port, ["alice@bit"])
        yield* send(address.port, ["bert@bit"])
        assert.strictEqual((yield* stats).queued, 2)
      }))
      const files = readdirSync(spool).filter((file) => file.endsWith(".msg")).sort()
      const [first = "", second = ""] = files
      const whole = readFileSync(join(spool, first))
      writeFileSync(join(spool, "0-0.part"), whole.subarray(0, 100))
      writeFileSync(join(spool, "0-1.log"), "\n{}\n")
      const damaged = readFileSync(join(spool, second))
      damaged[200] = (damaged[200] ?? 0) ^ 1
      writeFileSync(join(spool, second), damaged)
      upstream.behaviour = {}
      const { stats } = yield* relayAt(spool, upstream.port)
      yield* untilQueued(stats, 0)
      assert.deepStrictEqual(upstream.messages.map(({ to }) => to.join()), ["alice@destination.example"])
      assert.deepStrictEqual(readdirSync(join(spool, "corrupt")).sort(), [second.replace("msg", "log"), second])
      assert.deepStrictEqual(readdirSync(spool).filter((file) => /part|log|msg/.test(file)), [])
    })
  )

  it.scopedLive.skipIf(!canMount)(
    "defers mail while the disk is full, loses nothing, and goes on with room",
    () =>
      Effect.gen(function*() {
        const disk = yield* smallDisk("2m")
        const upstream = yield* testUpstream({ rcpt: () => "451 4.2.1 busy" })
        const { address, stats } = yield* relayAt(join(disk.path, "spool"), upstream.port)
        assert.strictEqual((yield* send(address.port, ["alice@bit"])).code, 250)
        const filler = disk.fill()
        for (const text of [LETTER, `${LETTER}${"y\r\n".repeat(200_000)}`]) {
          const reply = yield* send(address.port, ["bert@bit"], text)
          assert.deepStrictEqual([reply.code, reply.text.includes("4.3.1")], [452, true])
        }
        rmSync(filler)
        assert.strictEqual((yield* send(address.port, ["bert@bit"])).code, 250)
        upstream.behaviour = {}
        yield* untilQueued(stats, 0)
        const to = upstream.messages.map((message) => message.to.join()).sort()
        assert.deepStrictEqual(to, ["alice@destination.example", "bert@two.example"])
      }).pipe(Effect.provide(quiet))
  )

  scenario(
    "fails when the spool cannot be written any more",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream()
      const { address, failure } = yield* relayAt(join(spool, "spool"), upstream.port)
      rmSync(join(spool, "spool"), { recursive: true })
      const reply = yield* send(address.port, ["alice@bit"])
      assert.deepStrictEqual([reply.code, reply.text.includes("4.3.0")], [451, true])
      const failed = yield* Effect.flip(failure)
      assert.include(failed.message, "it is gone")
    })
  )

  scenario(
    "sends one bounce to the sender, even if it was killed before it could record the bounce",
    Effect.gen(function*() {
      const spool = yield* directory
      const upstream = yield* testUpstream({ rcpt: () => "451 4.2.1 busy" })
      const slow = { retry: { pauses: [Duration.millis(200)] } }
      const session = <A, E>(work: Effect.Effect<A, E, Scope.Scope>) => Effect.scoped(work)
      const files = () => readdirSync(spool).filter((file) => file.endsWith(".msg"))
      yield* session(Effect.gen(function*() {
        const { address } = yield* relayAt(spool, upstream.port, slow)
        yield* send(address.port, ["alice@bit"])
        yield* Effect.promise(() => upstream.heard("RSET"))
      }))
      const [original = ""] = files()
      const bytes = readFileSync(join(spool, original))
      upstream.behaviour = { rcpt: (to) => to.startsWith("alice") ? "550 5.1.1 no" : "451 4.2.1 busy" }
      yield* session(Effect.gen(function*() {
        yield* relayAt(spool, upstream.port, slow)
        yield* eventually("the bounce alone is left", () => files().length === 1 && files()[0] !== original)
      }))
      // The state with a spooled bounce that no record mentions: the message had failed, and was still in the spool.
      const reply = { code: 550, status: "5.1.1", text: "550 5.1.1 no" }
      writeFileSync(join(spool, original), bytes)
      writeFileSync(
        join(spool, original.replace("msg", "log")),
        encodeRecord({ event: "refused", recipient: 0, target: 0, reply }) +
          encodeRecord({ event: "failed", recipient: 0, reply })
      )
      rmSync(join(spool, "CLEAN"))
      upstream.behaviour = {}
      const { stats } = yield* relayAt(spool, upstream.port, slow)
      yield* untilQueued(stats, 0)
      assert.deepStrictEqual(upstream.messages.map(({ from, to }) => [from, to.join()]), [["", "sender@example.org"]])
    })
  )
})
