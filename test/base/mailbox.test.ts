import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { formatMailbox, hostName, needsUtf8, parseMailbox } from "../../src/base/mailbox.ts"

describe("parseMailbox", () => {
  it.each([
    ["a@example.org", "a@example.org"],
    ["First.Last+tag@EXAMPLE.org", "First.Last+tag@example.org"],
    ["!#$%&'*+/=?^_`{|}~-@example.org", "!#$%&'*+/=?^_`{|}~-@example.org"],
    ["d\u00f6rte@d\u00f6rfer.example", "d\u00f6rte@xn--drfer-jua.example"],
    ["a@[192.0.2.1]", "a@[192.0.2.1]"],
    ["a@localhost", "a@localhost"],
    [`${"a".repeat(200)}@x.example`, `${"a".repeat(200)}@x.example`]
  ])("reads %s", (text, expected) => {
    const mailbox = parseMailbox(text)
    assert.strictEqual(mailbox === undefined ? undefined : formatMailbox(mailbox), expected)
  })

  it.each([
    "",
    "a",
    "@example.org",
    "a@",
    "a b@example.org",
    "a@exa mple.org",
    ".a@example.org",
    "a.@example.org",
    "a..b@example.org",
    "\"a\"@example.org",
    "a@b@example.org",
    "<a@example.org>",
    "a@-example.org",
    "a@example..org",
    "a@example.org.",
    "a\r\n@example.org",
    "a@example.org\r\n",
    "a\u0000@example.org",
    "a@[1.2.3]",
    "a@[evil>]",
    "a\u200b@example.org",
    "a@exa\u00admple.org",
    "a\u00a0b@example.org",
    `${"a".repeat(201)}@x.example`,
    `a@${"b".repeat(64)}.example`,
    "a,b@example.org",
    "a;b@example.org",
    "a:b@example.org",
    "a(b)@example.org"
  ])("does not read %j", (text) => {
    assert.isUndefined(parseMailbox(text))
  })

  it.prop(
    "returns only what is safe in a command",
    [FastCheck.fullUnicodeString(), FastCheck.fullUnicodeString()],
    ([a, b]) => {
      const mailbox = parseMailbox(`${a}@${b}`)
      if (mailbox === undefined) return
      assert.notMatch(formatMailbox(mailbox), /[\s\0-\x1f<>"\x7f]/)
      assert.isTrue(Buffer.byteLength(formatMailbox(mailbox)) <= 320)
    }
  )
})

describe("hostName", () => {
  it("converts domains to one form for comparison", () => {
    assert.strictEqual(hostName("B\u00dcCHER.example"), "xn--bcher-kva.example")
    assert.strictEqual(hostName("BIT"), "bit")
    assert.isUndefined(hostName(""))
    assert.isUndefined(hostName("a_b.example"))
    assert.isUndefined(hostName("a.".repeat(127) + "example"))
  })
})

describe("needsUtf8", () => {
  it("is true for characters beyond ASCII", () => {
    assert.deepStrictEqual([needsUtf8("a~@b"), needsUtf8("\u0080@b"), needsUtf8("\u00e4@b")], [false, true, true])
  })
})
