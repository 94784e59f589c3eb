import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { parseMailAddress } from "../../src/mail/address.ts"

const address = (text: string): string | undefined => Either.getOrUndefined(parseMailAddress(text))

describe("an address to forward to", () => {
  it.each([
    ["alice@example.org", "alice@example.org"],
    ["Alice.B+tag@Example.ORG", "Alice.B+tag@example.org"],
    ["o'brien#$&*/=?^_`{}~-@a.bc", "o'brien#$&*/=?^_`{}~-@a.bc"],
    ["a-b@a.bc", "a-b@a.bc"],
    ["zoë@bücher.example", "zoë@xn--bcher-kva.example"],
    // The same letter in two spellings.
    ["zoe\u0308@example.org", "zo\u00eb@example.org"],
    [`${"l".repeat(64)}@example.org`, `${"l".repeat(64)}@example.org`],
    [`l@${`${"d".repeat(63)}.`.repeat(3)}org`, `l@${`${"d".repeat(63)}.`.repeat(3)}org`]
  ])("%s", (text, expected) => {
    assert.strictEqual(address(text), expected)
  })

  it.each([
    "",
    "nowhere",
    "@@",
    "@example.org",
    "alice@",
    "alice@localhost",
    "alice@example.org.",
    "alice@.example.org",
    "alice@exam_ple.org",
    "alice@-example.org",
    "alice%victim.example@example.org",
    "victim.example!alice@example.org",
    "|alice@example.org",
    "a|b@example.org",
    "-oX@example.org",
    "-@example.org",
    "alice@ex%61mple.org",
    "alice@127.0.0.1",
    "alice@0x7f.1",
    "alice@[127.0.0.1]",
    "alice@example.org,bob@example.org",
    "alice@b@example.org",
    "<alice@example.org>",
    "Alice <alice@example.org>",
    "\"alice\"@example.org",
    "alice..b@example.org",
    ".alice@example.org",
    "alice.@example.org",
    "al ice@example.org",
    "alice@exam ple.org",
    "alice@example.org\r\nBcc: victim@example.org",
    "alice\r\nRCPT TO:<victim@example.org>@example.org",
    "alice\0@example.org",
    "al\u200bice@example.org",
    "al\u202eice@example.org",
    "al\ud800ice@example.org",
    "alice@exa\u00admple.org",
    `${"l".repeat(65)}@example.org`,
    `${"é".repeat(33)}@example.org`,
    `l@${`${"d".repeat(64)}.`}org`,
    `l@${"d.".repeat(130)}org`
  ])("not %j", (text) => {
    assert.strictEqual(address(text), undefined)
  })

  it("reports what is wrong", () => {
    const why = (text: string): string =>
      Either.match(parseMailAddress(text), { onLeft: (why) => why, onRight: () => "" })
    assert.match(why("nowhere"), /has no @/)
    assert.match(why("a@localhost"), /not the domain of a mail server/)
    assert.match(why(`${"l".repeat(65)}@example.org`), /more than 64 bytes/)
  })

  it("returns one word without line ends, which parses to itself, for any input", () => {
    const unit = FastCheck.oneof(
      FastCheck.constantFrom("a", "B", "1", ".", "+", "-", "é", "e\u0308", "ß", "。", "\u212a"),
      FastCheck.constantFrom("@", "<", ">", "\"", "%", " ", "\r", "\n", "\0", "\u00ad", "\u200b", "\u202e", "\ud800")
    )
    const part = FastCheck.array(FastCheck.oneof({ weight: 9, arbitrary: FastCheck.constant("a") }, unit), {
      maxLength: 12
    }).map((units) => units.join(""))
    FastCheck.assert(FastCheck.property(part, part, (local, domain) => {
      const found = address(`${local}@${domain}.org`)
      if (found === undefined) return
      assert.match(found, /^[^\s<>"\p{C}]+@[a-z0-9.-]+$/u)
      assert.strictEqual(address(found), found)
    }))
  })
})
