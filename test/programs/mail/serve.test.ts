import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Schedule, Stream } from "effect"
import { createServer } from "node:net"
import { join } from "node:path"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { DaemonUnreachable, type OpenFailure } from "../../../src/client/errors.ts"
import { NameClient } from "../../../src/client/NameClient.ts"
import { relayConfig } from "../../../src/mail/relay/RelayConfig.ts"
import { serve } from "../../../src/programs/mail/serve.ts"
import type { MailSettings } from "../../../src/programs/mail/settings.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { freePort } from "../../support/daemon.ts"
import { readByServer } from "../../support/serverSide.ts"
import { sendMail, SmtpClient, testUpstream } from "../../support/smtp.ts"

const unused = () => Effect.dieMessage("a relay only resolves")

/** A client for which every label has the same address. */
const client: typeof NameClient.Service = {
  mode: "daemon",
  resolveName: (name, options) =>
    options?.requireSynced === true
      ? Effect.succeed({
        name,
        value: "{\"email\":\"alice@example.org\"}",
        address: "",
        txid: "",
        height: 1,
        expiresIn: 30,
        expired: false,
        asOf: { height: 120, synced: true, proof: "full" }
      })
      : Effect.dieMessage("a relay insists on a node that is synced"),
  proveName: unused,
  resolveDomain: unused,
  registerName: unused,
  updateName: unused,
  listNames: unused,
  findNames: () => Stream.die("no search"),
  changes: () => {
    throw new Error("a relay follows nothing")
  },
  freshness: unused(),
  progress: Stream.empty,
  ready: unused,
  failure: Effect.never
}

const settingsIn = (port: number, upstreamPort: number, more: Partial<MailSettings> = {}) =>
  Effect.map(temporaryDirectory, (directory): MailSettings => ({
    connection: {
      network: "regtest",
      networkFrom: "-network",
      rpcAddrFrom: "default",
      dataDir: directory,
      rpc: { host: "127.0.0.1", port: 1, credentials: undefined },
      cookieFile: undefined
    },
    namespace: "id/",
    relay: relayConfig({
      listen: { host: "127.0.0.1", port },
      upstream: { host: "127.0.0.1", port: upstreamPort },
      spoolDirectory: join(directory, "mail"),
      hostname: "relay.example.org",
      limits: { drainTime: Duration.millis(100) }
    }),
    metrics: undefined,
    log: { format: "text", level: "error", debugSubsystems: [] },
    ...more
  }))

/** A session with the relay, opened as soon as the relay listens. */
const session = (port: number) =>
  Effect.promise(() => SmtpClient.open(port)).pipe(
    Effect.filterOrFail(({ greeting }) => greeting.code === 220),
    Effect.retry(Schedule.spaced("10 millis"))
  )

const send = (port: number, to: string) =>
  Effect.promise(() => sendMail(port, { to: [to], text: "Subject: x\r\n\r\nHello\r\n" }))

/** The names of an intermittent daemon, and how often a client tried to open it. */
class Daemon {
  tries = 0
  closed = 0
  isThere = false
  /** An opening waits until this latch is open. */
  readonly opening = Effect.unsafeMakeLatch(true)

  readonly names: Layer.Layer<NameClient, OpenFailure> = Layer.scoped(
    NameClient,
    Effect.gen(this, function*() {
      this.tries += 1
      yield* Effect.addFinalizer(() => Effect.sync(() => void (this.closed += 1)))
      yield* this.opening.await
      if (this.isThere) return client
      return yield* new DaemonUnreachable({ address: "127.0.0.1:1", reason: "connection refused" })
    })
  )
}

describe("svcd-mail serve", () => {
  it.scopedLive("starts without a daemon, and uses it once it is available", () =>
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      const port = yield* freePort
      const daemon = new Daemon()
      const serving = yield* Effect.fork(serve(yield* settingsIn(port, upstream.port), daemon.names))
      const first = yield* session(port)
      yield* Effect.promise(() => first.say("MAIL FROM:<sender@example.org>"))
      const refused = yield* Effect.promise(() => first.say("RCPT TO:<alice@bit>"))
      assert.strictEqual(refused.code, 451, refused.text)
      first.end()
      // The failed attempts are released.
      assert.deepStrictEqual([daemon.tries, daemon.closed], [1, 1])

      daemon.isThere = true
      yield* daemon.opening.close
      const sessions = yield* Effect.all([session(port), session(port)])
      const waiting = yield* Effect.forEach(sessions, (each, at) =>
        Effect.gen(function*() {
          yield* Effect.promise(() => each.say("MAIL FROM:<sender@example.org>"))
          return yield* Effect.fork(Effect.promise(() => each.say(`RCPT TO:<${["alice", "bob"][at]}@bit>`)))
        }))
      yield* turnOfEventLoop
      yield* Effect.forEach(sessions, ({ socket }) => readByServer(socket))
      yield* turnOfEventLoop
      yield* daemon.opening.open
      const replies = yield* Effect.forEach(waiting, Fiber.join)
      assert.deepStrictEqual(replies.map(({ code }) => code), [250, 250])
      for (const each of sessions) each.end()
      // Both waited for the one client.
      assert.deepStrictEqual([daemon.tries, daemon.closed], [2, 1])
      assert.strictEqual((yield* send(port, "eve@bit")).code, 250)
      assert.strictEqual(daemon.tries, 2)
      yield* Effect.promise(() => upstream.received(1))

      yield* Fiber.interrupt(serving)
      assert.strictEqual(daemon.closed, 2)
      const after = yield* Effect.promise(() => SmtpClient.open(port))
      assert.strictEqual(after.greeting.code, 0)
    }))

  it.scopedLive("serves its metrics", () =>
    Effect.gen(function*() {
      const [port, metricsPort] = [yield* freePort, yield* freePort]
      const daemon = new Daemon()
      const metrics = { host: "127.0.0.1", port: metricsPort }
      yield* Effect.forkScoped(serve(yield* settingsIn(port, 1, { metrics }), daemon.names))
      const connected = yield* session(port)
      const text = yield* Effect.tryPromise(async () =>
        await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      )
        .pipe(Effect.retry(Schedule.spaced("10 millis")))
      assert.match(text, /^svcd_mail_clients_connected 1$/m)
      assert.match(text, /^# TYPE svcd_mail_messages_accepted_total counter$/m)
      for (const line of text.trimEnd().split("\n")) assert.match(line, /^(?:# (?:HELP|TYPE) )?svcd_mail_/)
      connected.end()
    }))

  it.scopedLive("exits if an address is in use", () =>
    Effect.gen(function*() {
      const taken = yield* Effect.acquireRelease(
        Effect.promise(() => {
          const server = createServer()
          return new Promise<typeof server>((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)))
        }),
        (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
      )
      const address = taken.address()
      const busy = typeof address === "object" && address !== null ? address.port : 0
      const mail = yield* Effect.flip(serve(yield* settingsIn(busy, 1), new Daemon().names))
      assert.strictEqual(mail._tag, "BindFailed")
      assert.include(mail.message, `127.0.0.1:${busy}`)

      const metrics = { host: "127.0.0.1", port: busy }
      const other = yield* Effect.flip(serve(yield* settingsIn(yield* freePort, 1, { metrics }), new Daemon().names))
      assert.strictEqual(other._tag, "BindFailed")
      assert.include(other.message, `127.0.0.1:${busy}`)
    }))
})
