import { assert, describe, it } from "@effect/vitest"
import type { Envelope } from "../../../src/mail/relay/envelope.ts"
import { buildReport, reportHeader } from "../../../src/mail/relay/report.ts"

const original: Envelope = {
  id: "m-1",
  arrivedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  sender: "sender@example.org",
  greeting: "c",
  client: "192.0.2.1",
  protocol: "ESMTP",
  hasMessageId: true,
  eightBit: false,
  recipients: [{ address: "a@bit", targets: ["a@one.example"], loops: false }]
}

const report = (address: string, header: string): string =>
  buildReport({
    id: "m-1-r0",
    at: Date.UTC(2026, 0, 3, 3, 4, 5),
    hostname: "relay.example",
    from: "MAILER-DAEMON@relay.example",
    upstream: "smtp.example",
    original,
    failed: [{ address, reply: { code: 0, status: "4.4.1", text: "connection refused" }, refusals: [] }],
    header: Buffer.from(header, "latin1")
  }).toString("latin1")

describe("buildReport", () => {
  it("makes a report of RFC 3464: a text, the status, the header", () => {
    const text = report("a@bit", "Subject: x\r\n")
    const boundary = /boundary="(.*)"/.exec(text)?.[1] ?? ""
    const parts = text.split(`--${boundary}`)
    assert.strictEqual(parts.length, 5)
    assert.match(
      parts[0] ?? "",
      /\r\nDate: Sat, 03 Jan 2026 03:04:05 \+0000\r\nMessage-ID: <m-1-r0@relay\.example>\r\n/
    )
    assert.match(
      parts[1] ?? "",
      /^\r\nContent-Type: text\/plain; charset=utf-8\r\n[^]*<a@bit>\r\n {2}connection refused\r\n/
    )
    assert.strictEqual(
      parts[2],
      "\r\nContent-Type: message/delivery-status\r\nContent-Transfer-Encoding: 7bit\r\n\r\n" +
        "Reporting-MTA: dns; relay.example\r\nArrival-Date: Fri, 02 Jan 2026 03:04:05 +0000\r\n\r\n" +
        "Final-Recipient: rfc822; a@bit\r\nAction: failed\r\nStatus: 5.4.1\r\n\r\n"
    )
    assert.strictEqual(
      parts[3],
      "\r\nContent-Type: text/rfc822-headers\r\nContent-Transfer-Encoding: 7bit\r\n\r\nSubject: x\r\n\r\n"
    )
    assert.strictEqual(parts[4], "--\r\n")
    assert.notMatch(text, /[^\r]\n|\r[^\n]/)
    assert.notMatch(text, /[^\x00-\x7f]/)
  })

  it("declares addresses and headers beyond ASCII", () => {
    assert.match(report("\u00e4@bit", "Subject: x\r\n"), /message\/global-delivery-status[^]*Final-Recipient: utf-8; /)
    assert.match(report("a@bit", "Subject: \xe4\r\n"), /rfc822-headers\r\nContent-Transfer-Encoding: 8bit\r\n/)
  })
})

describe("headerOf", () => {
  it.each([
    { start: "A: b\r\nC: d\r\n\r\nbody", header: "A: b\r\nC: d\r\n" },
    { start: "\r\nbody", header: "" },
    { start: "A: b\r\nC: d\r\n", header: "A: b\r\nC: d\r\n" },
    { start: "A: b\r\nC: cut", header: "A: b\r\n" },
    { start: "", header: "" }
  ])("of $start", ({ header, start }) => {
    assert.strictEqual(reportHeader(Buffer.from(start)).toString(), header)
  })
})
