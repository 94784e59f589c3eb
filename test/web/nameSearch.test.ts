import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { namesMeant } from "../../src/web/namesMeant.ts"

const meant = (text: string): ReadonlyArray<string> =>
  namesMeant(text).map((name) => Buffer.from(name).toString("utf8"))

describe("namesMeant", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["d/example", ["d/example"]],
    ["D/Example", ["D/Example", "d/example"]],
    ["example", ["example", "d/example", "id/example"]],
    ["Example ", ["Example ", "Example", "d/example", "id/example"]],
    ["example.bit", ["example.bit", "d/example"]],
    ["www.Example.BIT.", ["www.Example.BIT.", "d/example"]],
    ["https://www.example.bit:8443/path?x#y", ["https://www.example.bit:8443/path?x#y", "d/example"]],
    ["müller.bit", ["müller.bit", "d/xn--mller-kva"]],
    ["müller", ["müller", "d/xn--mller-kva", "id/müller"]],
    ["0x642f61", ["0x642f61", "d/0x642f61", "id/0x642f61", "d/a"]],
    ["1337", ["1337", "d/1337", "id/1337"]],
    ["１３３７.bit", ["１３３７.bit", "d/1337"]],
    ["two words", ["two words", "d/two words", "id/two words"]],
    ["", ["d/", "id/"]]
  ])("reads %j as %j", (text, expected) => {
    assert.deepStrictEqual(meant(text), expected)
  })

  it("reads bytes in hex after 0x", () => {
    assert.deepStrictEqual(namesMeant("0xFF00").at(-1), Uint8Array.of(0xff, 0))
  })

  it.prop("means at most a few things, each once, the text itself first", [
    FastCheck.string({ minLength: 1, maxLength: 2_000 })
  ], ([text]) => {
    const found = meant(text)
    assert.strictEqual(found[0], text)
    assert.isAtMost(found.length, 5)
    assert.strictEqual(new Set(found).size, found.length)
  })
})
