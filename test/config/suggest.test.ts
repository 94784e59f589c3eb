import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { editDistance, nearest } from "../../src/config/suggest.ts"

describe("editDistance", () => {
  it.each([
    { a: "loglevel", b: "loglevel", edits: 0 },
    { a: "logelvel", b: "loglevel", edits: 1 },
    { a: "loglvel", b: "loglevel", edits: 1 },
    { a: "lloglevel", b: "loglevel", edits: 1 },
    { a: "logxeyel", b: "loglevel", edits: 2 },
    { a: "", b: "abc", edits: 3 },
    { a: "ca", b: "abc", edits: 3 }
  ])("from $a to $b: $edits", ({ a, b, edits }) => {
    assert.strictEqual(editDistance(a, b), edits)
  })

  it.prop("is the same both ways", { a: FastCheck.string(), b: FastCheck.string() }, ({ a, b }) => {
    assert.strictEqual(editDistance(a, b), editDistance(b, a))
  })
})

describe("nearest", () => {
  const known = ["listen", "network", "loglevel", "logformat"]

  it("finds the word that was meant", () => {
    assert.strictEqual(nearest("lisen", known), "listen")
    assert.strictEqual(nearest("netwrok", known), "network")
    assert.strictEqual(nearest("LogLevel", known), "loglevel")
  })

  it("suggests nothing for a word that is far from all", () => {
    assert.isUndefined(nearest("frobnicate", known))
    assert.isUndefined(nearest("ls", ["ab"]))
    assert.isUndefined(nearest("l".repeat(41), known))
  })
})
