import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { nameLine } from "../../../src/alerts/advice.ts"
import { type MailNotice, MOST_NAMED } from "../../../src/alerts/mail/mailQueue.ts"
import { mainnetParams } from "../../../src/consensus/params.ts"
import { alertMessage } from "../../../src/mail/alerts/sendAlertMail.ts"
import { noticeOf } from "../../alerts/mail/notice.ts"
import { text } from "../../names/blocks.ts"

const CONTEXT = { params: mainnetParams, from: "svcd@x.example", hostname: "node.x.example" }

const messageOf = (names: ReadonlyArray<string | Uint8Array>, more = 0) =>
  alertMessage({
    type: "notices",
    to: "a@x.example",
    mail: { id: "0123", madeAt: Date.UTC(2026, 10, 26), more, names: names.map((name) => noticeOf(name)) }
  }, CONTEXT).toString("latin1")

/** The header's fields, and the body without its transfer encoding. */
const parsed = (message: string) => {
  const end = message.indexOf("\r\n\r\n")
  const body = message.slice(end + 4).replaceAll("=\r\n", "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { fields: message.slice(0, end).split("\r\n"), body: Buffer.from(body, "latin1").toString("utf8") }
}

const FIELDS = [
  "From: svcd <svcd@x.example>",
  "To: <a@x.example>",
  "Subject: ",
  "Date: Thu, 26 Nov 2026 00:00:00 +0000",
  "Message-ID: <0123@x.example>",
  "Auto-Submitted: auto-generated",
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
  "Content-Transfer-Encoding: quoted-printable"
]

const HOSTILE = [
  "\r\nBcc: b@x.example\r\n",
  "\r\n.\r\nQUIT\r\n",
  "\r\n\r\n",
  "=?utf-8?q?=0d=0a?=",
  "\u202e",
  "\0",
  "€",
  "=",
  " "
]

const names = FastCheck.oneof(
  FastCheck.uint8Array({ minLength: 1, maxLength: 255 }),
  FastCheck.array(FastCheck.oneof(FastCheck.constantFrom(...HOSTILE), FastCheck.string()), {
    minLength: 1,
    maxLength: 9
  })
    .map((parts) => text(`d/${parts.join("")}`).subarray(0, 255))
)

describe("alertMessage", () => {
  it.prop("has the same fields for any names, and the names in the text alone", {
    given: FastCheck.array(names, { minLength: 1, maxLength: 3 })
  }, ({ given }) => {
    const message = messageOf(given)
    const { body, fields } = parsed(message)
    assert.deepStrictEqual(fields.map((field) => field.startsWith("Subject: ") ? "Subject: " : field), FIELDS)
    assert.match(fields[2] ?? "", /^[ -~]{1,200}$/)
    for (const name of given) {
      assert.include(body, `\r\n\r\n${nameLine(name)}\r\n  expires at block 836000, about 2027-01-15\r\n`)
    }
    assert.notMatch(body.replaceAll("\r\n", ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    for (const line of message.split("\r\n")) assert.isAtMost(line.length, 76 + 200)
    for (const line of message.slice(message.indexOf("\r\n\r\n")).split("\r\n")) assert.isAtMost(line.length, 76)
    assert.notMatch(message, /[^\r\n -~]|\r(?!\n)|[^\r]\n/)
  })

  it("says in its subject which name it is, or how many", () => {
    const subject = (...given: Parameters<typeof messageOf>) => parsed(messageOf(...given)).fields[2]?.slice(9)
    assert.strictEqual(subject(["d/example"]), "d/example expires about 2027-01-15")
    assert.strictEqual(subject(["d/=?utf-8?q?x?="]), "A name expires about 2027-01-15")
    assert.strictEqual(subject(["d/a", "d/b"]), "2 names expire soon, the first about 2027-01-15")
    assert.strictEqual(subject(["d/a"], 5), "6 names expire soon, the first about 2027-01-15")
  })

  it("says what to do, and how many other names there are", () => {
    const { body } = parsed(messageOf(["d/a"], 7))
    assert.include(body, `To renew it: svcd-cli renew d/a`)
    assert.include(body, "… and 7 more. Run \"svcd-cli expiring\" to list them.")
    assert.include(body, "svcd on node.x.example, network mainnet.")
    const said = (custody: object) =>
      parsed(
        alertMessage({
          type: "notices",
          to: "a@x.example",
          mail: { id: "1", madeAt: 0, more: 0, names: [{ ...noticeOf("d/a"), ...custody }] }
        }, CONTEXT).toString()
      ).body.split("\r\n").find((_, at, all) => /^  expire[sd] at/.test(all[at - 1] ?? ""))
    assert.include(said({ pending: true }), "An operation on it is unconfirmed")
    const text = "would renew automatically, but the wallet is locked; it expires in 9 blocks"
    assert.include(
      said({ outlook: { state: "locked", text } }),
      `It ${text}. To unlock the wallet for renewals: svcd-cli `
    )
    assert.include(
      said({ outlook: { state: "locked", text, wallet: "cold box" } }),
      "renewals: svcd-cli -rpcwallet 'cold box' unlock -renewals"
    )
    assert.include(
      said({ outlook: { state: "pending", text: "waits", txid: "ab".repeat(32) } }),
      `svcd-cli bumpfee ${"ab".repeat(32)}`
    )
    assert.include(said({ outlook: { state: "taken", text: "\u202e is lost" } }), "It \\u202e is lost.")
    assert.include(said({ mine: false }), "No wallet on this node owns the name. Its owner must renew it.")
  })

  it("says which names are lost, and how to register them again", () => {
    const mailOf = (...outlooks: ReadonlyArray<MailNotice["outlook"]>) =>
      parsed(
        alertMessage({
          type: "notices",
          to: "a@x.example",
          mail: {
            id: "1",
            madeAt: 0,
            more: 0,
            names: outlooks.map((outlook, at) => ({ ...noticeOf(`d/${at}`), outlook }))
          }
        }, CONTEXT).toString()
      )
    const free = { state: "free", text: "expired 1 block ago: it is lost, but free to register again" }
    const { body, fields } = mailOf(free)
    assert.strictEqual(fields[2], "Subject: d/0 is lost")
    assert.include(body, "This name is lost.")
    assert.include(body, "  expired at block 836000")
    assert.include(body, `  It ${free.text}. To register it again: svcd-cli register d/0\r\n`)
    assert.strictEqual(mailOf(free, free).fields[2], "Subject: 2 names lost")
    assert.strictEqual(mailOf(free, undefined).fields[2], "Subject: 1 name lost, 1 name about to expire")
  })

  it("is small with as many names as there can be", () => {
    const many = Array.from({ length: MOST_NAMED }, (_, i) => new Uint8Array(255).fill(i))
    assert.isAtMost(messageOf(many, 10_000).length, 500_000)
  })
})
