import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { isIPv4, isIPv6 } from "node:net"
import { parseMailAddress } from "../../src/mail/address.ts"
import { canonicalIpv6, canonicalOnion, isDnsName, isIpv4Text, isMailAddress } from "../../src/values/hosts.ts"

describe("addresses", () => {
  it("are IPv4 as in node:net", () => {
    const texts = FastCheck.oneof(
      FastCheck.ipV4(),
      FastCheck.array(FastCheck.constantFrom("0", "01", "1", "255", "256", "a", ""), { maxLength: 5 })
        .map((parts) => parts.join("."))
    )
    FastCheck.assert(FastCheck.property(texts, (text) => {
      assert.strictEqual(isIpv4Text(text), isIPv4(text), text)
    }))
  })

  it("are IPv6 as in node:net, and their canonical form is that of URLs", () => {
    const group = FastCheck.constantFrom("0", "00", "1", "ffff", "ABCD", "12345", "g", "", "1.2.3.4")
    const texts = FastCheck.oneof(
      FastCheck.ipV6(),
      FastCheck.array(group, { maxLength: 9 }).map((parts) => parts.join(":"))
    )
    FastCheck.assert(
      FastCheck.property(texts, (text) => {
        const canonical = canonicalIpv6(text)
        assert.strictEqual(canonical !== undefined, isIPv6(text), text)
        if (canonical !== undefined) assert.strictEqual(`[${canonical}]`, new URL(`http://[${text}]/`).hostname, text)
      }),
      { numRuns: 1_000 }
    )
  })

  it.each(["2001:db8::1%eth0", "1::2::3", "::ffff:1.2.3.400", "1.2.3.4::", ":::"])(
    "%s is not an IPv6 address",
    (text) => {
      assert.isUndefined(canonicalIpv6(text))
    }
  )

  it("are mail addresses where svcd-mail forwards to them", () => {
    const part = FastCheck.constantFrom("a", "B", "-", ".", "_", "+", "%", "!", "|", "\"", " ", "@", "1", "ex", "com")
    const texts = FastCheck.tuple(
      FastCheck.array(part, { minLength: 1, maxLength: 4 }),
      FastCheck.array(part, { minLength: 1, maxLength: 6 })
    ).map(([local, domain]) => `${local.join("")}@${domain.join("")}`)
    FastCheck.assert(
      FastCheck.property(texts, (text) => {
        assert.strictEqual(isMailAddress(text), Either.isRight(parseMailAddress(text)), text)
      }),
      { numRuns: 2_000 }
    )
    for (const text of ["alice@example.org", `${"a".repeat(65)}@example.org`, "ä@example.org", "a@b", "a@1.2.3.4"]) {
      assert.strictEqual(isMailAddress(text), Either.isRight(parseMailAddress(text)), text)
    }
  })

  it("are names of DNS and onion services", () => {
    assert.isTrue(isDnsName("_443._tcp.example.bit."))
    for (const text of ["", ".", "a..b", "-a", "a-", "A", "a b", `${"a".repeat(64)}.b`, "a.".repeat(129)]) {
      assert.isFalse(isDnsName(text), text)
    }
    assert.strictEqual(canonicalOnion(`${"A".repeat(56)}.onion.`), `${"a".repeat(56)}.onion`)
    assert.isUndefined(canonicalOnion("a.onion"))
  })
})
