import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { DEFAULT_NAMESPACE, labelProblem, nameOf, parseNamespace } from "../../src/mail/label.ts"

describe("the name of a label", () => {
  it.each([
    ["alice", "id/alice"],
    ["Alice", "id/alice"],
    ["alice-b-2", "id/alice-b-2"],
    ["123", "id/123"],
    ["a".repeat(64), `id/${"a".repeat(64)}`]
  ])("of %s", (label, name) => {
    assert.strictEqual(nameOf({ namespace: DEFAULT_NAMESPACE, text: label }), name)
  })

  it.each([
    "",
    "-alice",
    "alice-",
    "alice--b",
    "xn--alice",
    "alice.b",
    "alice_b",
    "alice+tag",
    "id/alice",
    "alice%example.com",
    "example.com!alice",
    "alice@example.com",
    "not a label!",
    "alice\n",
    "älice",
    // The lower case of the Kelvin sign is the letter k.
    "\u212a",
    "a".repeat(65)
  ])("none of %j", (label) => {
    assert.strictEqual(nameOf({ namespace: DEFAULT_NAMESPACE, text: label }), undefined)
    assert.match(labelProblem({ namespace: DEFAULT_NAMESPACE, text: label }), /label/)
  })

  it("follows the namespace", () => {
    assert.strictEqual(nameOf({ namespace: "d/", text: "xn--bcher-kva" }), "d/xn--bcher-kva")
    assert.strictEqual(nameOf({ namespace: "d/", text: "example" }), "d/example")
    // The namespace of domains allows other characters than digits here.
    assert.strictEqual(nameOf({ namespace: "d/", text: "123" }), undefined)
    assert.strictEqual(nameOf({ namespace: "mail/", text: "123" }), "mail/123")
  })

  it("is in lower-case ASCII", () => {
    const unit = FastCheck.oneof(
      FastCheck.constantFrom("a", "Z", "-", "9", "\u212a", "\u0130"),
      FastCheck.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
    )
    FastCheck.assert(FastCheck.property(FastCheck.array(unit, { maxLength: 4 }), (units) => {
      const label = units.join("")
      const name = nameOf({ namespace: DEFAULT_NAMESPACE, text: label })
      if (name !== undefined) assert.match(name, /^id\/[a-z0-9-]+$/)
    }))
  })
})

describe("a namespace", () => {
  it.each([["id", "id/"], ["id/", "id/"], ["my-mail", "my-mail/"], ["a".repeat(190), `${"a".repeat(190)}/`]])(
    "%s",
    (text, expected) => {
      assert.deepStrictEqual(parseNamespace(text), Either.right(expected))
    }
  )

  it.each(["", "/", "id//", "i d", "ID", "a/b", "id'", "a".repeat(191)])("not %j", (text) => {
    assert.isTrue(Either.isLeft(parseNamespace(text)))
  })
})
