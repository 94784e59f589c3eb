import { it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger, type Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Forwarding, NoSuchRecipient, Recipients, RecipientsUnavailable } from "../../src/mail/Recipients.ts"
import { type RelayConfig, relayConfig, type RelayLimits, type RetryPolicy } from "../../src/mail/relay/RelayConfig.ts"
import * as SmtpRelay from "../../src/mail/SmtpRelay.ts"
import { eventually } from "./eventually.ts"
import { sendMail, type TestUpstream } from "./smtp.ts"

/** Relays in front of an upstream server, for tests on real sockets. */

export const LETTER = [
  "From: Sender <sender@example.org>",
  "To: alice@bit",
  "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
  "Message-ID: <1@example.org>",
  "X-Odd:  two  spaces",
  "",
  "Hello",
  ".a dot",
  "..two dots",
  "eight bits: \xe4\xf6\xfc",
  ""
].join("\r\n")

export const forwardings: Readonly<Record<string, Forwarding>> = {
  alice: { email: "alice@destination.example", backup: [] },
  echo: { email: "alice@bit", backup: [] },
  bert: { email: "bert@two.example", backup: [] },
  backed: { email: "full@one.example", backup: ["also-full@two.example", "spare@three.example"] },
  evil: { email: "a@b.example>\r\nRCPT TO:<victim@example.org", backup: ["<x>@y", "good@four.example"] },
  utf8: { email: "d\u00f6rte@d\u00f6rfer.example", backup: [] }
}

export const knownRecipients = Layer.succeed(Recipients, {
  forwardingOf: (label) => {
    if (label === "later") return new RecipientsUnavailable({ reason: "no daemon" })
    const found = forwardings[label]
    return found === undefined ? new NoSuchRecipient({ label, why: "unknown" }) : Effect.succeed(found)
  }
})

export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "svcd-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

export const SHORT: RetryPolicy = {
  pauses: [Duration.millis(50)],
  reconnect: [Duration.millis(50)],
  giveUpAfter: Duration.days(1)
}

export interface Given {
  readonly limits?: Partial<RelayLimits>
  readonly retry?: Partial<RetryPolicy>
  readonly config?: Partial<Omit<RelayConfig, "limits" | "retry">>
}

/** A relay in front of an upstream server, for as long as the scope is open. */
export const relayAt = (spoolDirectory: string, upstreamPort: number, given: Given = {}) =>
  Layer.build(SmtpRelay.layer(relayConfig({
    listen: { host: "127.0.0.1", port: 0 },
    upstream: { host: "127.0.0.1", port: upstreamPort },
    hostname: "relay.example",
    spoolDirectory,
    ...given.config,
    limits: { ...given.limits },
    retry: { ...SHORT, ...given.retry }
  }))).pipe(
    Effect.provide(knownRecipients),
    Effect.flatMap((services) => Effect.provide(SmtpRelay.SmtpRelay, services))
  )

export const relay = (upstream: TestUpstream, given: Given = {}) =>
  Effect.flatMap(directory, (spool) => relayAt(spool, upstream.port, given))

export const quiet = Logger.replace(Logger.defaultLogger, Logger.none)

export const scenario = (name: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.scopedLive(name, () => Effect.provide(body, quiet))

export const send = (port: number, to: ReadonlyArray<string>, text = LETTER, from = "sender@example.org") =>
  Effect.promise(() => sendMail(port, { to, text, from }))

/** Waits until so many messages are in the spool. */
export const untilQueued = (stats: Effect.Effect<{ readonly queued: number }>, count: number) =>
  eventually(`${count} queued`, Effect.map(stats, ({ queued }) => queued === count))
