import { assert, describe, it } from "@effect/vitest"
import { nameWarnings } from "../../../src/wallet/names/nameWarnings.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("nameWarnings", () => {
  it.each([
    ["d/example", "{\"ip\":\"192.0.2.1\"}"],
    ["d/example", ""],
    ["id/123", "{}"],
    ["dd/Anything", "no JSON, and none is asked for"],
    ["idd/x", "[]"]
  ])("has no warning for %s with %s", (name, value) => {
    assert.deepStrictEqual(nameWarnings(bytes(name), bytes(value)), [])
  })

  it.each([
    ["wikileaks", "", "'wikileaks' has no namespace"],
    ["", "", "'' has no namespace"],
    ["nft/x", "", "'nft/x' is in a namespace that no application is known to read"],
    ["d/123", "", "'d/123' is no domain"],
    ["d/Upper", "", "'d/Upper' is no domain"],
    ["id/a_b", "", "'id/a_b' is no identity"],
    ["dd/", "", "'dd/' has nothing after its namespace"],
    ["d/ä", "", "0x642fc3a4 has no namespace"],
    ["d/example", "{", "the value is not valid JSON"],
    ["d/example", "[]", "the value is JSON, but no object"],
    ["d/example", "null", "the value is JSON, but no object"],
    ["id/example", "\"text\"", "the value is JSON, but no object"],
    ["dd/x", "v".repeat(521), "with a value of more than 520 bytes"]
  ])("warns about %s with %s: %s", (name, value, warning) => {
    const [first, ...others] = nameWarnings(bytes(name), bytes(value))
    assert.isTrue(first?.startsWith(warning), first)
    assert.deepStrictEqual(others, [])
  })

  it("warns about a value that is not text, and about both name and value", () => {
    assert.include(nameWarnings(bytes("d/example"), Uint8Array.of(0xff))[0], "not UTF-8")
    assert.strictEqual(nameWarnings(bytes("d/123"), bytes("{")).length, 2)
    assert.deepStrictEqual(nameWarnings(bytes("dd/x"), bytes("v".repeat(520))), [])
  })
})
