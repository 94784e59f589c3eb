import { assert, describe, it } from "@effect/vitest"
import { labelOf } from "../../../src/mail/relay/recipientOf.ts"

describe("labelOf", () => {
  it("refuses a local part that is written as an address of another server", () => {
    assert.strictEqual(labelOf("alice"), "alice")
    assert.strictEqual(labelOf("alice-2.b+c"), "alice-2.b+c")
    for (const local of ["", "a%b", "a!b", "a@b", "\"a\"", "a b", "a:b", "a\\b", "a\nb", "a".repeat(256)]) {
      assert.isUndefined(labelOf(local), local)
    }
  })
})
