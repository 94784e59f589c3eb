import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { alertMailOf } from "../../src/config/alertSettings.ts"
import { readArgv } from "../../src/config/argv.ts"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import { gather } from "../../src/config/gather.ts"
import { OPTIONS } from "../../src/config/options.ts"
import { printConfig } from "../../src/config/printConfig.ts"
import { inputOf } from "./input.ts"

const PASSWORD = "hid%2Fden"
const SERVER = `smtps://me%40example.org:${PASSWORD}@mail.example.org`

const TO = "-alertmail=me@example.org"

const mailOf = (...argv: ReadonlyArray<string>) => alertMailOf(Either.getOrThrow(decodeSettings(inputOf(argv))).alerts)

const refusal = (...argv: ReadonlyArray<string>): string => {
  const read = decodeSettings(inputOf(argv))
  return Either.isRight(read) ? assert.fail("is accepted") : String(read.left)
}

describe("-alertmail", () => {
  it("has a server, addresses that are each there once, and a sender", () => {
    assert.isUndefined(mailOf())
    const mail = mailOf(TO, "-alertmail=you@EXAMPLE.org", TO, `-alertmailserver=${SERVER}`)
    assert.deepStrictEqual(mail?.to, ["me@example.org", "you@example.org"])
    assert.strictEqual(mail?.from, "me@example.org")
    assert.isFalse(mail?.allowPlain)
    const { address, credentials, isImplicit } = mail?.server ?? assert.fail()
    assert.deepStrictEqual({ address, isImplicit, user: credentials?.user }, {
      address: { host: "mail.example.org", port: 465 },
      isImplicit: true,
      user: "me@example.org"
    })
    assert.strictEqual(credentials === undefined ? "" : Redacted.value(credentials.password), "hid/den")
    const plain = mailOf(TO, "-alertmailserver=smtp://[::1]", "-alertmailfrom=svcd@example.org", "-alertmailplain")
    assert.deepStrictEqual(plain?.server, {
      address: { host: "::1", port: 587 },
      isImplicit: false,
      credentials: undefined
    })
    assert.deepStrictEqual([plain?.from, plain?.allowPlain], ["svcd@example.org", true])
    assert.strictEqual(mailOf(TO, "-alertmailserver=smtp://127.0.0.1:25/")?.server.address.port, 25)
  })

  it.each([
    { argv: [TO], says: "-alertmail: needs -alertmailserver" },
    { argv: [`-alertmailserver=${SERVER}`], says: "need -alertmail, the address that gets the mail" },
    { argv: ["-alertmail=example", `-alertmailserver=${SERVER}`], says: "\"example\" is not an e-mail address" },
    { argv: ["-alertmail=a@b\r\nBcc:c@d", `-alertmailserver=${SERVER}`], says: "is not an e-mail address" },
    { argv: [TO, `-alertmailserver=${SERVER}`, "-alertmailfrom=d\u00f6rte@x.example"], says: "in ASCII" },
    { argv: [TO, `-alertmailserver=http://me:${PASSWORD}@x`], says: "does not begin with smtp: or smtps:" },
    { argv: [TO, `-alertmailserver=smtp://me:${PASSWORD}@x/inbox`], says: "has more than a host and a port" },
    { argv: [TO, `-alertmailserver=smtp://${PASSWORD}@x`], says: "has a user without a password" },
    { argv: [TO, `-alertmailserver=smtp://me:${PASSWORD}%0d%0aQUIT@x`], says: "is not percent-encoded text" },
    { argv: [TO, `-alertmailserver=smtp://me:${PASSWORD}%@x`], says: "is not percent-encoded text" },
    { argv: [TO, `-alertmailserver=smtp://me:${PASSWORD}@x:99999`], says: "is not a URL" },
    {
      argv: [...Array.from({ length: 11 }, (_, i) => `-alertmail=a${i}@b.example`), `-alertmailserver=${SERVER}`],
      says: "at most 10 addresses are allowed"
    }
  ])("is refused with $says, without the password", ({ argv, says }) => {
    assert.include(refusal(...argv), says)
    for (const secret of [PASSWORD, "hid/den"]) assert.notInclude(refusal(...argv), secret)
  })

  it("is not printed by -printconfig", () => {
    const asked = inputOf(["-printconfig", TO], { env: { SVCD_ALERTMAIL_SERVER: SERVER } })
    const { given } = readArgv(asked.argv, OPTIONS)
    const printed = printConfig(Either.getOrThrow(gather(OPTIONS, given, asked)), asked)
    assert.include(printed, "# alertmailserver is set, and not shown")
    assert.notInclude(printed, PASSWORD)
  })
})
