import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { formatMailbox, parseMailbox } from "../../../src/base/mailbox.ts"
import { isRewritten, restoreSender, rewriteSender, type Srs } from "../../../src/mail/relay/srs.ts"

const DAY = 86_400_000
const NOW = Date.UTC(2026, 6, 1, 12)

const ours: Srs = { secret: new Uint8Array(32).fill(1), domain: "relay.example" }
const others: Srs = { secret: new Uint8Array(32).fill(2), domain: "other.example" }

const atom = FastCheck.stringOf(FastCheck.constantFrom(..."abcXYZ019=+-_\u00e9"), { minLength: 1, maxLength: 20 })
const mailbox = FastCheck.record({
  local: FastCheck.array(atom, { minLength: 1, maxLength: 3 }).map((atoms) => atoms.join(".")),
  domain: FastCheck.constantFrom("one.example", "a.b.c.example", "x-y.org", "[1.2.3.4]", "[IPv6:2001:db8::1]")
}).filter(({ local }) => !isRewritten(local))

describe("srs", () => {
  it.prop(
    "restores the sender with the right secret",
    [mailbox, FastCheck.integer({ min: 0, max: 21 })],
    ([sender, days]) => {
      const rewritten = rewriteSender(ours, sender, NOW)
      assert.strictEqual(rewritten.domain, "relay.example")
      assert.deepStrictEqual(parseMailbox(formatMailbox(rewritten)), rewritten)
      // Not in quotes, which many servers refuse.
      assert.notInclude(formatMailbox(rewritten), "\"")
      assert.isTrue(isRewritten(rewritten.local))
      assert.strictEqual(restoreSender(ours, rewritten.local, NOW + days * DAY), formatMailbox(sender))
      assert.isUndefined(restoreSender(others, rewritten.local, NOW))
    }
  )

  it.prop(
    "detects any changed character",
    [mailbox, FastCheck.nat(), FastCheck.constantFrom("a", "7", ".")],
    ([sender, at, by]) => {
      const { local } = rewriteSender(ours, sender, NOW)
      const index = 5 + at % (local.length - 5)
      const changed = local.slice(0, index) + by + local.slice(index + 1)
      FastCheck.pre(changed.toLowerCase() !== local.toLowerCase())
      assert.isUndefined(restoreSender(ours, changed, NOW))
    }
  )

  it.prop("refuses text that is not a rewritten address of this relay", [FastCheck.string()], ([text]) => {
    for (const local of [text, `SRS0=${text}`, `SRS1=${text}`, `SRS0=aaaaaaaa=aa=${text}`]) {
      assert.isUndefined(restoreSender(ours, local, NOW))
    }
  })

  it("stays short over many relays, and returns through the first one", () => {
    const sender = { local: "a", domain: "one.example" }
    const first = rewriteSender(others, sender, NOW)
    const second = rewriteSender(ours, first, NOW)
    const third = rewriteSender(others, second, NOW)
    const fourth = rewriteSender(ours, third, NOW)
    assert.match(second.local, /^SRS1=[a-z2-7]{8}=other\.example==[a-z2-7]{8}=[a-z2-7]{2}=one\.example=a$/)
    assert.strictEqual(fourth.local.length, second.local.length)
    assert.strictEqual(restoreSender(ours, fourth.local, NOW), formatMailbox(first))
    assert.strictEqual(restoreSender(others, first.local, NOW), "a@one.example")
  })

  it.each([
    { days: 21, ends: false, why: "the last day" },
    { days: 22, ends: true, why: "a day later" },
    { days: -1, ends: false, why: "a clock that was set back" },
    { days: -2, ends: true, why: "from the future" }
  ])("after $days days: ended $ends, $why", ({ days, ends }) => {
    const { local } = rewriteSender(ours, { local: "a", domain: "one.example" }, NOW)
    assert.strictEqual(restoreSender(ours, local, NOW + days * DAY) === undefined, ends)
  })

  it("accepts an address whose case a server has changed", () => {
    const { local } = rewriteSender(ours, { local: "Ann", domain: "one.example" }, NOW)
    assert.strictEqual(restoreSender(ours, local.toLowerCase(), NOW), "ann@one.example")
    assert.strictEqual(restoreSender(ours, local.toUpperCase(), NOW), "ANN@ONE.EXAMPLE")
  })

  it("does not take a label for a rewritten address", () => {
    assert.isFalse(isRewritten("srs0-plant"))
    assert.isFalse(isRewritten("srs1"))
  })
})
