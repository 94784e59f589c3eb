import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mailTable, sampleMail } from "../../../src/mail/relay/mailMetrics.ts"
import { relayConfig, upstreamTlsOf } from "../../../src/mail/relay/RelayConfig.ts"
import { exposition } from "../../../src/metrics/exposition.ts"

const credentials = { user: "u", password: Redacted.make("p") }

describe("upstreamTlsOf", () => {
  it.each(
    [
      { host: "127.0.0.1", credentials, upstreamTls: "opportunistic", used: "opportunistic" },
      { host: "localhost", credentials, upstreamTls: "opportunistic", used: "opportunistic" },
      { host: "::1", credentials, upstreamTls: "required", used: "required" },
      { host: "smtp.example", credentials, upstreamTls: "opportunistic", used: "required" },
      { host: "10.0.0.1", credentials, upstreamTls: "opportunistic", used: "required" },
      { host: "smtp.example", credentials, upstreamTls: "implicit", used: "implicit" },
      { host: "smtp.example", credentials: undefined, upstreamTls: "opportunistic", used: "opportunistic" }
    ] as const
  )("is $used for $upstreamTls to $host", ({ credentials, host, upstreamTls, used }) => {
    assert.strictEqual(upstreamTlsOf({ credentials, upstreamTls, upstream: { host, port: 25 } }), used)
  })
})

describe("relayConfig", () => {
  it("fills in defaults, and keeps given settings", () => {
    const config = relayConfig({
      listen: { host: "", port: 2525 },
      upstream: { host: "smtp.example", port: 25 },
      hostname: "relay.example",
      spoolDirectory: "spool",
      limits: { recipients: 7 }
    })
    assert.deepStrictEqual(config.domains, ["bit"])
    assert.strictEqual(config.senderDomain, "relay.example")
    assert.strictEqual(config.reportSender, "MAILER-DAEMON@relay.example")
    assert.deepStrictEqual([config.limits.recipients, config.limits.connections], [7, 256])
  })
})

describe("mail metrics", () => {
  it.effect("show the relay's numbers unchanged", () =>
    Effect.gen(function*() {
      for (const family of mailTable) family.register()
      yield* sampleMail(Effect.succeed({
        connections: 3,
        queued: 4,
        queuedBytes: 5_000,
        upstreamReachable: false,
        accepted: 0,
        refused: 0,
        putOff: 0,
        delivered: 0,
        deferred: 0,
        bounced: 0,
        discarded: 0
      }))
      const text = yield* exposition(mailTable)
      assert.include(text, "\nsvcd_mail_clients_connected 3\n")
      assert.include(text, "\nsvcd_mail_queue_messages 4\n")
      assert.include(text, "\nsvcd_mail_queue_bytes 5000\n")
      assert.include(text, "\nsvcd_mail_upstream_reachable 0\n")
      assert.isTrue(mailTable.every(({ name }) => name.startsWith("svcd_mail_")))
    }))
})
